"""The pieces that states are made of: bursts, what libraries count, heatmaps, and where states are placed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.contents.arrays.dataspace import known_extents
from workalike.characterize.grouping.states import (
    Timeline,
    appended_dataset,
    appended_records,
    bursts,
    bursts_in_timeline,
    counted_by_library,
    evenly_spaced,
    joined_bursts,
    place_states,
    residual_timeline,
    states_in_trace,
)
from workalike.characterize.rules import StatesRule
from workalike.darshan import Heatmap
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.facts.traces import Trace
from workalike.workload.model import Direction, Level

LEAST = THRESHOLDS.state_least
GAP = max(THRESHOLDS.gap_least, 1.0)


def trace(*ops: tuple[float, float, int]) -> Trace:
    """(start, end, bytes) of rank 0."""
    n = len(ops)
    starts, ends = (np.array([op[i] for op in ops], dtype=float) for i in (0, 1))
    lengths = np.array([op[2] for op in ops], dtype=np.int64)
    return Trace(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), lengths, starts, ends)


def test_bursts_lie_between_gaps() -> None:
    gap = THRESHOLDS.gap_least
    starts = np.array([0.0, 1.0, 1.0 + 3 * gap, 9.0])
    ends = np.array([0.9, 1.0 + 2 * gap, 1.5 + 3 * gap, 9.5])
    assert bursts(starts, ends, 1.0) == [(0, 3), (3, 4)]  # a gap as long as the least one is none
    assert bursts(starts, ends, 100.0 / THRESHOLDS.gap_share) == [(0, 4)]
    assert bursts(np.zeros(0), np.zeros(0), 1.0) == []
    assert bursts(np.array([0.0, 1.0, 5.0]), np.array([9.0, 1.1, 5.1]), 1.0) == [
        (0, 3)
    ]  # the first covers all


@pytest.mark.parametrize(
    ("pause", "span", "apart"),
    [(0.3, 9.0, False), (0.45, 9.0, False), (0.8, 9.0, True), (8.0, 1000.0, False), (15.0, 1000.0, True)],
)
def test_a_pause_is_half_a_second_and_a_hundredth_of_the_span(pause: float, span: float, apart: bool) -> None:
    starts, ends = np.array([0.0, 1.0 + pause]), np.array([1.0, span])
    assert len(bursts(starts, ends, span)) == 1 + apart


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ([LEAST, LEAST, LEAST], [(0, 1), (1, 2), (2, 3)]),
        ([LEAST, 1, LEAST], [(0, 2), (2, 3)]),
        ([1, LEAST, LEAST], [(0, 2), (2, 3)]),
        ([1, 1, LEAST, LEAST], [(0, 3), (3, 4)]),
        ([LEAST - 1, LEAST, LEAST], [(0, 2), (2, 3)]),
        ([], []),
    ],
)
def test_small_bursts_are_part_of_their_neighbours(sizes: list[int], joined: list[tuple[int, int]]) -> None:
    assert joined_bursts([(i, i + 1) for i in range(len(sizes))], sizes) == joined


def test_states_of_a_trace_are_its_bursts() -> None:
    found = states_in_trace(trace((1.0, 2.0, LEAST), (2.0, 3.5, LEAST), (50.0, 51.0, LEAST), (50.5, 50.7, 5)))
    assert found is not None
    assert found.intervals == [Interval(1.0, 3.5), Interval(50.0, 51.0)]
    assert (found.sizes, found.cut) == ([2 * LEAST, LEAST + 5], [(0, 2), (2, 4)])
    assert found.rule.rule is StatesRule.TRACE
    assert states_in_trace(None) is None
    turned = states_in_trace(trace((3.0, 1.0, LEAST)))
    assert turned is not None and turned.intervals == [Interval(3.0, 3.0)]


def h5d(**counters: int) -> dict[str, float]:
    return {"CHUNK_SIZE_D1": 1, "DATASPACE_NPOINTS": 10, "DATATYPE_SIZE": 8, "WRITES": 9, **counters}


@pytest.mark.parametrize(
    ("records", "times"),
    [
        ([h5d(BYTES_WRITTEN=240)], 3),
        ([h5d(BYTES_WRITTEN=160)], 2),
        ([h5d(BYTES_WRITTEN=80)], None),  # once
        ([h5d(BYTES_WRITTEN=241)], None),
        ([h5d(BYTES_WRITTEN=240, CHUNK_SIZE_D1=0)], None),
        ([h5d(BYTES_WRITTEN=240, DATASPACE_NPOINTS=0)], None),
        ([h5d(BYTES_WRITTEN=240, DATATYPE_SIZE=0)], None),
        ([h5d(BYTES_WRITTEN=240), h5d(BYTES_WRITTEN=120, DATASPACE_NPOINTS=5)], 3),
        ([h5d(BYTES_WRITTEN=240), h5d(BYTES_WRITTEN=320)], None),
    ],
)
def test_datasets_written_in_full_several_times(records: list[dict[str, float]], times: int | None) -> None:
    file = file_facts("a", module_facts("H5D", dict(enumerate(records))))
    assert appended_dataset(file) == times
    assert counted_by_library(file, Level.H5D, 10**9) == (times and (times, StatesRule.DATASET))


def test_a_grown_dataset_without_an_element_has_no_extents() -> None:
    """A damaged record: its dataset had no elements, and neither has its type a size."""
    grown = {"DATASPACE_NDIMS": 1, "DATASPACE_NPOINTS": 0, "CHUNK_SIZE_D1": 4, "BYTES_WRITTEN": 320}
    access = {"ACCESS1_ACCESS": 40, "ACCESS1_LENGTH_D5": 5, "ACCESS1_COUNT": 8}
    known = {**grown, **access}
    whole = file_facts("a", module_facts("H5D", {0: h5d(**known)}))
    assert list(known_extents([whole]).values()) == [(40,)]
    assert known_extents([file_facts("a", module_facts("H5D", {0: h5d(**known, DATATYPE_SIZE=0)}))]) == {}


def test_a_file_without_datasets_appends_none() -> None:
    assert appended_dataset(file_facts("a", module_facts("POSIX", {0: {}}))) is None
    few = file_facts("a", module_facts("H5D", {0: h5d(BYTES_WRITTEN=240, WRITES=2)}))
    assert counted_by_library(few, Level.H5D, 10**9) is None  # more often than it was written


def counted(level: Level, records: dict[str, dict[str, float]], written: int = 100 * LEAST) -> object:
    modules = [module_facts(module, {-1: counters}) for module, counters in records.items()]
    found = counted_by_library(file_facts("a", *modules), level, written)
    return found and (found[0], found[1].name)


@pytest.mark.parametrize(
    ("level", "records", "found"),
    [
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 12, "COLL_OPENS": 4, "COLL_WRITES": 9}}, (3, "MPIIO_SYNCS")),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 12, "COLL_OPENS": 3, "INDEP_OPENS": 1, "COLL_WRITES": 9}}, (3, "MPIIO_SYNCS")),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 3, "COLL_WRITES": 9}}, (3, "MPIIO_SYNCS")),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 12, "COLL_OPENS": 4, "COLL_WRITES": 3}}, (3, "MPIIO_SYNCS")),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 12, "COLL_OPENS": 4, "COLL_WRITES": 2}}, None),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 4, "COLL_OPENS": 4, "COLL_WRITES": 9}}, None),
        (Level.MPIIO, {"MPI-IO": {"SYNCS": 8, "COLL_OPENS": 4, "COLL_WRITES": 9}}, (2, "MPIIO_SYNCS")),
        (Level.H5D, {"H5D": {"WRITES": 9}, "H5F": {"FLUSHES": 8, "OPENS": 2}}, (4, "H5F_FLUSHES")),
        (Level.PNETCDF, {"PNETCDF_VAR": {"COLL_WRITES": 9}, "PNETCDF_FILE": {"SYNCS": 6, "OPENS": 1, "CREATES": 2}}, (2, "PNETCDF_SYNCS")),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 9}}, (5, "STDIO_FLUSHES")),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 9, "READS": 1}}, None),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 9, "SEEKS": 5}}, (5, "STDIO_FLUSHES")),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 9, "SEEKS": 6}}, None),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 4}}, None),
        (Level.STDIO, {"STDIO": {"FLUSHES": 5, "WRITES": 5}}, (5, "STDIO_FLUSHES")),
        (Level.POSIX, {"POSIX": {"WRITES": 9}, "STDIO": {"FLUSHES": 5, "WRITES": 9}}, None),
    ],
)  # fmt: skip
def test_states_that_libraries_count(
    level: Level, records: dict[str, dict[str, float]], found: tuple[int, str] | None
) -> None:
    assert counted(level, records) == found
    if found:
        assert counted(level, records, LEAST * found[0]) == found
        assert counted(level, records, LEAST * found[0] - 1) is None


def records(
    variables: list[dict[str, float]], waits: int = 0, independent: int = 4, **whole: float
) -> int | None:
    """Of three ranks' file with such variables, after the header and three updates of the number of records."""
    return appended_records(
        file_facts(
            "a",
            module_facts("PNETCDF_VAR", dict(enumerate(variables))),
            module_facts("PNETCDF_FILE", {-1: {"CREATES": 3, "COLL_WAITS": waits, **whole}}),
            module_facts("MPI-IO", {-1: {"INDEP_WRITES": independent}}),
        )
    )


