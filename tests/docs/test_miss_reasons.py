"""The reasons of docs/agreement.md follow from the log's counters, and a miss without one is unexplained."""

from __future__ import annotations

from dataclasses import replace

import miss_reasons
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.records import FileFacts
from workalike.predict.agreement import DeterminedRow
from workalike.workload.words import Role


def miss(counter: str, expected: int, found: int) -> DeterminedRow:
    return DeterminedRow(((Role.OUTPUT, 1),), "POSIX", counter, expected, found)


def shared_file(**counters: int) -> FileFacts:
    """A file of four ranks, reduced to one record, which each has opened once to write."""
    return file_facts("/s/a", module_facts("POSIX", {-1: {"OPENS": 4, "WRITES": 1000, **counters}}))


def reason(row: DeterminedRow, *files: FileFacts, more: tuple[DeterminedRow, ...] = ()) -> str:
    return miss_reasons.reason(row, files, (row, *more))


SIZE = miss("ACCESS of 512 B", 9, 11)


@pytest.mark.parametrize(
    ("row", "counters", "said"),
    [
        (miss("SEQ_WRITES", 500, 999), {"SEQ_WRITES": 500}, "unexplained"),
        (miss("SEQ_WRITES", 3, 9), {"SEQ_WRITES": 3, "OPENS": 5}, "5 opens in all"),
        (miss("SEQ_WRITES", 3, 9), {"SEQ_WRITES": 3, "OPENS": 8, "READS": 1}, "unexplained"),  # one each
        (miss("SEQ_WRITES", 3, 9), {"SEQ_WRITES": 3, "RW_SWITCHES": 7}, "alternate 7 times"),
        (SIZE, {"ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 998}, "2 of 1,000 counts are lost"),
        (SIZE, {"ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 999}, "unexplained"),
        (miss("ACCESS of 512 B", 9, 2), {"ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 1000}, "unexplained"),
        (miss("ACCESS of 512 B", 9, 2), {"ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 994}, "unexplained"),
        (
            miss("ACCESS of 512 B", 9, 2),
            {"ACCESS1_ACCESS": 512, "ACCESS1_COUNT": 993},
            "which ranks had which",
        ),
        (miss("EFFECTIVE_RANKS", 3, 4), {}, "variance of the ranks' bytes"),
        (miss("EFFECTIVE_RANKS", 4, 3), {}, "unexplained"),
        (miss("STRIDE of 512 B", 9, 2), {"ACCESS1_COUNT": 1}, "unexplained"),
        (
            miss("STRIDE of 512 B", 9, 2),
            {"ACCESS1_COUNT": 1, "ACCESS2_COUNT": 1, "ACCESS2_ACCESS": 5},
            "2 sizes",
        ),
    ],
)
def test_what_the_counters_show(row: DeterminedRow, counters: dict[str, int], said: str) -> None:
    assert said in reason(row, shared_file(**counters))


def test_sizes_nearby() -> None:
    nearby = miss("ACCESS of 5529600 B", 0, 1536)
    row = miss("ACCESS of 5529200 B", 16, 0)
    named = shared_file(ACCESS1_ACCESS=1, ACCESS1_COUNT=1000)
    assert "sizes near each other" in reason(row, named, more=(nearby,))
    assert "sizes near each other" in reason(nearby, named, more=(row,))
    assert reason(row, named, more=(replace(nearby, module="MPI-IO"),)) == "unexplained"
    assert reason(row, named, more=(miss("ACCESS of 5600000 B", 0, 1536),)) == "unexplained"


def test_renames() -> None:
    files = [shared_file()] * 4
    assert "1 of 4 files" in reason(miss("RENAME_SOURCES", 1, 0), *files)
    assert reason(miss("RENAME_SOURCES", 3, 0), *files) == "unexplained"
