"""Part 11 of the page of results: no result is unsafe."""

from __future__ import annotations

from .definition import CAPTURE, CHARACTERIZE, ENGINE, PLAN, Entry, tests

BUNDLE = ("src/workalike/bundle",)
FLEET = ("src/workalike/fleet",)

ENTRIES = (
    tests(
        "bundle-storage",
        "tests/bundle/test_storage_rules.py",
        *BUNDLE,
        *ENGINE,
        passing=(
            "a bundle run in `/dev/shm`, one with a working set in memory, one whose runs all fail",
            "deviates, with the rule; deviates, with the rule; exit code 1",
        ),
    ),
    Entry(
        "linkage",
        "python benchmarks/linkage.py",
        ("benchmarks/linkage.py", "src/workalike/characterize", "src/workalike/workload/privacy.py"),
        is_long=True,
    ),
    Entry(
        "honest-bundle",
        "python benchmarks/honest_bundle.py",
        ("benchmarks/honest_bundle.py", "workloads", *BUNDLE, *ENGINE),
    ),
    tests(
        "lost-writes",
        "tests/engine/test_failures.py tests/engine/test_verify.py",
        *ENGINE,
        passing=(
            "a full disk under collective writes and HDF5, a removed file, a byte that changes after its dump",
            "the run ends with 1 and names the file",
        ),
    ),
    Entry(
        "capture-threads",
        "python benchmarks/capture_threads.py",
        ("benchmarks/capture_threads.py", "benchmarks/capture_threads.c", *CAPTURE),
    ),
    Entry(
        "read-buffers",
        "python benchmarks/read_buffers.py",
        ("benchmarks/read_buffers.py", "benchmarks/read_buffers.c", *ENGINE),
    ),
    Entry(
        "collective-writes",
        "python benchmarks/collective_writes.py",
        ("benchmarks/collective_writes.py", "benchmarks/ior_like.c", *ENGINE),
    ),
    Entry(
        "large-log",
        "python benchmarks/large_log.py",
        ("benchmarks/large_log.py", "src/workalike/predict", "engine/core/predict", *CHARACTERIZE, *PLAN),
    ),
    tests(
        "hostile-archives",
        "tests/test_tar_file.py tests/fleet/test_archive.py",
        *BUNDLE,
        *FLEET,
        "src/workalike/tar_file.py",
        passing=("hostile archives", "refused in ≤ 2 s of CPU and ≤ 200 MB above an idle command"),
    ),
    tests(
        "canaries",
        "tests/fleet/test_keyed.py",
        *FLEET,
        passing=(
            "canaries in a fleet with a key: all strings of logs, paths, side files, damaged logs",
            "0 found",
        ),
    ),
)