def variable(**counters: float) -> dict[str, float]:
    return {"IS_RECORD_VAR": 1, "BYTES_WRITTEN": 900, **counters}


def test_records_that_were_appended() -> None:
    blocking, posted = variable(COLL_WRITES=9), variable(NB_WRITES=9)
    assert records([blocking, blocking]) == records([posted, posted], waits=9) == 3
    assert records([posted, variable(NB_WRITES=18)], waits=9) == 3  # two records at a time
    other: list[int | None] = [
        records([posted], waits=3),  # all at once, so that their number grew once
        records([blocking], independent=2),
        records([blocking], independent=7),
        records([blocking, variable(COLL_WRITES=18)]),
        records([blocking, variable(COLL_WRITES=9, IS_RECORD_VAR=0)]),
        records([variable(COLL_WRITES=9, BYTES_READ=1)]),
        records([variable(COLL_WRITES=9, INDEP_WRITES=1)]),
        records([blocking], OPENS=3),
    ]
    assert other == [None] * len(other)


LINE = Timeline(2.0, np.array([0.0, 4.0, 4.0, 0.0, 8.0, 0.0]))


def test_busy_bins_around_a_moment() -> None:
    assert LINE.busy_around(3.0) == LINE.busy_around(5.9) == Interval(2.0, 6.0)
    assert LINE.busy_around(8.0) == Interval(8.0, 10.0)
    assert LINE.busy_around(0.5) == Interval(0.0, 6.0)  # the moment's own bin, and those that follow it
    assert LINE.busy_around(-5.0) == Interval(0.0, 6.0)
    assert LINE.busy_around(99.0) == Interval(8.0, 12.0)
    full = Timeline(1.0, np.ones(3))
    assert full.busy_around(1.5) == Interval(0.0, 3.0)


