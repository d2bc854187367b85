"""Counters that contradict each other are named, and no good log is accused."""

from __future__ import annotations

from pathlib import Path

import pytest
from known_logs import EVERY_LOG

from workalike.darshan import LogBuilder, open_log
from workalike.errors import WorkalikeError
from workalike.facts.contradictions import contradictions_in
from workalike.facts.gather import facts_of, gather
from workalike.facts.jobs import job_of

GOOD: dict[str, dict[str, int]] = {
    "POSIX": {
        "OPENS": 1,
        "WRITES": 8,
        "READS": 2,
        "BYTES_WRITTEN": 8000,
        "BYTES_READ": 100,
        "MAX_BYTE_WRITTEN": 7999,
        "MAX_BYTE_READ": 99,
        "CONSEC_WRITES": 7,
        "SEQ_WRITES": 7,
        "CONSEC_READS": 1,
        "SEQ_READS": 1,
        "RW_SWITCHES": 4,
        "SIZE_WRITE_100_1K": 8,
        "SIZE_READ_0_100": 2,
        "ACCESS1_ACCESS": 1000,
        "ACCESS1_COUNT": 8,
        "ACCESS2_ACCESS": 50,
        "ACCESS2_COUNT": 2,
    },
    "MPI-IO": {
        "COLL_OPENS": 1,
        "COLL_WRITES": 8,
        "NB_READS": 2,
        "BYTES_WRITTEN": 8000,
        "BYTES_READ": 100,
        "RW_SWITCHES": 9,
        "SIZE_WRITE_AGG_100_1K": 8,
        "SIZE_READ_AGG_0_100": 2,
    },
    "STDIO": {"OPENS": 1, "WRITES": 3, "BYTES_WRITTEN": 9, "MAX_BYTE_WRITTEN": 8},
}
"""Counters of one file of one rank in each module, of operations that could have happened."""


def contradictions(folder: Path, *records: tuple[str, dict[str, int]]) -> list[str]:
    """What is said of a log with a file for each record."""
    builder = LogBuilder(nprocs=2)
    for number, (module, values) in enumerate(records):
        builder.record(module, f"/s/secret.{number}", 0, None, **values)
    return contradictions_in(facts_of([open_log(builder.write(folder / "app.darshan"))]))


def of_change(folder: Path, module: str, **changes: int) -> list[str]:
    return contradictions(folder, (module, GOOD[module] | changes))


@pytest.mark.parametrize("path", EVERY_LOG, ids=lambda path: path.name[:40])
def test_no_good_log_is_accused(path: Path) -> None:
    try:
        facts = facts_of([open_log(path)])
    except WorkalikeError:
        pytest.skip("a log that is refused")
    assert contradictions_in(facts) == []


@pytest.mark.parametrize("module", GOOD)
def test_counters_that_agree(module: str, tmp_path: Path) -> None:
    assert contradictions(tmp_path, (module, GOOD[module])) == []


