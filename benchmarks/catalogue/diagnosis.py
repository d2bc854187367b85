"""Part 8 of the page of results: diagnosis."""

from __future__ import annotations

from .definition import ENGINE, Entry

ENTRIES = (
    Entry(
        "findings-corpus",
        "python benchmarks/findings_corpus.py",
        (
            "benchmarks/findings_corpus.py",
            "benchmarks/beside_drishti.py",
            "benchmarks/drishti_peer.py",
            "tests/support/clean_logs.py",
            "tests/support/planted_findings.py",
            "src/workalike/diagnose",
            "src/workalike/facts",
        ),
    ),
    Entry(
        "diagnose-large",
        "python benchmarks/diagnose_large.py",
        (
            "benchmarks/diagnose_large.py",
            "tests/support/large_traces.py",
            "src/workalike/diagnose",
            "src/workalike/facts",
        ),
    ),
    Entry(
        "tried-changes",
        "python benchmarks/tried_changes.py",
        ("benchmarks/tried_changes.py", "src/workalike/diagnose", "src/workalike/facts", *ENGINE),
    ),
    Entry(
        "slowest-calls",
        "python benchmarks/slowest_calls.py",
        ("benchmarks/slowest_calls.py", "src/workalike/facts/slowest_call.py", "src/workalike/fleet/rows.py"),
    ),
    Entry(
        "ecp-applications",
        "python benchmarks/ecp_applications.py",
        (
            "benchmarks/ecp_applications.py",
            "benchmarks/beds.py",
            "examples/ecp",
            "tests/support/applications.py",
            "src/workalike/diagnose",
            "src/workalike/facts",
        ),
    ),
)
