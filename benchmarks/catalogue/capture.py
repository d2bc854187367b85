"""Part 2 of the page of results: capture."""

from __future__ import annotations

from .definition import CAPTURE, CHARACTERIZE, ENGINE, PLAN, Entry, tests

ENTRIES = (
    Entry(
        "capture-calls",
        "python benchmarks/capture_overhead.py --only calls",
        ("benchmarks/capture_overhead.py", "benchmarks/capture_calls.c", *CAPTURE),
    ),
    Entry(
        "capture-end-to-end",
        "python benchmarks/capture_overhead.py --only end-to-end --end-to-end 150",
        ("benchmarks/capture_overhead.py", "benchmarks/capture_calls.c", *CAPTURE),
        is_long=True,
    ),
    tests("capture-counters", "tests/capture", *CAPTURE),
    tests(
        "captured-programs", "tests/system/test_capture.py", *CAPTURE, *CHARACTERIZE, *ENGINE, is_long=True
    ),
    tests("capture-witness", "tests/capture/test_witness.py", *CAPTURE, *ENGINE),
    tests("capture-killed", "tests/capture/test_mpi.py -k kill", *CAPTURE),
    Entry(
        "capture-memory",
        "python benchmarks/capture_memory.py",
        ("benchmarks/capture_memory.py", "benchmarks/capture_memory.c", *CAPTURE),
    ),
    Entry(
        "stat-and-open",
        "python benchmarks/stat_and_open.py",
        ("benchmarks/stat_and_open.py", "benchmarks/stat_and_open.c", *CAPTURE),
    ),
    Entry(
        "capture-shutdown",
        "python benchmarks/capture_shutdown.py",
        ("benchmarks/capture_shutdown.py", "benchmarks/capture_shutdown.c", *CAPTURE),
    ),
    Entry(
        "replicate-small",
        "python benchmarks/replicate_logs.py",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, *PLAN, *ENGINE),
        is_long=True,
    ),
    tests(
        "engine-captured",
        "tests/engine/test_hdf5.py tests/engine/test_mpiio.py tests/engine/test_lifetimes.py tests/engine/test_failures.py",
        *CAPTURE,
        prefix="python benchmarks/preloaded.py ",
        passing=("the engine's own tests under the preload (hdf5, mpiio, lifetimes, failures)", "pass"),
    ),
)