def test_times_of_positions() -> None:
    assert LINE.cumulative().tolist() == [0, 0, 4, 8, 8, 16, 16]
    assert [LINE.time_at(p) for p in (2.0, 4.0, 6.0, 12.0)] == [3.0, 4.0, 5.0, 9.0]
    assert LINE.inside(Interval(3.0, 8.0)).bytes.tolist() == [0, 4, 4, 0, 0, 0]
    assert LINE.inside(Interval(4.0, 8.1)).bytes.tolist() == [0, 0, 4, 0, 8, 0]


def heatmap(*rows: list[int], width: float = 2.0) -> Heatmap:
    values = np.array(rows, dtype=np.int64)
    return Heatmap("POSIX", width, np.arange(len(rows)), 2 * values, values)


def residual(rows: list[list[int]], *others: tuple[Interval, int], latest: float = 100.0) -> object:
    found = residual_timeline(heatmap(*rows), Direction.READ, list(others), latest)
    return found and found.bytes.tolist()


def test_a_residual_is_what_other_files_did_not_write() -> None:
    rows = [[4, 4, 0], [4, 0, 2]]
    assert residual(rows) == [8, 4, 2]
    assert residual(rows, (Interval(0.0, 4.0), 8)) == [4, 0, 2]
    assert residual(rows, (Interval(1.0, 4.0), 9)) == [5, 0, 2]  # 3 a second
    assert residual(rows, (Interval(1.0, 1.0), 5)) == [3, 4, 2]
    assert residual(rows, (Interval(6.0, 6.0), 5)) == [8, 4, 2]  # after the last bin
    assert residual(rows, (Interval(5.0, 5.0), 5)) == [8, 4, 0]
    written = residual_timeline(heatmap(*rows), Direction.WRITE, [], 100.0)
    assert written is not None and written.bytes.tolist() == [16, 8, 4]


