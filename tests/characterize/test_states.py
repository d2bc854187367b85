"""Several dumps in one long-lived file: by trace, libraries' counters, heatmap or option; Eq. 2 to 4."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_totals import totals_of
from simulated_job import WRITE, Op, TrueFile, add_file, builder_of, log_of, simple_file

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.contents.contents import cut_stream
from workalike.characterize.contents.streams.sizes_of_dumps import series_of
from workalike.characterize.grouping.growth import size_at, state_sizes
from workalike.characterize.grouping.states import (
    Timeline,
    bursts,
    bursts_in_timeline,
    joined_bursts,
    place_states,
)
from workalike.darshan import LogBuilder
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.times import Interval
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import (
    MAX_DUMPS,
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Lifetime,
    Pattern,
    Role,
    Stream,
)

KIB, MIB = 2**10, 2**20


def characterized(builder: LogBuilder, **options: object) -> Characterization:
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True, **options))  # type: ignore[arg-type]


def appended(found: Characterization) -> tuple[Family, list[int]]:
    (family,) = [f for f in found.families if f.family.lifetime is Lifetime.APPENDED]
    return family.family, [d.bytes_written for d in family.dumps]


def growing_job(**vis: float) -> LogBuilder:
    """Five checkpoints, each half as large again as the previous one, and one file that is open over the run."""
    builder = builder_of(1, run_time=120)
    for i in range(5):
        add_file(
            builder, simple_file(f"/run/chk.{i}", "STDIO", [0], size=round(MIB * 1.5**i), at=10.0 + 20 * i)
        )
    file = simple_file("/run/movie", "STDIO", [0], size=2 * MIB, count=6, at=5.0, lasts=100.0)
    file.extra = vis
    add_file(builder, file)
    return builder


def test_stdio_flushes_and_growth() -> None:
    found = characterized(growing_job(FLUSHES=6))
    family, sizes = appended(found)
    assert family.role is Role.VISUALIZATION
    assert sum(sizes) == 12 * MIB
    # The states start at 5, 25, 45, ... s: before the first checkpoint, then after each but the last.
    weights = [1, 1, 1.5, 1.5**2, 1.5**3, 1.5**4]
    assert sizes == pytest.approx([12 * MIB * w / sum(weights) for w in weights], rel=1e-3)
    assert {Assumption.STATE_SIZES, Assumption.SCHEDULE} <= set(family.assumed)


def test_states_as_given() -> None:
    family, sizes = appended(characterized(growing_job(), states=3))
    assert (family.schedule.dumps, sum(sizes)) == (3, 12 * MIB)


@pytest.mark.parametrize("states", [MAX_DUMPS + 1, 10**9, 2**62])
def test_more_states_than_a_workload_holds_are_refused(states: int) -> None:
    with pytest.raises(WorkalikeError, match="--states") as caught:
        characterized(growing_job(), states=states)
    assert caught.value.kind is ErrorKind.USAGE


def test_states_of_several_files_together_have_a_limit() -> None:
    """Each file may have as many states, but all files together may not."""
    builder = builder_of(1)
    for i in range(6):
        file = TrueFile(f"/scratch/log-{'abcdef'[i]}/{'uvwxyz'[i]}.out", "POSIX", {0: [Op(WRITE, 0, MIB)]})
        add_file(builder, file)
    with pytest.raises(WorkalikeError, match="--states"):
        characterized(builder, states=MAX_DUMPS)


def test_a_text_log_has_no_states() -> None:
    """It is flushed line by line."""
    builder = builder_of(1, run_time=100)
    file = simple_file("/run/progress.txt", "STDIO", [0], size=80, count=500, at=1.0, lasts=90.0)
    file.extra = {"FLUSHES": 500}
    add_file(builder, file)
    assert not [f for f in characterized(builder).families if f.family.lifetime is Lifetime.APPENDED]


@pytest.mark.parametrize(("lasts", "states"), [(5.0, 1), (80.0, 1), (150.0, 20)])
def test_a_file_written_at_once_has_no_states(lasts: float, states: int) -> None:
    builder = builder_of(1, run_time=1000)
    file = simple_file("/run/out", "STDIO", [0], size=MIB, count=20, at=1.0, lasts=lasts)
    file.extra = {"FLUSHES": 20}
    add_file(builder, file)
    (found,) = characterized(builder).families
    assert found.family.schedule.dumps == states


def test_h5f_flushes() -> None:
    builder = builder_of(4, run_time=100)
    file = simple_file(
        "/run/vis.h5", "MPI-IO", range(4), size=MIB, count=14, at=1.0, lasts=98.0, collective=True
    )
    add_file(builder, file)
    builder.h5f("/run/vis.h5", OPENS=4, FLUSHES=4 * 7)
    _family, sizes = appended(characterized(builder))
    assert sizes == [8 * MIB] * 7
    assert "states: H5F flushes" in characterized(builder).families[0].sentences()


def test_mpi_io_syncs() -> None:
    builder = builder_of(4, run_time=100)
    file = simple_file("/run/vis", "MPI-IO", range(4), size=MIB, count=10, at=1.0, lasts=98.0)
    file.extra = {"SYNCS": 20}
    add_file(builder, file)
    family, sizes = appended(characterized(builder))
    assert sizes == [8 * MIB] * 5
    assert [family.content_of(k).fsyncs for k in range(5)] == [4] * 5


def test_appended_dataset() -> None:
    """A dataset of one chunk is written ten times over: it has ten states along a new dimension."""
    builder = builder_of(4, run_time=100)
    name = "/run/field.h5"
    builder.h5f(name, OPENS=4)
    slab = {
        "ACCESS1_ACCESS": 16 * 32 * 8,
        "ACCESS1_COUNT": 80,
        "ACCESS1_LENGTH_D5": 16,
        "ACCESS1_LENGTH_D4": 32,
    }
    chunk = {"CHUNK_SIZE_D1": 1, "CHUNK_SIZE_D2": 32, "CHUNK_SIZE_D3": 64, "DATASPACE_NDIMS": 3}
    builder.h5d(
        f"{name}:/ez", file=name, WRITES=80, BYTES_WRITTEN=10 * 64 * 32 * 8 * 2, SIZE_WRITE_AGG_1K_10K=80,
        DATASPACE_NPOINTS=64 * 32, DATATYPE_SIZE=16, ACCESS1_LENGTH_D3=1,
        F_WRITE_START_TIMESTAMP=1.0, F_WRITE_END_TIMESTAMP=99.0,
        **(slab | {"ACCESS1_ACCESS": 16 * 32 * 16, "ACCESS1_COUNT": 40}), **chunk,
    )  # fmt: skip
    builder.posix(name, OPENS=4, WRITES=80, BYTES_WRITTEN=10 * 64 * 32 * 16)
    found = characterized(builder)
    family, sizes = appended(found)
    assert len(sizes) == 10
    assert sum(sizes) == 10 * 64 * 32 * 16
    (arrays,) = family.content_of(0).arrays
    assert (arrays.dims, arrays.chunk, arrays.extendible) == ([64, 32, 1], [64, 32, 1], True)
    assert arrays.unlimited == 2
    assert [16, 32, 1] in [s.shape for s in arrays.access[0].slabs]


def test_bursts_in_the_trace_are_exact() -> None:
    """Three bursts of different sizes by two ranks, which only the trace shows."""
    builder = builder_of(2, run_time=100)
    ops: dict[int, list[Op]] = {0: [], 1: []}
    at = 0
    for k, (start, count) in enumerate([(5.0, 2), (40.0, 3), (90.0, 5)]):
        for n in range(count):
            for r in range(2):
                ops[r].append(Op(WRITE, at, (k + 1) * 100 * KIB, start + n, start + n + 1))
                at += (k + 1) * 100 * KIB
    add_file(builder, TrueFile("/run/movie", "POSIX", ops, 4.0, 99.0), trace=True)
    found = characterized(builder)
    family, sizes = appended(found)
    assert sizes == [4 * 100 * KIB, 6 * 200 * KIB, 10 * 300 * KIB]
    assert family.schedule.starts() == [5.0, 40.0, 90.0]
    assert family.schedule.ends() == [7.0, 43.0, 99.0]  # the file is closed at 99
    assert Assumption.STATE_SIZES not in family.assumed
    untraced = characterize(
        [log_of(builder)], CharacterizeOptions(include_program_start=True, use_trace=False)
    )
    assert not [f for f in untraced.families if f.family.lifetime is Lifetime.APPENDED]


def test_bursts_in_the_heatmap() -> None:
    builder = builder_of(2, run_time=100)
    file = simple_file("/run/movie", "POSIX", range(2), size=MIB, count=30, at=10.0, lasts=80.0)
    add_file(builder, file)
    bins = [0] * 100
    for at in (10, 11, 40, 41, 42, 88):
        bins[at] = 5 * MIB
    for rank in range(2):
        builder.heatmap("POSIX", rank, 1.0, bins)
    found = characterized(builder)
    family, sizes = appended(found)
    assert [round(s) for s in family.schedule.starts()] == [10, 40, 88]
    assert [round(s) for s in family.schedule.lengths()] == [2, 3, 2], (
        "the bursts, not where equal sizes would be; the last one until the file is closed"
    )
    (facts,) = (facts for facts in found.families if facts.family is family)
    assert [dump.end_s for dump in facts.dumps] == family.schedule.ends()
    assert sum(sizes) == 60 * MIB
    assert {Assumption.STATES, Assumption.STATE_SIZES} <= set(family.assumed)


@pytest.mark.parametrize(("interleaved", "header"), [(False, 0), (False, 6), (True, 0)])
def test_a_shared_file_overwritten_in_place(interleaved: bool, header: int) -> None:
    """Each of five states goes over the same bytes; the file is opened once. Rank 0 may write a header, too."""
    ranks, operations, bins = 4, 4, [0] * 100
    file = simple_file("/run/state", "POSIX", range(ranks))
    for rank, ops in file.ops.items():
        ops.clear()
        for state, call in itertools.product(range(5), range(operations)):
            place = call * ranks + rank if interleaved else rank * operations + call
            at = 10.0 + 16 * state + 0.5 * call
            bins[int(at)] += MIB
            ops.append(Op(WRITE, place * MIB, MIB, at, at + 0.4, False))
    if header:
        file.ops[0].insert(0, Op(WRITE, 0, header, 9.0, 9.1, False))
    builder = builder_of(ranks, run_time=100)
    add_file(builder, file)
    for rank in range(ranks):
        builder.heatmap("POSIX", rank, 1.0, [size // ranks for size in bins])
    (found,) = characterized(builder).workload.families
    assert (found.lifetime, found.schedule.dumps) == (Lifetime.OVERWRITTEN, 5)
    pattern = Pattern.INTERLEAVED if interleaved else Pattern.CONTIGUOUS
    for content in found.all_contents():
        (stream,) = (s for s in content.streams if s.sizes[0].size > header)
        assert stream.pattern is pattern
        assert [(e.total(ranks), e.size) for e in stream.sizes] == [(ranks * operations, MIB)]
        assert (stream.repeat, content.passes) == (1, 1)


def test_the_heatmap_less_other_files() -> None:
    """The bursts of checkpoints are not states of the file that is open over the run."""
    builder = builder_of(1, run_time=100)
    bins = [0.0] * 100
    for i in range(4):
        add_file(
            builder,
            simple_file(f"/run/chk.{i}", "POSIX", [0], size=MIB, count=40, at=20.0 * i + 12, lasts=1.0),
        )
        bins[20 * i + 12] += 40 * MIB
    add_file(builder, simple_file("/run/movie", "POSIX", [0], size=MIB, count=30, at=5.0, lasts=80.0))
    for at in (5, 45, 84):
        bins[at] += 10 * MIB
    builder.heatmap("POSIX", 0, 1.0, [int(b) for b in bins])
    family, _ = appended(characterized(builder))
    for start, bin_start in zip(family.schedule.starts(), (5, 45, 84), strict=True):
        assert bin_start <= start <= bin_start + 1


@pytest.mark.parametrize("bins", [[2**63 - 1] * 50, [-5] * 50, [0] * 50])
def test_heatmaps_that_cannot_be_true(bins: list[int]) -> None:
    builder = builder_of(1, run_time=100)
    add_file(builder, simple_file("/run/movie", "POSIX", [0], at=5.0, lasts=80.0))
    builder.heatmap("POSIX", 0, 2.0, bins)
    assert characterized(builder).workload.families


def test_states_and_checkpoints_in_the_plan() -> None:
    """An appended file keeps its operations, and so its collective calls of all ranks."""
    builder = builder_of(4, run_time=100)
    file = simple_file(
        "/run/vis.h5", "MPI-IO", range(4), size=MIB, count=13, at=1.0, lasts=98.0, collective=True
    )
    add_file(builder, file)
    builder.h5f("/run/vis.h5", OPENS=4, FLUSHES=4 * 5)
    found = characterized(builder)
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert totals[WRITE].operations == 52
    assert totals[WRITE].bytes == 52 * MIB


# Single rules


def test_growth_uses_the_previous_checkpoint() -> None:
    starts, sizes = [10.0, 20.0, 30.0], [100, 200, 400]
    assert [size_at(t, starts, sizes) for t in (0, 10, 19, 20, 99)] == [100, 100, 100, 200, 400]


@given(
    st.integers(0, 10**12),
    st.lists(st.floats(0, 1e4), min_size=1, max_size=40),
    st.lists(st.tuples(st.floats(0, 1e4), st.integers(1, 10**9)), max_size=20),
)
def test_state_sizes_are_the_whole(
    total: int, times: list[float], checkpoints: list[tuple[float, int]]
) -> None:
    checkpoints.sort()
    sizes = state_sizes(total, times, [c[0] for c in checkpoints], [c[1] for c in checkpoints])
    assert (sum(sizes), len(sizes)) == (total, len(times))


def test_bursts() -> None:
    starts = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 20.0])
    assert bursts(starts, starts + 0.1, 20.0) == [(0, 3), (3, 5), (5, 6)]
    # One long operation covers the pause.
    ends = starts + np.array([6.0, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert bursts(starts, ends, 20.0) == [(0, 5), (5, 6)]
    assert bursts(starts[:0], starts[:0], 1.0) == []


def test_small_bursts_join_their_neighbours() -> None:
    cut = [(0, 2), (2, 3), (3, 9), (9, 10)]
    assert joined_bursts(cut, [100, MIB, MIB, 96]) == [(0, 3), (3, 10)]
    assert joined_bursts(cut, [1, 1, 1, 1]) == [(0, 10)]
    assert joined_bursts(cut, [MIB] * 4) == cut


def test_bursts_in_a_timeline() -> None:
    timeline = Timeline(2.0, np.array([0, 9, 9, 0, 0, 9, 0.001, 0]))
    runs = bursts_in_timeline(timeline, Interval(0, 16))
    assert runs == [Interval(2, 6), Interval(10, 12)]


def test_states_are_where_the_heatmap_has_bytes() -> None:
    timeline = Timeline(1.0, np.array([0, 0, 10, 0, 0, 0, 0, 10, 0, 5.0]))
    placed = place_states(2, [10, 10], Interval(1, 9), timeline)
    assert [round(i.start) for i in placed] == [2, 7]
    assert all(b.start >= a.end for a, b in itertools.pairwise(placed))
    assert place_states(3, [1, 1, 1], Interval(0, 10), None) == [Interval(t, t) for t in (0, 5, 10)]


@given(
    st.lists(
        st.tuples(st.integers(1, 200), st.integers(0, 2**22)),
        min_size=1,
        max_size=8,
        unique_by=lambda p: p[1],
    ),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=12),
    st.booleans(),
    st.sampled_from(["unknown", "stdio", "collective", "plain"]),
)
def test_cutting_a_stream_keeps_operations_and_bytes(
    pairs: list[tuple[int, int]], sizes: list[int], two_ranks: bool, kind: str
) -> None:
    sizes = sorted(sizes)
    stream = Stream(
        direction=Direction.WRITE,
        sizes=[Entry(count=c * 4, size=s) for c, s in pairs],
        pattern=Pattern.INTERLEAVED,
        ranks=[(0, 1, 1)] if two_ranks else None,
        collective=kind == "collective",
    )
    level = Level.STDIO if kind in ("unknown", "stdio") else Level.POSIX
    parts = cut_stream(stream, sizes, 4, level, known=kind != "unknown")
    assert len(parts) == len(sizes)
    assert sum(c for part in parts for c, _ in part) == 4 * sum(c for c, _ in pairs)
    assert sum(c * s for part in parts for c, s in part) == 4 * sum(c * s for c, s in pairs)
    if kind == "collective":
        assert all(sum(c for c, _ in part) % (2 if two_ranks else 4) == 0 for part in parts)


def test_cut_states_follow_their_sizes() -> None:
    """Many small and few large operations are mixed so that each state has its bytes."""
    stream = Stream(
        direction=Direction.WRITE, sizes=[Entry(count=600, size=16 * KIB), Entry(count=400, size=160 * KIB)]
    )
    parts = cut_stream(stream, [1, 2, 3, 4], 1, Level.POSIX, known=True)
    moved = [sum(c * s for c, s in part) for part in parts]
    total = 600 * 16 * KIB + 400 * 160 * KIB
    assert moved == pytest.approx([total * w / 10 for w in (1, 2, 3, 4)], rel=0.15)
    assert [sum(c for c, _ in part) for part in parts] == [250] * 4


@pytest.mark.parametrize(
    ("ranks", "pairs", "sizes", "parts"),
    [
        # As many bytes as the states' sizes say, where the calls are equal.
        (1, [(1100, 8192)], [1, 10], [[(100, 8192)], [(1000, 8192)]]),
        (1, [(10, 100), (11, MIB)], [1, 10], [[(5, 100), (1, MIB)], [(5, 100), (10, MIB)]]),
        # The large calls of states that are said to be equal grow.
        (1, [(2, 8192), (1, MIB), (1, 2 * MIB)], [5, 5], [[(1, 8192), (1, MIB)], [(1, 8192), (1, 2 * MIB)]]),
        # Calls of all ranks stay together.
        (4, [(4, 4 * MIB), (4, 8 * MIB)], [7, 7], [[(4, 4 * MIB)], [(4, 8 * MIB)]]),
        # Small calls alone are data.
        (1, [(110, 80)], [1, 10], [[(10, 80)], [(100, 80)]]),
    ],
)
def test_calls_of_known_sizes_in_states_of_a_stream(
    ranks: int, pairs: list[tuple[int, int]], sizes: list[int], parts: list[list[tuple[int, int]]]
) -> None:
    entries = [Entry(count=count, size=size) for count, size in pairs]
    stream = Stream(direction=Direction.WRITE, sizes=entries)
    assert cut_stream(stream, sizes, ranks, Level.STDIO, known=True) == parts


# Series of sizes


def contents(sizes: list[int], *, count: int = 8, each: int | None = None) -> list[Content]:
    return [
        Content(opens=4, streams=[Stream(direction=WRITE, sizes=[Entry(count=each or count, size=size)])])
        for size in sizes
    ]


def test_growing_dumps_are_one_content_and_a_sequence_of_sizes() -> None:
    found = series_of(contents([2 * MIB, 3 * MIB, 4 * MIB]), Level.MPIIO, 4)
    assert found is not None
    content, sizes = found
    assert sizes == [8 * 2 * MIB, 8 * 3 * MIB, 8 * 4 * MIB]
    assert content == contents([2 * MIB])[0]


@pytest.mark.parametrize(
    "dumps",
    [
        contents([2 * MIB, 3 * MIB]),  # too few dumps
        [*contents([2 * MIB, 3 * MIB]), *contents([4 * MIB], count=9)],  # another number of operations
        [*contents([2 * MIB, 3 * MIB]), Content(opens=5, streams=contents([4 * MIB])[0].streams)],
        [*contents([2 * MIB, 3 * MIB]), Content(opens=4)],
    ],
)
def test_dumps_that_differ_in_more_than_size_are_listed(dumps: list[Content]) -> None:
    assert series_of(dumps, Level.MPIIO, 4) is None


@pytest.mark.parametrize(("extra", "alike"), [(1, True), (4, True), (8, False)])
def test_a_buffering_library_makes_an_extra_call_now_and_then(extra: int, alike: bool) -> None:
    """Up to one in two hundred of all calls, in a stream without a histogram."""
    dumps = [*contents([2 * MIB] * 6 + [3 * MIB], count=100), *contents([4 * MIB], count=100 + extra)]
    assert (series_of(dumps, Level.STDIO, 4) is not None) is alike


def test_a_series_keeps_the_histogram() -> None:
    """Small headers stay small while the data grow; as one pattern they would grow too."""
    dumps = [
        Content(
            streams=[
                Stream(direction=WRITE, sizes=[Entry(count=50, size=900), Entry(count=50, size=n * MIB)])
            ]
        )
        for n in (1, 2, 3)
    ]
    assert series_of(dumps, Level.MPIIO, 4) is None


def test_equal_files_of_ranks_stay_equal() -> None:
    """Scaled to 1990 bytes, five sizes of two ranks would no longer be in pairs, and the ranks' files differ."""
    sizes = [(20, 25, 29, 82, 819), (20, 25, 30, 82, 819), (20, 24, 29, 82, 819)]
    dumps = [
        Content(streams=[Stream(direction=WRITE, sizes=[Entry(count=2, size=size) for size in each])])
        for each in sizes
    ]
    assert series_of(dumps, Level.POSIX, 2) is not None
    assert series_of(dumps, Level.POSIX, 2, own_files=True) is None


