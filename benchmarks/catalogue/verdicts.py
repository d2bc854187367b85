"""Part 10 of the page of results: verdicts."""

from __future__ import annotations

from .definition import ENGINE, Entry

JUDGE = (
    "src/workalike/characterize",
    "src/workalike/compare",
    "src/workalike/predict",
    "src/workalike/facts",
)

ENTRIES = (
    Entry(
        "zoo-verdicts",
        "python benchmarks/zoo_verdicts.py",
        ("benchmarks/zoo_verdicts.py", "tests/zoo", *JUDGE, *ENGINE),
        is_long=True,
    ),
    Entry(
        "known-verdicts",
        "python benchmarks/known_verdicts.py --before before.json",
        ("benchmarks/known_verdicts.py", *JUDGE),
    ),
    Entry(
        "compare-logs",
        "python benchmarks/compare_logs.py",
        (
            "benchmarks/compare_logs.py",
            "benchmarks/compared",
            "src/workalike/compare/logs",
            "src/workalike/facts",
        ),
    ),
)
