"""One file that is written several times and then read, with an open for each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import characterize
from workalike.characterize.readings.files.passes_in_turn import passes_in_turn
from workalike.characterize.result import FamilyFacts
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.facts.times import Interval
from workalike.workload.model import Content, Direction, Family, Lifetime

MIB, OPERATIONS, PASSES = 2**20, 16, 3
BYTES = OPERATIONS * MIB
FIRST_CLOSE, LAST_OPEN = 2.0, 7.0


def found_in(folder: Path, opens: int, **other: float) -> FamilyFacts:
    """A file of 16 MiB that one process writes three times and then reads, of a run from 1 s to 9 s."""
    log = LogBuilder(nprocs=1, run_time=10.0)
    calls = PASSES * OPERATIONS
    fields: dict[str, Any] = {
        "OPENS": opens, "WRITES": calls, "READS": OPERATIONS, "BYTES_WRITTEN": PASSES * BYTES, "BYTES_READ": BYTES,
        "MAX_BYTE_WRITTEN": BYTES - 1, "MAX_BYTE_READ": BYTES - 1, "CONSEC_WRITES": calls - PASSES,
        "SEQ_WRITES": calls - PASSES, "CONSEC_READS": OPERATIONS - 1, "SEQ_READS": OPERATIONS - 1, "RW_SWITCHES": 1,
        "SIZE_WRITE_1M_4M": calls, "SIZE_READ_1M_4M": OPERATIONS, "ACCESS1_ACCESS": MIB,
        "ACCESS1_COUNT": calls + OPERATIONS, "MODE": 0o644, "F_WRITE_TIME": 4.0, "F_READ_TIME": 2.0,
        "F_OPEN_START_TIMESTAMP": 1.0, "F_OPEN_END_TIMESTAMP": LAST_OPEN, "F_WRITE_START_TIMESTAMP": 1.0,
        "F_WRITE_END_TIMESTAMP": 6.0, "F_READ_START_TIMESTAMP": LAST_OPEN, "F_READ_END_TIMESTAMP": 9.0,
        "F_CLOSE_START_TIMESTAMP": FIRST_CLOSE, "F_CLOSE_END_TIMESTAMP": 9.0,
    }  # fmt: skip
    log.posix("/run/state.dat", 0, **fields | other)
    (found,) = characterize([open_log(log.write(folder / "x.darshan"))]).families
    return found


def test_each_pass_is_a_dump_with_an_open(tmp_path: Path) -> None:
    found = found_in(tmp_path, opens=PASSES + 1)
    family = found.family
    assert family.lifetime is Lifetime.REUSED
    assert [content.opens for content in map(family.content_of, range(family.schedule.dumps))] == [1, 1, 1, 1]
    assert [(dump.bytes_written, dump.bytes_read) for dump in found.dumps] == [(BYTES, 0)] * PASSES + [
        (0, BYTES)
    ]
    # The first second is the first pass; the others have what is left up to the last open.
    assert family.schedule.starts() == pytest.approx([1, 3, 5, 7])
    assert family.schedule.ends() == pytest.approx([2, 4, 6, 9])


def test_other_opens_are_no_passes(tmp_path: Path) -> None:
    family = found_in(tmp_path, opens=2).family
    assert family.schedule.dumps == 2


@pytest.mark.parametrize(("syncs", "until"), [(PASSES, 1.9), (0, 1.2)])
def test_a_sync_after_the_last_write_is_a_part_of_its_pass(tmp_path: Path, syncs: int, until: float) -> None:
    """Passes of 1.9 s by the timer of writes. The last write is at 6.2 s, 0.7 s too early: a sync takes them."""
    found = found_in(
        tmp_path, PASSES + 1, FSYNCS=syncs, F_WRITE_TIME=5.7, F_CLOSE_START_TIMESTAMP=2.9,
        F_WRITE_END_TIMESTAMP=6.2,
    )  # fmt: skip
    schedule = found.family.schedule
    assert schedule.ends()[2] - schedule.starts()[2] == pytest.approx(1.9)
    lasts = schedule.writes.last if schedule.writes is not None else None  # None: all of a dump
    last = lasts[2] if isinstance(lasts, list) else lasts
    assert (1.9 if last is None else last) == pytest.approx(until, abs=1e-3)


def family_of(*streams: dict[str, Any], **content: Any) -> Family:
    return Family.model_validate(
        {
            "role": "output", "number": 1, "interface": "posix", "level": "posix", "sharing": {"mode": "root"},
            "lifetime": "reused", "schedule": {"start": [1], "duration": 8, "compute_time": 2},
            "content": {"streams": list(streams)} | content,
        }
    )  # fmt: skip


WRITES = {"direction": "write", "sizes": ["16 x 1 MiB"], "repeat": PASSES}
READS = {"direction": "read", "sizes": ["16 x 1 MiB"]}
EXTENTS = {Direction.WRITE: BYTES, Direction.READ: BYTES}


def dumps_of(changes: dict[str, Any]) -> list[Content]:
    contents = changes.get("contents") or [changes["content"]]
    uses = changes.get("use") or list(range(len(contents)))
    return [contents[place] for place in uses]


def test_calls_go_with_what_they_belong_to() -> None:
    family = family_of(WRITES, READS, opens=4, stats=4, seeks=8, fsyncs=6)
    changes = passes_in_turn(family, 4, 1, EXTENTS, None)
    assert changes is not None
    dumps = dumps_of(changes)
    assert [(dump.opens, dump.stats, dump.seeks, dump.fsyncs) for dump in dumps] == [
        (1, 1, 2, 2)
    ] * PASSES + [(1, 1, 2, 0)]
    # Without times of closes and opens, all passes are as long, and compute for the same share.
    assert changes["schedule"].starts() == pytest.approx([1, 3, 5, 7])
    assert changes["schedule"].compute_times() == pytest.approx([0.5] * 4)


def test_passes_that_do_not_fit_between_become_shorter() -> None:
    changes = passes_in_turn(family_of(WRITES, READS), 4, 1, EXTENTS, Interval(4, 8))
    assert changes is not None
    assert changes["schedule"].starts() == pytest.approx([1, 4, 6, 8])
    assert changes["schedule"].ends() == pytest.approx([4, 6, 8, 9])


def test_pauses_between_passes_are_equal() -> None:
    changes = passes_in_turn(family_of(WRITES, READS), 4, 1, EXTENTS, Interval(2, 7))
    assert changes is not None
    assert changes["schedule"].starts() == pytest.approx([1, 3, 5, 7])
    assert changes["schedule"].ends() == pytest.approx([2, 4, 6, 9])


@pytest.mark.parametrize(
    ("opens", "extents", "why"),
    [
        (5, EXTENTS, "an open too many"),
        (4, {Direction.WRITE: BYTES, Direction.READ: 3 * MIB}, "no whole number of passes"),
        (4, {Direction.WRITE: BYTES}, "an extent that is not known"),
        (PASSES * BYTES + BYTES // MIB, {Direction.WRITE: 1, Direction.READ: MIB}, "too many to be listed"),
        (2, {Direction.WRITE: PASSES * BYTES, Direction.READ: BYTES}, "as many passes in both directions"),
    ],
)
def test_no_passes(opens: int, extents: dict[Direction, int], why: str) -> None:
    assert passes_in_turn(family_of(WRITES, READS), opens, 1, extents, None) is None, why


def test_a_file_in_one_direction_has_none() -> None:
    assert passes_in_turn(family_of(WRITES), 3, 1, EXTENTS, None) is None


def test_operations_that_cannot_be_shared_out_are_left() -> None:
    streams = (
        {"direction": "write", "sizes": ["1 x 1 MiB", "1 x 2 MiB"]},
        {"direction": "read", "sizes": ["1 x 1 MiB"]},
    )
    extents = {Direction.WRITE: MIB, Direction.READ: MIB}
    assert passes_in_turn(family_of(*streams), 4, 1, extents, None) is None