def test_series_in_the_plan() -> None:
    found = characterized(growing_job())
    (family,) = [f.family for f in found.families if f.family.role is Role.CHECKPOINT]
    assert family.content is not None
    true = [4 * round(MIB * 1.5**i) for i in range(5)]
    assert family.sizes == true
    plan = resolve(found.workload, Options())
    dumps = [d for d in plan.dumps if plan.families[d.family].role is Role.CHECKPOINT]
    assert [
        sum(c * s for stream in plan.contents[d.content].streams for c, s in stream.entries) for d in dumps
    ] == true


@pytest.mark.parametrize("records", [0, 6])
def test_the_header_of_pnetcdf_belongs_to_the_first_dump(records: int) -> None:
    """Rank 0 writes it once, before the first of six states; a number of records that it writes for each stays there."""
    ops: dict[int, list[Op]] = {
        rank: [
            Op(WRITE, (4 * k + rank) * MIB, MIB, 10.0 + 10 * k, 11.0 + 10 * k, collective=True)
            for k in range(6)
        ]
        for rank in range(4)
    }
    ops[0] += [Op(WRITE, 0, 6200, 1.0, 1.1)] + [
        Op(WRITE, 4, 4, 11.0 + 10 * k, 11.1 + 10 * k) for k in range(records)
    ]
    builder = builder_of(4, run_time=80)
    add_file(builder, TrueFile("/run/x.nc", "MPI-IO", ops, opened=1.0, closed=70.0))
    builder.pnetcdf_file("/run/x.nc", CREATES=4, SYNCS=24)
    family, sizes = appended(characterized(builder))
    assert (family.interface, family.level, len(sizes)) == (Interface.PNETCDF, Level.MPIIO, 6)
    alone = [
        [(e.total(1), e.size) for s in family.content_of(k).streams if not s.collective for e in s.sizes]
        for k in range(6)
    ]
    each = [(1, 4)] if records else []
    assert [sorted(pairs) for pairs in alone] == [sorted([(1, 6200), *each])] + [each] * 5
