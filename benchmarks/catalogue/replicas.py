"""Part 1 of the page of results: from a log to a verified replica."""

from __future__ import annotations

from .definition import CHARACTERIZE, COMPARE, ENGINE, PLAN, Entry

ENTRIES = (
    Entry(
        "full-scale",
        "python benchmarks/full_scale.py",
        ("benchmarks/full_scale.py", *CHARACTERIZE, *PLAN, *COMPARE),
    ),
    Entry(
        "reconstruction",
        "python benchmarks/reconstruction.py",
        ("benchmarks/reconstruction.py", *CHARACTERIZE, *PLAN),
    ),
    Entry(
        "behaviour-lammps-replayed",
        "python benchmarks/behaviour_lammps.py",
        ("benchmarks/behaviour_lammps.py", *CHARACTERIZE, *ENGINE),
        is_long=True,
    ),
    Entry(
        "mphys-bytes",
        "python benchmarks/mphys_replicas.py --only bytes",
        ("benchmarks/mphys_replicas.py", "workloads", *PLAN, "engine/backends", *COMPARE),
    ),
    Entry(
        "mphys-starts",
        "python benchmarks/mphys_replicas.py --only starts",
        ("benchmarks/mphys_replicas.py", "workloads", "engine/schedule", "engine/run"),
    ),
    Entry(
        "read-logs", "python benchmarks/read_logs.py", ("benchmarks/read_logs.py", "src/workalike/darshan")
    ),
    Entry(
        "characterize-logs",
        "python benchmarks/characterize_logs.py",
        ("benchmarks/characterize_logs.py", *CHARACTERIZE),
    ),
)
