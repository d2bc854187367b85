"""Nonblocking calls of MPI-IO, where all independent calls of a direction are."""

from __future__ import annotations

import pytest
from simulated_job import log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.workload.model import Direction, Stream


def streams_of(**calls: int) -> list[Stream]:
    """The streams of a file that four ranks write and read, with these kinds of calls of 1000 bytes."""
    builder = LogBuilder(4, 10.0, exe="/opt/app/bin/app")
    moved = {
        direction: sum(n for name, n in calls.items() if direction in name) for direction in ("READ", "WRITE")
    }
    builder.record(
        "MPI-IO",
        "/run/out",
        COLL_OPENS=4,
        BYTES_WRITTEN=1000 * moved["WRITE"],
        BYTES_READ=1000 * moved["READ"],
        SIZE_WRITE_AGG_100_1K=moved["WRITE"],
        SIZE_READ_AGG_100_1K=moved["READ"],
        ACCESS1_ACCESS=1000,
        ACCESS1_COUNT=sum(moved.values()),
        F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=2.0,
        F_WRITE_END_TIMESTAMP=3.0,
        F_READ_START_TIMESTAMP=4.0,
        F_READ_END_TIMESTAMP=5.0,
        F_CLOSE_END_TIMESTAMP=6.0,
        **calls,
    )
    options = CharacterizeOptions(include_program_start=True)
    (family,) = characterize([log_of(builder)], options).families
    return [stream for content in family.family.all_contents() for stream in content.streams]


@pytest.mark.parametrize("direction", list(Direction))
def test_posted_calls(direction: Direction) -> None:
    """Those of the other direction are not."""
    kinds = {Direction.WRITE: ("NB_WRITES", "INDEP_READS"), Direction.READ: ("INDEP_WRITES", "NB_READS")}
    streams = streams_of(**dict.fromkeys(kinds[direction], 40))
    assert {stream.direction for stream in streams if stream.nonblocking} == {direction}
    assert {stream.direction for stream in streams if not stream.nonblocking} == set(Direction) - {direction}


def test_some_of_the_independent_calls_are_not_posted() -> None:
    assert not any(stream.nonblocking for stream in streams_of(NB_WRITES=40, INDEP_WRITES=4))
    beside = streams_of(NB_WRITES=40, COLL_WRITES=8)
    assert [stream.nonblocking for stream in beside] == [not stream.collective for stream in beside]
    assert any(stream.nonblocking for stream in beside)
