"""Part 6 of the page of results: when a replica does it."""

from __future__ import annotations

from .definition import CAPTURE, CHARACTERIZE, COMPARE, PLAN, Entry

ENTRIES = (
    Entry(
        "agenda-against-traces",
        "python benchmarks/agenda_against_traces.py",
        (
            "benchmarks/agenda_against_traces.py",
            "benchmarks/agenda_left_open.py",
            *CHARACTERIZE,
            *PLAN,
            "engine/core/schedule",
        ),
    ),
    Entry(
        "wall-clock",
        "python benchmarks/wall_clock.py",
        (
            "benchmarks/wall_clock.py",
            "benchmarks/pairs.py",
            "benchmarks/behaviour_programs.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
    ),
    Entry(
        "application-pairs",
        "python benchmarks/application_pairs.py",
        (
            "benchmarks/application_pairs.py",
            "benchmarks/pairs.py",
            "tests/support/applications.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
        is_long=True,
    ),
    Entry(
        "ior-pairs",
        "python benchmarks/ior_pairs.py",
        (
            "benchmarks/ior_pairs.py",
            "benchmarks/ior_like.c",
            "benchmarks/pairs.py",
            *CHARACTERIZE,
            *PLAN,
            *COMPARE,
            "engine",
            *CAPTURE,
        ),
        is_long=True,
    ),
    Entry(
        "agenda-cost",
        "python benchmarks/agenda_cost.py",
        ("benchmarks/agenda_cost.py", "engine/core/schedule", "engine/core/expand", "engine/run"),
    ),
    Entry(
        "meshes-and-arrays",
        "python benchmarks/meshes_and_arrays.py",
        (
            "benchmarks/meshes_and_arrays.py",
            "engine/core/mesh",
            "engine/core/data",
            "engine/backends",
            "engine/run",
        ),
    ),
    Entry(
        "engine-against-fio",
        "python benchmarks/engine_vs_fio.py",
        ("benchmarks/engine_vs_fio.py", "engine/run", "engine/io", "engine/backends", "engine/core/data"),
    ),
    Entry(
        "direct-io",
        "python benchmarks/direct_io.py",
        (
            "benchmarks/direct_io.py",
            "engine/run",
            "engine/io",
            "engine/backends",
            "engine/core/data",
            "engine/core/io",
        ),
    ),
)
