"""Part 3 of the page of results: the scientific data models."""

from __future__ import annotations

from .definition import CHARACTERIZE, COMPARE, Entry, tests

ENTRIES = (
    tests(
        "typhonio-files",
        "tests/engine/test_typhonio_format.py tests/engine/test_typhonio_backend.py tests/typhonio",
        "engine/typhonio",
        "src/workalike/typhonio",
    ),
    Entry(
        "typhonio-inspected",
        "python benchmarks/inspect_files.py",
        ("benchmarks/inspect_files.py", "src/workalike/typhonio"),
    ),
    tests("typhonio-replayed", "tests/system/test_typhonio.py", "engine/typhonio", *CHARACTERIZE),
    tests("typhonio-sieving", "tests/engine/test_typhonio_calls.py", "engine/typhonio"),
    Entry(
        "mphys-meshes",
        "python benchmarks/mphys_replicas.py --mesh --only bytes",
        ("benchmarks/mphys_replicas.py", "workloads", "engine/core/mesh", "engine/typhonio", *COMPARE),
    ),
    Entry(
        "mesh-replica",
        "python benchmarks/replicate_logs.py --mesh",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, "engine/core/mesh", "engine/typhonio"),
        is_long=True,
    ),
    Entry(
        "size-equation",
        "python benchmarks/size_equation.py",
        ("benchmarks/size_equation.py", "src/workalike/calibrate", "engine/core/mesh", "engine/typhonio"),
    ),
    Entry(
        "typhonio-patterns",
        "python benchmarks/typhonio_patterns.py --pairs 5",
        ("benchmarks/typhonio_patterns.py", "engine/typhonio"),
    ),
    tests("decks", "tests/exchange", "src/workalike/exchange"),
    Entry(
        "pnetcdf-replica",
        "python benchmarks/replicate_logs.py --pnetcdf",
        ("benchmarks/replicate_logs.py", *CHARACTERIZE, "engine/backends"),
        is_long=True,
    ),
    tests("pnetcdf-ior", "tests/system/test_pnetcdf.py", "engine/backends"),
    Entry(
        "hacc-collective",
        "python benchmarks/hacc_kernels.py",
        ("benchmarks/hacc_kernels.py", "workloads/hacc", "engine/backends", "engine/io"),
    ),
    Entry(
        "hacc-independent",
        "python benchmarks/hacc_kernels.py --independent",
        ("benchmarks/hacc_kernels.py", "workloads/hacc", "engine/backends", "engine/io"),
    ),
    tests("hacc-offsets", "tests/engine/test_hacc.py", "workloads/hacc", "engine/backends"),
    Entry(
        "minio-counts",
        "python benchmarks/minio_counts.py",
        ("benchmarks/minio_counts.py", "workloads/minio", "src/workalike/plan"),
    ),
    Entry(
        "minio-study",
        "python benchmarks/minio_study.py",
        ("benchmarks/minio_study.py", "src/workalike/exchange", "engine/typhonio", "engine/backends"),
        is_long=True,
    ),
    tests("compute-checksums", "tests/engine/test_compute.py", "engine/schedule"),
)
