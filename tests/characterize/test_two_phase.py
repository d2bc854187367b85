"""Collective calls lie where the few calls of POSIX do that an MPI library makes of them."""

from __future__ import annotations

import pytest
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.contents.streams.two_phase import place_of_calls
from workalike.darshan import LogBuilder
from workalike.facts.gather import facts_of
from workalike.facts.placement import CONTIGUOUS, Placement
from workalike.workload.model import Direction, Level, Pattern, Stream

RANKS, SIZE = 4, 1000


def job(runs: list[tuple[int, int]], calls: int, direction: Direction = WRITE) -> LogBuilder:
    """Each of four ranks makes some collective calls; rank 0 makes these runs (offset, length) of them at POSIX."""
    builder = builder_of(RANKS)
    above = {r: [Op(direction, 0, SIZE, 1.0 + k, 1.5 + k, True) for k in range(calls)] for r in range(RANKS)}
    below = {
        r: [Op(direction, at, length, 1.0 + k, 1.5 + k) for k, (at, length) in enumerate(runs) if not r]
        for r in range(RANKS)
    }
    add_file(builder, TrueFile("/run/out", "MPI-IO", above, 0.5, 9.0, extra={"VIEWS": 4}))
    gap = runs[1][0] - sum(runs[0])
    strides = {"STRIDE1_STRIDE": gap, "STRIDE1_COUNT": len(runs) - 1} if gap else {}
    add_file(builder, TrueFile("/run/out", "POSIX", below, 0.5, 9.0, extra=strides))
    return builder


def found(builder: LogBuilder, direction: Direction = WRITE) -> Placement | None:
    return place_of_calls(facts_of([log_of(builder)]).files(), Level.MPIIO, direction, RANKS)


def stream_of(builder: LogBuilder) -> Stream:
    options = CharacterizeOptions(include_program_start=True, tables=False)
    (family,) = characterize([log_of(builder)], options).families
    (stream,) = family.family.content_of(0).streams
    return stream


@pytest.mark.parametrize("direction", [WRITE, READ])
def test_a_run_for_each_call_has_the_ranks_one_after_the_other(direction: Direction) -> None:
    builder = job([(k * 4000, 4000) for k in range(3)], 3, direction)
    assert found(builder, direction) == Placement(Pattern.INTERLEAVED)
    stream = stream_of(builder)
    assert (stream.pattern, stream.collective) == (Pattern.INTERLEAVED, True)


@pytest.mark.parametrize("distance", [3600, 5000])
def test_runs_that_do_not_follow_each_other_are_rounds(distance: int) -> None:
    """A view of a vector type lets the next call begin where the last piece of a rank ends."""
    builder = job([(k * distance, 4000) for k in range(3)], 3)
    assert found(builder) == Placement(Pattern.INTERLEAVED, stride=distance)
    stream = stream_of(builder)
    assert (stream.pattern, stream.stride) == (Pattern.INTERLEAVED, distance)


def test_runs_at_equal_distances_are_the_ranks_parts() -> None:
    builder = job([(r * 6000, SIZE) for r in range(RANKS)], 1)
    assert found(builder) == Placement(Pattern.STRIDED, stride=6000)
    stream = stream_of(builder)
    assert (stream.pattern, stream.stride) == (Pattern.STRIDED, 6000)


def test_a_run_of_each_rank_in_each_call_is_in_a_region_of_its_own() -> None:
    builder = job([(r * 3 * SIZE + k * SIZE, SIZE) for k in range(3) for r in range(RANKS)], 3)
    assert found(builder) == CONTIGUOUS
    assert stream_of(builder).pattern is Pattern.CONTIGUOUS


@pytest.mark.parametrize(
    ("runs", "calls"),
    [
        ([(0, 4000), (4000, 4000), (8000, 4100)], 3),  # the library has sieved
        ([(0, 4000), (9000, 4000), (21000, 4000)], 3),  # runs at no common distance
        ([(0, SIZE), (6000, SIZE), (12000, SIZE), (19000, SIZE)], 1),
        ([(0, 6000), (6000, 6000)], 3),  # a run is not a call
    ],
)
def test_other_runs_say_nothing(runs: list[tuple[int, int]], calls: int) -> None:
    assert found(job(runs, calls)) is None


def test_ranks_that_each_write_a_region_by_themselves() -> None:
    """A library that merges nothing: each rank's calls go on where its last one ended."""
    calls = 3
    builder = builder_of(RANKS)
    for module, collective in (("MPI-IO", True), ("POSIX", False)):
        ops = {
            rank: [
                Op(WRITE, (rank * calls + k) * SIZE, SIZE, 1.0 + k, 1.5 + k, collective) for k in range(calls)
            ]
            for rank in range(RANKS)
        }
        add_file(builder, TrueFile("/run/out", module, ops, 0.5, 9.0))
    assert found(builder) == CONTIGUOUS


def test_bytes_without_a_call_say_nothing() -> None:
    """Of a damaged log: POSIX has the bytes, and no call that moved them."""
    builder = job([(0, 4000), (4000, 4000)], 2)
    add_file(
        builder,
        TrueFile(
            "/run/other", "MPI-IO", {r: [Op(WRITE, 0, SIZE, 1.0, 1.5, True)] for r in range(RANKS)}, 0.5, 9.0
        ),
    )
    builder.posix("/run/other", -1, BYTES_WRITTEN=RANKS * SIZE, OPENS=RANKS)
    assert found(builder) is None
