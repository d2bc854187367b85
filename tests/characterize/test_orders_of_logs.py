"""Logs whose counters no rule gives: the order is made from them, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.rules import OrderRule
from workalike.darshan import LogBuilder, open_log
from workalike.workload.model import Assumption

BLOCK = 4096
READS = {
    "READS": 40, "BYTES_READ": 40 * BLOCK, "SIZE_READ_1K_10K": 40, "MAX_BYTE_READ": 150 * BLOCK - 1,
    "SEQ_READS": 12, "CONSEC_READS": 5, "ACCESS1_ACCESS": BLOCK, "ACCESS1_COUNT": 40,
    "STRIDE1_STRIDE": 30 * BLOCK, "STRIDE1_COUNT": 4, "STRIDE2_STRIDE": 7 * BLOCK, "STRIDE2_COUNT": 3,
}  # fmt: skip
"""12 of 40 reads go forward, 5 of them are next to the one before, and 7 leave one of two gaps."""


def characterized(tmp_path: Path, counters: dict[str, int], **options: bool) -> Characterization:
    log = LogBuilder(nprocs=1, run_time=20.0)
    times = {"F_OPEN_START_TIMESTAMP": 1.0, "F_READ_START_TIMESTAMP": 1.1, "F_READ_END_TIMESTAMP": 7.9,
             "F_WRITE_START_TIMESTAMP": 1.2, "F_WRITE_END_TIMESTAMP": 8.0, "F_CLOSE_END_TIMESTAMP": 9.0}  # fmt: skip
    log.posix("/data/run/table", 0, OPENS=1, FILE_ALIGNMENT=BLOCK, **counters, **times)
    log.write(tmp_path / "app.darshan")
    return characterize([open_log(tmp_path / "app.darshan")], CharacterizeOptions(**options))


def is_made(found: Characterization) -> bool:
    (facts,) = found.families
    return any(decision.rule is OrderRule.FROM_COUNTERS for decision in facts.rules)


def test_the_order_has_all_counters_of_the_log(tmp_path: Path) -> None:
    found = characterized(tmp_path, READS)
    (facts,) = found.families
    assert is_made(found)
    assert facts.misfit == []
    assert facts.fitted
    assert Assumption.PLACEMENT in facts.family.assumed
    assert found.workload.operations is not None and found.workload.operations.rows == 40


def test_reads_and_writes_take_turns_as_often_as_counted(tmp_path: Path) -> None:
    writes = {
        "WRITES": 20, "BYTES_WRITTEN": 20 * 512, "SIZE_WRITE_100_1K": 20, "MAX_BYTE_WRITTEN": 40 * 512 - 1,
        "SEQ_WRITES": 3, "ACCESS2_ACCESS": 512, "ACCESS2_COUNT": 20, "RW_SWITCHES": 17,
        "STRIDE3_STRIDE": 512 * 9, "STRIDE3_COUNT": 3,
    }  # fmt: skip
    found = characterized(tmp_path, READS | writes)
    assert is_made(found)
    assert [row.counter for row in found.families[0].misfit or ()] in ([], ["FILE_NOT_ALIGNED"])


def test_without_tables_rules_come_as_near_as_they_can(tmp_path: Path) -> None:
    found = characterized(tmp_path, READS, tables=False)
    assert not is_made(found)
    assert found.families[0].misfit
    assert found.workload.operations is None


@pytest.mark.parametrize("change", [{"SEQ_READS": 50}, {"CONSEC_READS": 13}, {"STRIDE1_COUNT": 10**6}])
def test_counters_that_contradict_each_other_make_no_order(tmp_path: Path, change: dict[str, int]) -> None:
    assert not is_made(characterized(tmp_path, READS | change))


def test_many_operations_stay_with_the_rules(tmp_path: Path) -> None:
    times = 1000
    large = {name: value * times for name, value in READS.items() if not name.startswith(("STRIDE", "MAX"))}
    large |= {"ACCESS1_ACCESS": BLOCK, "MAX_BYTE_READ": 250 * BLOCK * times - 1}
    assert not is_made(characterized(tmp_path, large))


def test_what_goes_on_comes_before_what_is_aligned(tmp_path: Path) -> None:
    """18 reads of a small archive: that 6 go on is met, though some of them then begin within a block."""
    found = characterized(
        tmp_path,
        {
            "READS": 18, "BYTES_READ": 92160, "SIZE_READ_1K_10K": 18, "MAX_BYTE_READ": 10239, "SEQ_READS": 6,
            "CONSEC_READS": 6, "ACCESS1_ACCESS": 4096, "ACCESS1_COUNT": 9, "ACCESS2_ACCESS": 8192,
            "ACCESS2_COUNT": 6, "ACCESS3_ACCESS": 2048, "ACCESS3_COUNT": 3,
        },
    )  # fmt: skip
    (facts,) = found.families
    assert is_made(found)
    assert not [row for row in facts.misfit or () if row.counter.startswith(("SEQ_", "CONSEC_", "MAX_BYTE_"))]


WAVE_FUNCTIONS = {
    "READS": 16, "WRITES": 16, "BYTES_READ": 72000, "BYTES_WRITTEN": 28800, "SIZE_READ_1K_10K": 16,
    "SIZE_WRITE_1K_10K": 16, "MAX_BYTE_READ": 7199, "MAX_BYTE_WRITTEN": 7199, "SEQ_WRITES": 12, "CONSEC_WRITES": 12,
    "RW_SWITCHES": 31, "ACCESS1_ACCESS": 1440, "ACCESS1_COUNT": 18, "ACCESS2_ACCESS": 7200, "ACCESS2_COUNT": 5,
    "ACCESS3_ACCESS": 5760, "ACCESS3_COUNT": 3, "ACCESS4_ACCESS": 4320, "ACCESS4_COUNT": 3,
}  # fmt: skip
"""Reads of 1 to 5 bands of 1440 B each; three times five bands are written one by one, and once together."""


def test_sizes_are_of_both_directions_and_sweeps_as_long_as_the_file(tmp_path: Path) -> None:
    """15 of 18 operations of 1440 B are writes, three sweeps of 5: no other share of the sizes has room in 7200 B."""
    found = characterized(tmp_path, WAVE_FUNCTIONS)
    (facts,) = found.families
    assert is_made(found)
    assert {row.counter for row in facts.misfit or ()} <= {"FILE_NOT_ALIGNED"}


def test_no_read_is_larger_than_the_last_byte_of_all(tmp_path: Path) -> None:
    found = characterized(
        tmp_path,
        {
            "READS": 10, "BYTES_READ": 1_112_732, "SIZE_READ_0_100": 3, "SIZE_READ_100_1K": 3,
            "SIZE_READ_10K_100K": 2, "SIZE_READ_100K_1M": 2, "MAX_BYTE_READ": 455_841, "SEQ_READS": 4,
        },
    )  # fmt: skip
    (facts,) = found.families
    assert not [row for row in facts.misfit or () if row.counter.startswith(("SEQ_", "CONSEC_", "MAX_BYTE_"))]


def test_opens_are_at_once_where_passes_begin_at_the_start(tmp_path: Path) -> None:
    """Three short looks at the head of an archive, then all of it: 4 opens, of which none begins anew further on."""
    log = LogBuilder(nprocs=1, run_time=20.0)
    for number, (small, middle, whole, moved, last) in enumerate(
        [(16, 4, 2, 315_392, 294_911), (15, 4, 2, 380_928, 360_447), (14, 4, 2, 323_584, 303_103)]
    ):
        reads = small + middle + whole + 4
        log.posix(
            f"/data/run/shard-{number}.tar", 0, OPENS=4, READS=reads, SEEKS=38, BYTES_READ=moved,
            MAX_BYTE_READ=last, SEQ_READS=reads - 4, CONSEC_READS=reads - 4, SIZE_READ_1K_10K=small + middle,
            SIZE_READ_10K_100K=whole + 4, ACCESS1_ACCESS=4096, ACCESS1_COUNT=small, ACCESS2_ACCESS=8192,
            ACCESS2_COUNT=middle, ACCESS3_ACCESS=53_248, ACCESS3_COUNT=whole, FILE_ALIGNMENT=4096,
        )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    (facts,) = found.families
    assert not [row for row in facts.misfit or () if row.counter.startswith(("SEQ_", "CONSEC_", "MAX_BYTE_"))]


def test_a_record_that_no_order_meets_leaves_the_others_theirs(tmp_path: Path) -> None:
    """Of four files one counts a read at offset 1 after an open as one that goes on, for which it has no room."""
    log = LogBuilder(nprocs=1, run_time=20.0)
    for number, odd in enumerate((False, False, False, True)):
        log.posix(
            f"/data/run/part-{number}.idx", 0, OPENS=1, READS=5, BYTES_READ=5 * 500, MAX_BYTE_READ=599,
            SEQ_READS=1, CONSEC_READS=int(odd), SIZE_READ_100_1K=5, ACCESS1_ACCESS=500, ACCESS1_COUNT=5,
            F_OPEN_START_TIMESTAMP=1.0 + number, F_READ_START_TIMESTAMP=1.1 + number,
            F_READ_END_TIMESTAMP=1.2 + number, F_CLOSE_END_TIMESTAMP=1.3 + number,
        )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    off = {row.counter: (row.expected, row.found) for facts in found.families for row in facts.misfit or ()}
    assert "MAX_BYTE_READ" not in off


def test_writes_of_nothing_are_no_begin(tmp_path: Path) -> None:
    """Baskets of a tree of events: 12 of 187 writes move nothing. At offset 0, before all others, they would go back."""
    log = LogBuilder(nprocs=1, run_time=1.0)
    log.posix(
        "/data/run/events.root", 0, OPENS=2, SEEKS=260, STATS=1, FILE_ALIGNMENT=4096, FILE_NOT_ALIGNED=249,
        READS=74, BYTES_READ=308_448, MAX_BYTE_READ=763_109, SEQ_READS=72, CONSEC_READS=54, SIZE_READ_100_1K=1,
        SIZE_READ_1K_10K=73, WRITES=187, BYTES_WRITTEN=787_258, MAX_BYTE_WRITTEN=763_289, SEQ_WRITES=176,
        CONSEC_WRITES=167, SIZE_WRITE_0_100=12, SIZE_WRITE_100_1K=2, SIZE_WRITE_1K_10K=173, RW_SWITCHES=1,
        ACCESS1_ACCESS=8080, ACCESS1_COUNT=72, ACCESS2_ACCESS=4080, ACCESS2_COUNT=54, ACCESS3_ACCESS=2746,
        ACCESS3_COUNT=54, ACCESS4_ACCESS=2080, ACCESS4_COUNT=54, STRIDE1_STRIDE=25_066, STRIDE1_COUNT=17,
        STRIDE2_STRIDE=760_410, STRIDE2_COUNT=1, STRIDE3_STRIDE=757_086, STRIDE3_COUNT=1, STRIDE4_STRIDE=672_982,
        STRIDE4_COUNT=1, F_OPEN_START_TIMESTAMP=0.1, F_WRITE_START_TIMESTAMP=0.2, F_WRITE_END_TIMESTAMP=0.3,
        F_READ_START_TIMESTAMP=0.5, F_READ_END_TIMESTAMP=0.6, F_CLOSE_END_TIMESTAMP=0.7,
    )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    (facts,) = found.families
    assert not [row for row in facts.misfit or () if row.counter.startswith(("SEQ_", "CONSEC_", "MAX_BYTE_"))]
