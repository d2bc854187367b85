"""Part 4 of the page of results: architecture and the repository."""

from __future__ import annotations

from .definition import CHARACTERIZE, COMPARE, ENGINE, Entry, Kind, tests

ENTRIES = (
    Entry(
        "core-counts",
        "python benchmarks/core_counts.py",
        ("benchmarks/core_counts.py", "engine/core", "engine/python", "workloads/mphys-e.yaml"),
    ),
    tests(
        "core-against-engine",
        "tests/engine/test_core_agrees.py",
        *ENGINE,
        passing=(
            "core in process against engine: every counter of random plans, random workloads, and every backend of "
            "this machine in each sharing, given the library overheads that the engine recorded",
            "equal",
        ),
    ),
    Entry("facts", "python benchmarks/facts_speed.py", ("benchmarks/facts_speed.py", "src/workalike/facts")),
    Entry(
        "start-up",
        "python benchmarks/start_up.py",
        ("benchmarks/start_up.py", "src/workalike/commands", "src/workalike/cli.py"),
    ),
    tests(
        "random-kills",
        "-m long tests/fuzz/test_kills.py",
        "tests/support/killed_runs.py",
        "src/workalike/launch",
        "engine/run",
        "engine/io",
        is_long=True,
        passing=(
            "random kills (SIGKILL, SIGTERM, SIGINT) of command, launcher and ranks at random moments, every backend: "
            "no process is left, the next run of the plan works in the same folders, no data file is left",
            "all",
        ),
    ),
    tests(
        "fuzz",
        "-n 2 -m long tests/fuzz/test_mutants.py",
        "src/workalike",
        "engine/core",
        is_long=True,
        passing=(
            "20,000 mutants each of logs, workloads, plans and records, through the commands' own code paths",
            "no traceback, no signal, no hang",
        ),
    ),
    Entry(
        "mutation-score",
        "python benchmarks/mutation_score.py",
        (
            "benchmarks/mutation_score.py",
            "tests/mutation",
            *CHARACTERIZE,
            *COMPARE,
            "tests/facts",
            "tests/characterize",
            "tests/compare",
        ),
        is_long=True,
    ),
    Entry(
        "line-coverage",
        "python benchmarks/line_coverage.py",
        ("benchmarks/line_coverage.py", "src/workalike", "tests"),
        is_long=True,
    ),
    Entry(
        "new-contributor",
        "by hand, from docs/how-to alone, in a new clone",
        ("docs/how-to",),
        Kind.PEOPLE,
        is_long=True,
    ),
    Entry(
        "debian-13",
        "make test-trixie",
        ("tools/check-bare-debian",),
        Kind.TESTS,
        is_long=True,
        passing=(
            "Debian 13 with Open MPI 5, HDF5 1.14 and ADIOS2: the whole of `make test` in a bare system",
            "pass",
        ),
    ),
    Entry(
        "slowest-tests",
        "python benchmarks/slowest_tests.py",
        ("benchmarks/slowest_tests.py", "tests"),
        is_long=True,
    ),
)