@pytest.mark.parametrize(
    ("module", "changes", "said"),
    [
        ("POSIX", {"CONSEC_READS": 2}, "CONSEC_READS is 2, SEQ_READS is 1"),
        ("POSIX", {"SEQ_WRITES": 9}, "SEQ_WRITES is 9, WRITES is 8"),
        (
            "POSIX",
            {"SIZE_READ_0_100": 1},
            "the sum of SIZE_READ_0_100 to SIZE_READ_1G_PLUS is 1, READS is 2",
        ),
        (
            "MPI-IO",
            {"SIZE_WRITE_AGG_100_1K": 9},
            "the sum of SIZE_WRITE_AGG_0_100 to SIZE_WRITE_AGG_1G_PLUS is 9, "
            "INDEP_WRITES + COLL_WRITES + SPLIT_WRITES + NB_WRITES is 8",
        ),
        (
            "POSIX",
            {"BYTES_WRITTEN": 8193, "MAX_BYTE_WRITTEN": 8192},
            "BYTES_WRITTEN is 8,193, the most by SIZE_WRITE_0_100 to SIZE_WRITE_1G_PLUS is 8,192",
        ),
        (
            "MPI-IO",
            {"BYTES_WRITTEN": 807},
            "the least by SIZE_WRITE_AGG_0_100 to SIZE_WRITE_AGG_1G_PLUS is 808, BYTES_WRITTEN is 807",
        ),
        (
            "POSIX",
            {"ACCESS3_ACCESS": 7, "ACCESS3_COUNT": 1},
            "the sum of ACCESS1_COUNT to ACCESS4_COUNT is 11, READS + WRITES is 10",
        ),
        (
            "POSIX",
            {"MAX_BYTE_WRITTEN": 8001},
            "MAX_BYTE_WRITTEN is 8,001, BYTES_WRITTEN is 8,000, SEQ_WRITES is 7, CONSEC_WRITES is 7",
        ),
        ("POSIX", {"RW_SWITCHES": 10}, "RW_SWITCHES is 10, READS + WRITES is 10"),
        ("STDIO", {"BYTES_READ": 1}, "BYTES_READ is 1, READS is 0"),
        (
            "MPI-IO",
            {"COLL_OPENS": 0},
            "INDEP_OPENS + COLL_OPENS is 0, INDEP_READS + COLL_READS + SPLIT_READS + NB_READS + "
            "INDEP_WRITES + COLL_WRITES + SPLIT_WRITES + NB_WRITES is 10",
        ),
    ],
)
def test_counters_that_contradict_each_other(
    module: str, changes: dict[str, int], said: str, tmp_path: Path
) -> None:
    assert of_change(tmp_path, module, **changes) == [
        f"module {module}: {said}: these contradict each other (1 file)"
    ]


@pytest.mark.parametrize(
    ("module", "changes"),
    [
        ("POSIX", {"SEQ_WRITES": -1}),
        ("POSIX", {"SIZE_READ_0_100": -1}),
        ("POSIX", {"WRITES": -1}),
        ("POSIX", {"ACCESS1_COUNT": -1}),
        ("POSIX", {"OPENS": 0}),  # a descriptor that was inherited
        ("POSIX", {"MAX_BYTE_WRITTEN": 10**9, "SEQ_WRITES": 8, "CONSEC_WRITES": 7}),  # begins further on
        ("POSIX", {"MAX_BYTE_WRITTEN": 8000}),  # begins at offset 1, which counts as consecutive
        ("POSIX", {"ACCESS2_COUNT": 0}),  # counts that were lost in the reduction
        ("STDIO", {"OPENS": 0}),
        (
            "MPI-IO",
            {"BYTES_WRITTEN": 2**50, "SIZE_WRITE_AGG_100_1K": 7, "SIZE_WRITE_AGG_1G_PLUS": 1},
        ),
    ],
)
def test_what_may_be_true(module: str, changes: dict[str, int], tmp_path: Path) -> None:
    assert of_change(tmp_path, module, **changes) == []


def test_files_of_both_directions_are_counted_once_and_the_first_is_quoted(tmp_path: Path) -> None:
    good, bad = GOOD["POSIX"], {"CONSEC_READS": 2, "CONSEC_WRITES": 8}
    records = [("POSIX", good), ("POSIX", good | bad), ("POSIX", good | {"CONSEC_WRITES": 8})]
    assert contradictions(tmp_path, *records) == [
        "module POSIX: CONSEC_READS is 2, SEQ_READS is 1: these contradict each other (2 files)"
    ]


def test_the_warnings_of_a_job_have_them(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=2).stdio("/s/secret", rank=0, OPENS=1, BYTES_WRITTEN=1)
    warnings: list[str] = []
    gather(job_of([open_log(builder.write(tmp_path / "app.darshan"))]), warnings)
    assert warnings == ["module STDIO: BYTES_WRITTEN is 1, WRITES is 0: these contradict each other (1 file)"]


def test_a_file_that_moved_nothing_need_not_be_opened(tmp_path: Path) -> None:
    assert contradictions(tmp_path, ("MPI-IO", GOOD["MPI-IO"]), ("MPI-IO", {"HINTS": 1})) == []
