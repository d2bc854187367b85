"""Part 7 of the page of results: studies."""

from __future__ import annotations

from .definition import CHARACTERIZE, Entry, Kind, tests

ENTRIES = (
    Entry(
        "study-overhead",
        "python benchmarks/study_overhead.py",
        ("benchmarks/study_overhead.py", "src/workalike/study", "src/workalike/launch"),
    ),
    Entry(
        "study-report",
        "python benchmarks/study_report.py",
        ("benchmarks/study_report.py", "src/workalike/study"),
    ),
    tests(
        "study-kills",
        "-m long tests/study/test_driver.py tests/system/test_study_slurm.py",
        "src/workalike/study",
        "src/workalike/launch",
        is_long=True,
        passing=(
            "the driver of a study, or its Slurm job, killed at 20 random moments and resumed: no finished trial is "
            "repeated, no row lost or doubled",
            "all",
        ),
    ),
    Entry(
        "mix-of-logs",
        "python benchmarks/mix_of_logs.py",
        ("benchmarks/mix_of_logs.py", "src/workalike/study/mix", *CHARACTERIZE),
    ),
    Entry(
        "study-statistics",
        "python benchmarks/study_statistics.py",
        (
            "benchmarks/study_statistics.py",
            "tests/support/planted_studies.py",
            "src/workalike/study/statistics",
            "src/workalike/study/search.py",
        ),
    ),
    Entry(
        "study-search",
        "python benchmarks/study_search.py",
        ("benchmarks/study_search.py", "src/workalike/study/halving.py", "src/workalike/study/search.py"),
    ),
    Entry(
        "cephfs-studies",
        "python benchmarks/cephfs_studies.py",
        ("benchmarks/cephfs_studies.py", "src/workalike/study", "tools/testbed"),
        is_long=True,
    ),
    Entry(
        "paper-claims",
        "python benchmarks/paper_claims.py",
        (
            "benchmarks/paper_claims.py",
            "benchmarks/claim_place.py",
            "benchmarks/claim_daemons.py",
            "benchmarks/ecp_applications.py",
            "examples/ecp",
            "tools/testbed",
        ),
    ),
    Entry(
        "second-tries",
        "python benchmarks/second_tries.py",
        (
            "benchmarks/second_tries.py",
            "benchmarks/two_clients.c",
            "benchmarks/claim_place.py",
            "benchmarks/stat_and_open.c",
            "tools/testbed",
        ),
    ),
    Entry(
        "capture-spread",
        "python benchmarks/capture_spread.py",
        (
            "benchmarks/capture_spread.py",
            "studies/capture-overhead.yaml",
            "src/workalike/study",
            "tools/testbed",
        ),
        is_long=True,
    ),
    Entry(
        "hacc-erasure",
        "python benchmarks/hacc_erasure.py",
        (
            "benchmarks/hacc_erasure.py",
            "benchmarks/cephfs_kernels.py",
            "studies/hdf5-tuning.yaml",
            "workloads/hacc",
            "tools/testbed",
        ),
    ),
    Entry(
        "cephfs-kernels",
        "python benchmarks/cephfs_kernels.py",
        ("benchmarks/cephfs_kernels.py", "studies", "workloads/hacc", "workloads/minio", "tools/testbed"),
        is_long=True,
    ),
    Entry(
        "paper-studies",
        "python benchmarks/paper_studies.py",
        ("benchmarks/paper_studies.py", "benchmarks/beds.py", "studies", "workloads", "tools/testbed"),
        is_long=True,
    ),
    Entry(
        "bundle",
        "tools/check-bundle",
        ("tools/check-bundle", "src/workalike/bundle", "engine"),
        Kind.TESTS,
        is_long=True,
    ),
)
