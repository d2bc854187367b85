"""Records -> access streams: their ranks, operations, sizes and placement."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.contents.contents import _share_streams
from workalike.characterize.contents.streams.bytes_by_size import Moved
from workalike.characterize.contents.streams.rank_streams import streams_of_ranks
from workalike.characterize.contents.streams.repeated_access import reads_over_writes
from workalike.darshan import LogBuilder
from workalike.facts.placement import Placement
from workalike.workload.model import Assumption, Content, Direction, Entry, Family, Level, Pattern, Stream

KIB, MIB = 2**10, 2**20


def family_of(builder: LogBuilder) -> Family:
    (family,) = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True)).families
    return family.family


def streams_of(builder: LogBuilder) -> list[Stream]:
    return family_of(builder).content_of(0).streams


def sizes(stream: Stream) -> list[tuple[int, int]]:
    return [(e.count, e.size) for e in stream.sizes]


def shared_file(
    nprocs: int, ops: dict[int, list[Op]], module: str = "MPI-IO", reduce: bool = True
) -> LogBuilder:
    builder = builder_of(nprocs)
    add_file(builder, TrueFile("/run/x", module, {r: ops.get(r, []) for r in range(nprocs)}), reduce=reduce)
    return builder


def test_headers_of_a_reduced_record_are_rank_0s() -> None:
    ops = {r: [Op(WRITE, r * MIB, MIB, collective=True)] for r in range(8)}
    ops[0] += [Op(WRITE, 0, 96), Op(WRITE, 96, 544), Op(WRITE, 0, 96)]
    found = streams_of(shared_file(8, ops))
    assert [(s.ranks, s.collective, sizes(s)) for s in found] == [
        ([(0, 0, 1)], False, [(2, 96), (1, 544)]),
        (None, True, [(8, MIB)]),
    ]


def test_ranks_that_only_join_a_collective_call() -> None:
    """Three of four ranks have data in the second call. The fourth only joins, which is counted."""
    ops = {r: [Op(WRITE, r * MIB, MIB, collective=True)] * 2 for r in range(4)}
    ops[3][1] = Op(WRITE, 0, 0, collective=True)
    for reduce in (True, False):
        (stream,) = streams_of(shared_file(4, ops, reduce=reduce))
        assert (stream.collective, sizes(stream)) == (True, [(1, 0), (7, MIB)])


def test_few_writers_of_collective_calls() -> None:
    """The variance shows that two of sixteen ranks have the data of every call."""
    ops = {r: [Op(WRITE, 0, 4 * MIB if r % 8 == 0 else 0, collective=True)] * 10 for r in range(16)}
    (stream,) = streams_of(shared_file(16, ops))
    assert (stream.ranks, sizes(stream)) == ([(0, 8, 8)], [(20, 4 * MIB)]) or stream.ranks == [
        (0, 0, 1),
        (8, 8, 1),
    ]


def test_few_independent_writers_are_spread() -> None:
    ops = {r: [Op(WRITE, r * MIB, MIB)] * 4 if r < 4 else [] for r in range(16)}
    (stream,) = streams_of(shared_file(16, ops))
    assert stream.ranks is not None
    assert sum((b - a) // step + 1 for a, b, step in stream.ranks) == 4
    assert Assumption.RANK_SHARES in family_of(shared_file(16, ops)).assumed


def test_ranks_of_equal_records_are_one_stream() -> None:
    ops = {r: [Op(WRITE, (r * 9 + k) * MIB, MIB) for k in range(3 + r % 2)] for r in range(8)}
    found = streams_of(shared_file(8, ops, "POSIX", reduce=False))
    assert sum(e.count * e.size for s in found for e in s.sizes) == 28 * MIB
    assert len(found) <= 2


def streams_of_sizes(own: list[int], calls: int, pattern: Pattern = Pattern.INTERLEAVED) -> list[Stream]:
    """Collective calls in which each rank has its own size, in the MiB of `own`."""
    by_rank = {rank: Moved([(calls, size)], calls) for rank, size in enumerate(own)}
    return streams_of_ranks(by_rank, Direction.WRITE, len(own), Placement(pattern), 1, True)


@pytest.mark.parametrize(
    "own", [[10, 20, 20, 30], [10, 10, 40, 20], [5, 6, 7, 8], [7, 7, 7, 8], list(range(1, 257))]
)
def test_sizes_of_ranks_stay_with_their_ranks(own: list[int]) -> None:
    """Neighbours with one size are an entry; the order of entries is that of the ranks."""
    (stream,) = streams_of_sizes(own, 3)
    assert (stream.repeat, stream.collective, stream.pattern) == (3, True, Pattern.INTERLEAVED)
    assert [size for count, size in sizes(stream) for _ in range(count)] == own


@pytest.mark.parametrize(
    ("ranks", "calls", "pattern"),
    [(300, 3, Pattern.INTERLEAVED), (200, 100, Pattern.INTERLEAVED), (4, 3, Pattern.CONTIGUOUS)],
)
def test_sizes_of_ranks_that_are_too_many_or_placed_otherwise(
    ranks: int, calls: int, pattern: Pattern
) -> None:
    own = [MIB + 8 * rank for rank in range(ranks)]
    found = streams_of_sizes(own, calls, pattern)
    assert all(stream.repeat == 1 for stream in found)
    assert sum(count * size for stream in found for count, size in sizes(stream)) == calls * sum(own)


@pytest.mark.parametrize("states", [[1, 1, 1], [100, 100, 101], [5, 5], [1, 2, 3], [1] * 7])
@pytest.mark.parametrize("calls", [6, 7])
def test_calls_of_ranks_with_own_sizes_in_states(states: list[int], calls: int) -> None:
    """Each state has whole calls, or all calls are shared out where there are fewer of them than states."""
    own = [MIB + 8 * rank for rank in range(4)]
    contents = [Content() for _ in states]
    _share_streams(contents, streams_of_sizes(own, calls), states, 4, Level.POSIX, known=True)
    moved = [content.moved(4, Direction.WRITE) for content in contents]
    assert sum(moved) == calls * sum(own)
    if len(states) <= calls:
        assert all(moved)


def test_ranks_that_all_differ_are_few_streams() -> None:
    """A thousand ranks with a thousand sizes become few streams with the same bytes."""
    rng = np.random.default_rng(7)
    counts = rng.integers(1, 60, 1000).tolist()
    ops = {r: [Op(WRITE, 0, 3 * KIB + 17 * r)] * n for r, n in enumerate(counts)}
    found = streams_of(shared_file(1000, ops, "POSIX", reduce=False))
    assert len(found) <= 130
    assert sum(e.count for s in found for e in s.sizes) == sum(counts)
    assert sum(e.count * e.size for s in found for e in s.sizes) == sum(
        n * (3 * KIB + 17 * r) for r, n in enumerate(counts)
    )


@pytest.mark.parametrize(
    ("ops", "pattern"),
    [
        ({0: [Op(WRITE, k * MIB, MIB) for k in range(9)]}, Pattern.CONTIGUOUS),
        ({0: [Op(WRITE, k * 4 * MIB, MIB) for k in range(9)]}, Pattern.STRIDED),
        ({r: [Op(WRITE, (k * 4 + r) * MIB, MIB) for k in range(9)] for r in range(4)}, Pattern.INTERLEAVED),
        ({r: [Op(READ, k * MIB, MIB) for k in range(9)] for r in range(4)}, Pattern.REPLICATED),
        ({r: [Op(WRITE, (r * 9 + k) * MIB, MIB) for k in range(9)] for r in range(4)}, Pattern.CONTIGUOUS),
        ({0: [Op(WRITE, k * MIB, MIB) for k in random.Random(7).sample(range(2000), 2000)]}, Pattern.RANDOM),
    ],
)
def test_patterns_from_counters(ops: dict[int, list[Op]], pattern: Pattern) -> None:
    nprocs = len(ops)
    (stream,) = streams_of(shared_file(nprocs, ops, "POSIX"))
    assert stream.pattern is pattern


@given(
    st.integers(2, 8),
    st.integers(1, 6),
    st.integers(0, 60),
    st.integers(0, 10**8),
    st.integers(0, 9),
    st.integers(0, 5),
)
def test_reads_over_writes_lose_nothing(
    repeat: int, each: int, operations: int, total: int, few: int, empty: int
) -> None:
    """Reads of a read-modify-write keep their operations and bytes, for any writes."""
    writes = [Stream(direction=WRITE, sizes=[Entry(count=each * 4, size=MIB)], repeat=repeat)]
    total = max(total, operations * 20 * KIB) if operations else 0
    values = {
        "READS": operations + few + empty,
        "BYTES_READ": total + 100 * few,
        "SIZE_READ_0_100": few + empty,
        "SIZE_READ_10M_100M": 0,
        "ACCESS1_ACCESS": 100,
        "ACCESS1_COUNT": few,
        "ACCESS2_ACCESS": 0,
        "ACCESS2_COUNT": empty,
    }
    builder = builder_of(4).posix("/run/x", **values)
    from workalike.facts.gather import facts_of

    (file,) = facts_of([log_of(builder)]).files()
    found = reads_over_writes(writes, [file.modules["POSIX"]], 4)
    assert found is not None
    assert all(s.direction is Direction.READ for s in found)
    assert sum(s.repeat * e.count for s in found for e in s.sizes) == operations + few + empty
    if operations:
        assert sum(s.repeat * e.count * e.size for s in found for e in s.sizes) == total + 100 * few


def test_compute_time_is_what_the_busiest_rank_did_not_spend() -> None:
    builder = builder_of(2)
    ops = {r: [Op(WRITE, r * MIB, MIB, 1.0, 11.0)] for r in range(2)}
    file = TrueFile("/run/x", "POSIX", ops, 1.0, 11.0, {"F_WRITE_TIME": 3.0, "F_META_TIME": 1.0})
    add_file(builder, file, reduce=False)
    assert family_of(builder).schedule.compute_times() == [pytest.approx(6.0)]


@pytest.mark.parametrize("reduced", [False, True])
def test_a_dump_and_a_load_of_one_file_have_a_timer_each(reduced: bool) -> None:
    """The file is written from 1 to 5 s and read from 6 to 11 s; 1 s and 2 s of these are in calls."""
    builder = builder_of(2)
    ops = {r: [Op(WRITE, r * MIB, MIB, 1.0, 5.0), Op(READ, r * MIB, MIB, 6.0, 11.0)] for r in range(2)}
    whole = 2.0 if reduced else 1.0  # a reduced record has the sums over its ranks
    timers = {"F_WRITE_TIME": 1.0 * whole, "F_READ_TIME": 2.0 * whole, "F_META_TIME": 0.0}
    if reduced:
        timers["F_SLOWEST_RANK_TIME"] = 3.0
    add_file(builder, TrueFile("/run/x", "POSIX", ops, 1.0, 11.0, timers), reduce=reduced)
    assert family_of(builder).schedule.compute_times() == [pytest.approx(3.0), pytest.approx(3.0)]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e308, -5.0])
def test_compute_times_of_hostile_timers(seconds: float) -> None:
    builder = builder_of(2)
    ops = {r: [Op(WRITE, r * MIB, MIB, 1.0, 11.0)] for r in range(2)}
    add_file(builder, TrueFile("/run/x", "POSIX", ops, 1.0, 11.0, {"F_WRITE_TIME": seconds}))
    assert family_of(builder).schedule.compute_times() == [0.0]


def test_a_database_is_rewritten_from_its_start() -> None:
    """Ten blocks are written and read three and a half times: whole passes, and nothing beyond the end."""
    places = [block % 10 for block in range(35)]
    ops = [Op(d, at * KIB, KIB) for d in (WRITE, READ) for at in places]
    found = streams_of(shared_file(1, {0: ops}, "STDIO"))
    passes = [(None, 10), (0, 10), (0, 10), (0, 5)]
    for direction in (WRITE, READ):
        chosen = [s for s in found if s.direction is direction]
        assert [(s.base, sum(count for count, _ in sizes(s))) for s in chosen] == passes
        assert sum(count * size for s in chosen for count, size in sizes(s)) == 35 * KIB


def test_a_header_rewritten_moves_no_data() -> None:
    """A few bytes more than the file's length do not move the data to its start."""
    ops = [Op(WRITE, 0, 96), *(Op(WRITE, 96 + k * MIB, MIB) for k in range(4)), Op(WRITE, 0, 96)]
    found = streams_of(shared_file(1, {0: ops}, "POSIX"))
    assert all(s.base is None for s in found)


