"""Part 5 of the page of results: what a replica does."""

from __future__ import annotations

from .definition import CAPTURE, CHARACTERIZE, COMPARE, ENGINE, PLAN, Entry, tests

ENTRIES = (
    Entry(
        "agreement",
        "python benchmarks/agreement.py",
        (
            "benchmarks/agreement.py",
            "benchmarks/miss_reasons.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "src/workalike/predict",
            "counting",
        ),
    ),
    Entry(
        "unseen",
        "python benchmarks/unseen.py",
        (
            "benchmarks/unseen.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "src/workalike/predict",
            "counting",
        ),
    ),
    Entry(
        "transfer",
        "python benchmarks/transfer.py",
        (
            "benchmarks/transfer.py",
            "benchmarks/application_pairs.py",
            "tests/support/applications.py",
            *CHARACTERIZE,
            *PLAN,
            *ENGINE,
            *CAPTURE,
            "src/workalike/rehearse",
        ),
    ),
    tests(
        "applications-anew",
        "-m system tests/system/test_applications.py",
        "tests/support/applications.py",
        *CAPTURE,
        *CHARACTERIZE,
        *ENGINE,
        *COMPARE,
        is_long=True,
        passing=(
            "GROMACS, CP2K and OpenFOAM captured anew, shortened: agreement of both lines, and files on disk at the end "
            "beside those that the application has left",
            "≥ 0.95; same number and sizes",
        ),
    ),
    Entry(
        "workload-lines",
        "python benchmarks/workload_lines.py",
        ("benchmarks/workload_lines.py", *CHARACTERIZE, *PLAN, "src/workalike/predict"),
    ),
    Entry(
        "candidates-truth",
        "python benchmarks/candidates_truth.py",
        (
            "benchmarks/candidates_truth.py",
            "tests/support/planted.py",
            "tests/support/counted_logs.py",
            *CHARACTERIZE,
            "src/workalike/predict",
            "engine/core",
            "counting",
        ),
    ),
    Entry(
        "planted-errors",
        "python benchmarks/planted_errors.py",
        (
            "benchmarks/planted_errors.py",
            "tests/support/planted.py",
            *COMPARE,
            "src/workalike/predict",
            "engine/core",
            "counting",
        ),
        is_long=True,
    ),
    Entry(
        "traced-segments",
        "python benchmarks/traced_segments.py",
        ("benchmarks/traced_segments.py", *CHARACTERIZE, *PLAN),
    ),
    Entry(
        "behaviour-programs",
        "python benchmarks/behaviour_programs.py",
        (
            "benchmarks/behaviour_programs.py",
            *CHARACTERIZE,
            "src/workalike/predict",
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
    ),
    Entry(
        "million-segments",
        "python benchmarks/million_segments.py",
        ("benchmarks/million_segments.py", "tests/support/large_traces.py", *CHARACTERIZE),
    ),
)
