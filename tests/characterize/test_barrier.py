"""Barriers at the beginning of dumps, found by the first calls on files per rank."""

from __future__ import annotations

import math

import pytest
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan.write import LogBuilder
from workalike.workload.model import Family, SharingMode

MIB = 2**20


def family_of(starts: dict[int, float], load_starts: dict[int, float] | None = None) -> Family:
    """Each rank writes its own file from its start on, and with `load_starts` reads it later."""
    builder = builder_of(len(starts))
    for rank, start in starts.items():
        ops = [Op(WRITE, 0, MIB, start, start + 1)]
        if load_starts:
            ops.append(Op(READ, 0, MIB, load_starts[rank], load_starts[rank] + 1))
        add_file(builder, TrueFile(f"/run/scratch.{rank}", "POSIX", {rank: ops}, start, ops[-1].end))
    (family,) = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True)).families
    assert family.family.sharing.mode is SharingMode.PER_RANK
    return family.family


@pytest.mark.parametrize(("last", "barrier"), [(10.0, True), (10.039, True), (10.041, False), (11.0, False)])
def test_ranks_that_begin_within_a_250th_of_the_time(last: float, barrier: bool) -> None:
    assert family_of({0: 10.0, 1: 10.0, 2: last, 3: 10.0}).schedule.barrier is barrier


@pytest.mark.parametrize(("last", "barrier"), [(20.039, True), (20.041, False), (20.5, False)])
def test_a_load_after_the_dump_begins_with_its_reads(last: float, barrier: bool) -> None:
    """The dump began at 10 s, so the ranks have gone on by themselves for 10 s, not 20."""
    family = family_of({0: 10.0, 1: 10.0}, {0: 20.0, 1: last})
    assert family.schedule.dumps == 2
    assert family.schedule.barrier is barrier


@pytest.mark.parametrize("start", [math.nan, math.inf, -1.0, 0.0, 1e300])
def test_an_impossible_start_shows_no_barrier(start: float) -> None:
    assert not family_of({0: start, 1: start}).schedule.barrier


@pytest.mark.parametrize(("last", "barrier"), [(10.039, True), (10.041, False)])
def test_where_opens_have_no_times_the_first_accesses_tell(last: float, barrier: bool) -> None:
    """C++ opens a stream and writes through its descriptor, whose opens are counted without times."""
    builder = builder_of(2)
    for rank, start in enumerate((10.0, last)):
        log_record(builder, rank, start)
    (family,) = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True)).families
    assert family.family.schedule.barrier is barrier


def log_record(builder: LogBuilder, rank: int, start: float) -> None:
    builder.posix(
        f"/run/field.{rank}", rank, OPENS=1, WRITES=1, BYTES_WRITTEN=MIB, MAX_BYTE_WRITTEN=MIB - 1,
        SIZE_WRITE_100K_1M=1, F_WRITE_TIME=1.0, F_WRITE_START_TIMESTAMP=start, F_WRITE_END_TIMESTAMP=start + 1,
        F_CLOSE_START_TIMESTAMP=start + 1, F_CLOSE_END_TIMESTAMP=start + 1.1,
    )  # fmt: skip