def test_a_heatmap_that_cannot_be_true_tells_nothing() -> None:
    assert residual([[4, 4, 0]], latest=3.0) == [4, 4, 0]
    assert residual([[4, 4, 0]], latest=2.9) is None
    assert residual([[4, -1, 0]]) is None
    assert residual([[]]) is None


def test_bursts_of_a_heatmap() -> None:
    assert bursts_in_timeline(LINE, Interval(0.0, 12.0)) == [Interval(2.0, 6.0), Interval(8.0, 10.0)]
    # Less than a bin away from the first and the last operation, they are the ends.
    assert bursts_in_timeline(LINE, Interval(0.5, 11.5)) == [Interval(0.5, 6.0), Interval(8.0, 11.5)]
    assert bursts_in_timeline(LINE, Interval(3.0, 9.0)) == [Interval(3.0, 6.0), Interval(8.0, 9.0)]
    assert bursts_in_timeline(LINE, Interval(0.0, 2.0)) == []
    assert bursts_in_timeline(Timeline(2.0, np.zeros(3)), Interval(0.0, 6.0)) == []


def test_states_without_a_heatmap_are_spread_evenly() -> None:
    assert place_states(3, [1, 1, 1], Interval(2.0, 6.0), None) == [Interval(t, t) for t in (2.0, 4.0, 6.0)]
    assert place_states(1, [1], Interval(2.0, 6.0), None) == [Interval(2.0, 2.0)]
    empty = Timeline(2.0, np.zeros(6))
    assert place_states(2, [1, 1], Interval(2.0, 6.0), empty) == [Interval(2.0, 2.0), Interval(6.0, 6.0)]


WITHIN = Interval(0.5, 9.0)


@pytest.mark.parametrize(
    ("starts", "even"),
    [
        ([0.0, 2.0, 4.0, 6.0, 8.0], True),
        ([0.5, 3.0, 4.0, 7.0, 8.0], True),
        ([0.5, 2.0, 4.0, 8.0, 8.5], False),  # the fourth begins later than its bin ends
        ([0.5, 8.0], False),
    ],
)
def test_states_at_even_distances(starts: list[float], even: bool) -> None:
    binned = [Interval(start, start + 0.9) for start in starts]
    spaced = [Interval(0.5 + 2.1 * k, 0.6 + 2.1 * k) for k in range(len(starts))]
    found = evenly_spaced(binned, WITHIN, 1.0, 0.1)
    assert (found is not None) is even
    assert [(i.start, i.end) for i in found or ()] == [
        (pytest.approx(i.start), pytest.approx(i.end)) for i in spaced if even
    ]


def test_long_states_keep_their_bins() -> None:
    long = [Interval(2.0 * k, 2.0 * k + 1.5) for k in range(5)]
    assert evenly_spaced(long, WITHIN, 1.0, 0.1) is None
    short = [Interval(2.0 * k, 2.0 * k + 0.9) for k in range(5)]
    assert evenly_spaced(short, WITHIN, 1.0, 5.0) is None  # their calls take longer than there is time


def test_states_are_where_the_heatmap_has_their_bytes() -> None:
    two = place_states(2, [50, 50], Interval(0.0, 12.0), LINE)
    assert [(i.start, i.end) for i in two] == [
        (pytest.approx(2 + 4 * THRESHOLDS.state_begins), pytest.approx(2 + 4 * THRESHOLDS.state_ends)),
        (pytest.approx(8 + 2 * THRESHOLDS.state_begins), pytest.approx(8 + 2 * THRESHOLDS.state_ends)),
    ]
    late = place_states(2, [50, 50], Interval(3.0, 9.0), LINE)
    assert late[0].start >= 3.0 and late[1].end <= 9.0
    assert all(a.end <= b.start for a, b in itertools.pairwise(late))
