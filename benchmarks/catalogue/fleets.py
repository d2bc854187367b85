"""Part 9 of the page of results: fleets."""

from __future__ import annotations

from .definition import Entry, tests

ENTRIES = (
    Entry(
        "fleet-ingest",
        "python benchmarks/fleet_ingest.py",
        ("benchmarks/fleet_ingest.py", "src/workalike/fleet", "src/workalike/facts"),
    ),
    Entry(
        "fleet-machines",
        "python benchmarks/fleet_machines.py",
        (
            "benchmarks/fleet_machines.py",
            "src/workalike/fleet",
            "src/workalike/launch/batch",
            "tools/testbed",
        ),
        is_long=True,
    ),
    tests(
        "fleet-kills",
        "-m long tests/fleet/test_ingest.py tests/fleet/test_archive.py",
        "src/workalike/fleet",
        is_long=True,
        passing=(
            "SIGKILL at 20 moments of an ingestion, and of fleet archive --remove: run again, the database is that of an "
            "undisturbed run, and each log is in the archive",
            "all",
        ),
    ),
    tests(
        "fleet-mutants",
        "-m long tests/fleet/test_mutated.py",
        "tests/support/darshan_mutate.py",
        "src/workalike/fleet",
        "src/workalike/darshan",
        is_long=True,
        passing=(
            "10,000 logs with spoilt bytes, and 10,000 of all modules with spoilt regions: ingested, or set aside with a "
            "reason; none ends its reader",
            "all",
        ),
    ),
    tests(
        "fleet-truths",
        "tests/fleet/test_fleet_report.py",
        "src/workalike/fleet",
        passing=(
            "what the generator planted (users, the slow target's week, redundant readers, growth, failures), in the report",
            "found",
        ),
    ),
    tests(
        "fleet-suite",
        "tests/fleet/test_suite.py",
        "src/workalike/fleet/suite",
        passing=("the suite of a generated fleet of 6 known classes", "finds them"),
    ),
    tests(
        "fleet-hostile",
        "tests/fleet/test_serve.py tests/fleet/test_portal_fuzz.py",
        "src/workalike/fleet/serve",
        passing=(
            "hostile names and counters, and any path or parameter of the portal, as staff and as a user: no server error, "
            "no markup of the input, no other user's name",
            "all",
        ),
    ),
    Entry(
        "fleet-portal",
        "python benchmarks/fleet_portal.py",
        ("benchmarks/fleet_portal.py", "src/workalike/fleet"),
        is_long=True,
    ),
)