STEPS = [Op(WRITE, k * 200_000, 100_000) for k in range(8)]


@pytest.mark.parametrize(
    "gaps",
    [
        {"STRIDE1_STRIDE": 100_000, "STRIDE1_COUNT": 7},
        {"STRIDE1_STRIDE": 100_000, "STRIDE1_COUNT": 4},
        {"STRIDE1_STRIDE": 100_000, "STRIDE1_COUNT": 3},  # less than half of the seven steps
        {
            "STRIDE1_STRIDE": -5,
            "STRIDE1_COUNT": 7,
        },  # damaged: by the extent, whose last operation has no gap after it
        {},
    ],
)
def test_the_stride_of_one_rank_is_its_gap_and_an_operation(gaps: dict[str, float]) -> None:
    builder = builder_of(1)
    add_file(builder, TrueFile("/run/x", "POSIX", {0: STEPS}, extra=gaps))
    (stream,) = streams_of(builder)
    assert (stream.pattern, stream.stride) == (Pattern.STRIDED, 200_000)


def test_gaps_of_a_file_that_is_also_read_belong_to_the_direction_whose_extent_they_fit() -> None:
    """Reads and writes share the table of gaps."""
    ops = [*STEPS, *(Op(READ, k * 300_000, 100_000, 3.0, 3.5) for k in range(8))]
    gaps = {"STRIDE1_STRIDE": 200_000, "STRIDE1_COUNT": 7, "STRIDE2_STRIDE": 100_000, "STRIDE2_COUNT": 7}
    builder = builder_of(1)
    add_file(builder, TrueFile("/run/x", "POSIX", {0: ops}, 0.5, 4.0, gaps))
    family = family_of(builder)
    strides = [stream.stride for k in range(2) for stream in family.content_of(k).streams]
    assert sorted(set(strides)) == [200_000, 300_000]
