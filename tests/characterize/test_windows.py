"""When in a dump its reads and writes are: by counters, by traces, and left out where they say nothing new."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts
from hypothesis import given
from hypothesis import strategies as st
from known_logs import find

from workalike.characterize import characterize
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.rank_times import share_of
from workalike.characterize.times.stated_windows import DumpTimes, Span, scheduled, tolerance
from workalike.characterize.times.windows import movers, with_windows
from workalike.darshan import LogBuilder, open_log
from workalike.facts.gather import gather
from workalike.facts.jobs import JobFacts, job_of
from workalike.facts.records import FileFacts
from workalike.facts.times import Accesses, Interval, accesses_of, metadata_seconds
from workalike.facts.traces import Trace, Traces
from workalike.workload.model import (
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Lifetime,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Stream,
    Turns,
    Window,
)

WRITE, READ = Direction.WRITE, Direction.READ
RUN = 100.0  # seconds, of which a thousandth is not stated


def record(
    write: tuple[float, float, float] | None = None,
    read: tuple[float, float, float] | None = None,
    meta: float = 0.0,
) -> dict[str, float]:
    """A record with (start, end, time) of each direction, in seconds since the job's start; 8 bytes by 4 calls."""
    out = {"F_META_TIME": meta}
    for times, kind, moved in ((write, "WRITE", "BYTES_WRITTEN"), (read, "READ", "BYTES_READ")):
        if times is not None:
            names = (f"F_{kind}_START_TIMESTAMP", f"F_{kind}_END_TIMESTAMP", f"F_{kind}_TIME")
            out |= dict(zip(names, times, strict=True)) | {moved: 8, f"{kind}S": 4}
    return out


def file_of(name: str, ranks: dict[int, dict[str, float]]) -> FileFacts:
    return file_facts(name, module_facts("POSIX", ranks))


def family_of(
    files: list[list[FileFacts]],
    spans: list[tuple[float, float]],
    directions: list[tuple[Direction, ...]],
    *,
    fsyncs: int = 0,
    compute_time: float = 0.0,
    sharing: Sharing | None = None,
) -> FamilyFacts:
    """A family at POSIX with a dump for each span."""
    contents = [
        Content(fsyncs=fsyncs, streams=[Stream(direction=d, sizes=[Entry(count=4, size=2)]) for d in of_dump])
        for of_dump in directions
    ]
    family = Family(
        role=Role.OUTPUT,
        interface=Interface.POSIX,
        lifetime=Lifetime.REUSED,
        sharing=sharing or Sharing(),
        schedule=Schedule(
            start=[a for a, _ in spans], duration=[b - a for a, b in spans], compute_time=compute_time
        ),
        contents=contents,
    )
    dumps = [
        DumpFacts(8 * (WRITE in d), 8 * (READ in d), a, b, files=own)
        for own, (a, b), d in zip(files, spans, directions, strict=True)
    ]
    return FamilyFacts(family, dumps)


def one_dump(
    ranks: dict[int, dict[str, float]], *, directions: tuple[Direction, ...] = (WRITE,), **fields: object
) -> FamilyFacts:
    """A dump from 10 to 20 s."""
    return family_of([[file_of("a", ranks)]], [(10.0, 20.0)], [directions], **fields)  # type: ignore[arg-type]


def windows_of(
    facts: FamilyFacts, traces: Traces | None = None, nprocs: int = 4
) -> tuple[Schedule, list[str]]:
    job = JobFacts([], nprocs, RUN)
    (found,), warnings = with_windows([facts], job, traces or Traces(job, use=False))
    return found.family.schedule, warnings


def test_of_one_rank() -> None:
    schedule, warnings = windows_of(one_dump({0: record((12.0, 15.0, 0.5), meta=1.0)}))
    assert schedule.writes == Window(first=2.0, last=5.0, busy=0.5)
    assert (schedule.reads, schedule.metadata, warnings) == (None, 0.25, [])  # over the family's four ranks


def test_of_several_ranks_the_first_start_and_the_mean_of_ends_and_timers() -> None:
    ranks = {0: record((12.0, 15.0, 0.5)), 1: record((11.0, 14.0, 1.5)), 2: record()}
    assert windows_of(one_dump(ranks))[0].writes == Window(first=1.0, last=4.5, busy=1.0)


def test_one_slow_rank_does_not_make_the_others_wait() -> None:
    files = [file_of(str(r), {r: record((10.0, 11.0 if r else 20.0, 0.5))}) for r in range(9)]
    facts = family_of([files], [(10.0, 20.0)], [(WRITE,)])
    assert windows_of(facts, nprocs=9)[0].writes == Window(last=2.0, busy=0.5)


def test_a_reduced_record_is_of_the_ranks_that_the_content_names() -> None:
    facts = one_dump({-1: record((12.0, 15.0, 2.0))})
    assert windows_of(facts)[0].writes == Window(first=2.0, last=5.0, busy=0.5)
    stream = facts.family.content_of(0).streams[0].model_copy(update={"ranks": [(0, 1, 1)]})
    contents = [Content(streams=[stream])]
    two = FamilyFacts(facts.family.model_copy(update={"contents": contents}), facts.dumps)
    assert windows_of(two)[0].writes == Window(first=2.0, last=5.0, busy=1.0)


def test_each_direction_has_its_own() -> None:
    both = {0: record((10.0, 12.0, 2.0), (17.0, 20.0, 0.5))}
    schedule, _ = windows_of(one_dump(both, directions=(WRITE, READ)))
    assert schedule.writes == Window(last=2.0)  # all of it
    assert schedule.reads == Window(first=7.0, busy=0.5)


def test_several_files_of_a_dump_are_added() -> None:
    files = [file_of("a", {0: record((12.0, 13.0, 0.5))}), file_of("b", {0: record((14.0, 18.0, 1.0))})]
    facts = family_of([files], [(10.0, 20.0)], [(WRITE,)])
    assert windows_of(facts)[0].writes == Window(first=2.0, last=8.0, busy=1.5)


def test_syncs_beyond_the_last_write_are_metadata() -> None:
    ranks = {0: record((12.0, 13.0, 4.0))}
    synced, warnings = windows_of(one_dump(ranks, fsyncs=1))
    assert (synced.writes, synced.metadata, warnings) == (Window(first=2.0, last=3.0), 3.0, [])


@pytest.mark.parametrize(
    ("times", "window"),
    [
        ((15.0, 12.0, 0.5), Window(first=5.0, last=5.0)),  # it ends before it begins
        ((12.0, 13.0, 4.0), Window(first=2.0, last=3.0)),  # the timer is larger than the window
        ((5.0, 25.0, 12.0), None),  # beyond the dump on both sides
    ],
)
def test_contradictions_are_bounded_and_stated(
    times: tuple[float, float, float], window: Window | None
) -> None:
    schedule, warnings = windows_of(one_dump({0: record(times)}))
    assert schedule.writes == window
    (warning,) = warnings
    assert warning.startswith("times of 1 reads or writes of dumps contradict each other")


@pytest.mark.parametrize("stamp", [float("nan"), float("inf"), -3.0, 0.0, 1e9])
def test_impossible_timestamps_give_no_window(stamp: float) -> None:
    assert windows_of(one_dump({0: record((stamp, 15.0, 0.5))}))[0].writes is None


def test_a_timer_that_the_version_does_not_have_is_not_known() -> None:
    assert windows_of(one_dump({0: record((12.0, 15.0, 0.5), meta=-1.0)}))[0].metadata is None
    file = file_facts(
        "a", module_facts("H5D", {0: {"F_META_TIME": -1.0}}), module_facts("H5F", {0: {"F_META_TIME": 3.0}})
    )
    assert metadata_seconds(file, Level.H5D) == 3.0


@pytest.mark.parametrize("stamp", [-7.0, 1e6])
def test_impossible_times_of_a_log_are_stated(stamp: float, tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=1, run_time=10.0)
    builder.posix(
        "/s/out",
        rank=0,
        OPENS=1,
        WRITES=10,
        BYTES_WRITTEN=10 << 20,
        SIZE_WRITE_100K_1M=10,
        F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=stamp,
        F_WRITE_END_TIMESTAMP=5.0,
        F_CLOSE_END_TIMESTAMP=9.0,
    )
    builder.write(tmp_path / "app.darshan")
    found = characterize([open_log(tmp_path / "app.darshan")])
    assert found.warnings == ["module POSIX: impossible timestamps are treated as not measured"]
    assert found.workload.families[0].schedule.writes is None


@pytest.mark.parametrize("timer", [float("nan"), float("inf"), -3.0])
def test_impossible_timers_count_as_none(timer: float) -> None:
    assert windows_of(one_dump({0: record((12.0, 15.0, timer))}))[0].writes == Window(
        first=2.0, last=5.0, busy=0.0
    )


def test_a_dump_without_length_has_no_window() -> None:
    facts = family_of([[file_of("a", {0: record((10.0, 10.0, 0.5))})]], [(10.0, 10.0)], [(WRITE,)])
    assert windows_of(facts)[0] == facts.family.schedule


def test_dumps_that_share_a_file_share_its_timers() -> None:
    file = file_of("a", {0: record((10.0, 40.0, 2.0), meta=5.0)})
    facts = family_of([[file], [file]], [(10.0, 20.0), (30.0, 40.0)], [(WRITE,), (WRITE,)])
    schedule, _ = windows_of(facts, nprocs=1)
    assert schedule.writes == Window(busy=1.0)
    assert schedule.metadata is None


def test_the_first_and_the_last_of_dumps_that_share_a_file_are_known() -> None:
    """When the first operation of all begins, and the last one ends."""
    file = file_of("a", {0: record((13.0, 48.0, 2.0))})
    facts = family_of([[file]] * 3, [(10.0, 20.0), (30.0, 40.0), (45.0, 50.0)], [(WRITE,)] * 3)
    writes = windows_of(facts, nprocs=1)[0].writes
    assert writes is not None
    assert (writes.first, writes.last) == ([3.0, 0.0, 0.0], [10.0, 10.0, 3.0])


def test_a_shared_timer_that_does_not_fit_is_no_metadata() -> None:
    """Equal bytes, and so equal shares of the timer, in a short dump and in a long one; which one synced is not known."""
    file = file_of("a", {0: record((10.0, 40.0, 8.0))})
    facts = family_of([[file], [file]], [(10.0, 11.0), (30.0, 40.0)], [(WRITE,), (WRITE,)], fsyncs=1)
    assert windows_of(facts, nprocs=1)[0].metadata is None


def test_a_dump_and_a_load_of_one_file_do_not() -> None:
    file = file_of("a", {0: record((11.0, 19.0, 1.0), (32.0, 40.0, 2.0))})
    facts = family_of([[file], [file]], [(10.0, 20.0), (30.0, 40.0)], [(WRITE,), (READ,)])
    schedule, _ = windows_of(facts, nprocs=1)
    assert schedule.writes == Window(first=1.0, last=9.0, busy=1.0)
    assert schedule.reads == Window(first=2.0, busy=2.0)


def test_syncs_between_a_dump_and_a_load_of_one_file_are_metadata() -> None:
    """The timer of writes counts the syncs, and the load has its own."""
    file = file_of("a", {0: record((11.0, 15.0, 8.0), (32.0, 40.0, 2.0))})
    facts = family_of([[file], [file]], [(10.0, 20.0), (30.0, 40.0)], [(WRITE,), (READ,)], fsyncs=1)
    schedule, warnings = windows_of(facts, nprocs=1)
    assert schedule.writes == Window(first=1.0, last=5.0)
    assert (schedule.metadata, warnings) == ([4.0, 0.0], [])


class ByHand(Traces):
    """Traces of one file's writes."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(JobFacts([], 4, RUN))
        self.trace = trace

    def of_file(self, file: FileFacts, level: Level, direction: Direction) -> Trace | None:
        return self.trace if direction is WRITE else None


def trace_of(starts: list[float], ranks: list[int], length: int = 4) -> Trace:
    """Operations of half a second."""
    n = len(starts)
    begun = np.array(starts)
    places = np.arange(n) * length
    return Trace(np.array(ranks), places, np.full(n, length), begun, begun + 0.5)


def test_a_trace_tells_dumps_of_one_file_apart() -> None:
    file = file_of("a", {0: record((10.0, 40.0, 2.0))})
    facts = family_of([[file], [file]], [(10.0, 20.0), (30.0, 40.0)], [(WRITE,), (WRITE,)])
    trace = trace_of([11.0, 13.0, 35.0, 37.5], [0, 0, 1, 2])
    schedule, _ = windows_of(facts, ByHand(trace))
    assert schedule.writes == Window(first=[1.0, 5.0], last=[3.5, 6.75], busy=[1.0, 0.5])


def test_a_trace_with_other_bytes_in_a_dump_does_not() -> None:
    file = file_of("a", {0: record((10.0, 40.0, 2.0))})
    facts = family_of([[file], [file]], [(10.0, 20.0), (30.0, 40.0)], [(WRITE,), (WRITE,)])
    trace = trace_of([11.0, 13.0, 14.0, 37.5], [0, 0, 0, 0])
    assert windows_of(facts, ByHand(trace), nprocs=1)[0].writes == Window(busy=1.0)


def test_ranks_that_take_turns_have_none() -> None:
    turns = Sharing(mode=SharingMode.GROUPS, files=2, turns=Turns.BATON)
    facts = one_dump({0: record((12.0, 15.0, 0.5))}, sharing=turns)
    assert windows_of(facts)[0] == facts.family.schedule


def test_passes_of_both_directions_have_none() -> None:
    both = {0: record((12.0, 15.0, 0.5), (13.0, 16.0, 0.5))}
    for passes, stated in ((1, True), (2, False)):
        facts = one_dump(both, directions=(WRITE, READ))
        content = facts.family.content_of(0).model_copy(update={"passes": passes})
        facts.family = facts.family.model_copy(update={"contents": [content]})
        assert (windows_of(facts)[0].writes is not None) == stated


@pytest.mark.parametrize(
    ("times", "compute_time", "stated"),
    [
        ((10.04, 19.96, 0.5), 9.5, False),  # spread over all of the dump
        ((10.04, 19.96, 0.5), 9.0, True),  # with other compute times
        ((10.15, 19.96, 0.5), 9.5, True),
        ((10.04, 19.85, 0.5), 9.5, True),
    ],
)
def test_only_what_is_new_is_stated(
    times: tuple[float, float, float], compute_time: float, stated: bool
) -> None:
    facts = one_dump({0: record(times)}, compute_time=compute_time)
    assert (windows_of(facts, nprocs=1)[0].writes is not None) == stated


def test_a_window_that_is_all_of_its_dump_is_not_empty() -> None:
    whole, late = record((10.0, 20.0, 10.0), (15.0, 20.0, 5.0)), record((10.0, 20.0, 10.0))
    both, _ = windows_of(one_dump({0: whole}, directions=(WRITE, READ)), nprocs=1)
    assert (both.writes, both.reads) == (None, Window(first=5.0))
    computing, _ = windows_of(one_dump({0: late}, compute_time=4.0), nprocs=1)
    assert computing.writes == Window(busy=10.0)


def test_of_half_a_dump_the_time_between_its_operations_is_not_known() -> None:
    ranks = {0: record((10.0, 20.0, 1.0), (0.0, 0.0, 0.0))}
    facts = one_dump(ranks, directions=(WRITE, READ))
    assert windows_of(facts, nprocs=1)[0] == facts.family.schedule


def test_a_long_open_is_nothing_new() -> None:
    facts = one_dump({0: record((15.0, 20.0, 5.0), meta=5.0)})
    assert windows_of(facts, nprocs=1)[0] == facts.family.schedule


def spans(*found: tuple[float, float, float] | None) -> list[DumpTimes]:
    """Dumps that write, with what is known of it."""
    return [DumpTimes({} if times is None else {WRITE: Span(*times)}, frozenset({WRITE})) for times in found]


def even(dumps: int, duration: float, compute_time: float = 0.0) -> Schedule:
    return Schedule(count=dumps, every=20.0, duration=duration, compute_time=compute_time)


def test_equal_values_are_one_number() -> None:
    times = spans((2.0, 5.0, 0.1), (2.05, 5.05, 0.11), (1.95, 4.95, 0.09))
    assert scheduled(even(3, 10.0), times, RUN).writes == Window(first=2.0, last=5.0, busy=0.1)
    times = spans((2.0, 5.0, 0.1), (3.0, 5.05, 0.11), (1.95, 4.95, 0.09))
    assert scheduled(even(3, 10.0), times, RUN).writes == Window(first=[2.0, 3.0, 1.95], last=5.0, busy=0.1)


def test_a_mean_is_in_order_with_each_value() -> None:
    times = spans((2.0, 2.0, 0.0), (2.09, 2.09, 0.0), (2.0, 7.0, 0.0))
    found = scheduled(even(3, 10.0), times, RUN).writes
    assert found == Window(first=[2.0, 2.09, 2.0], last=[2.0, 2.09, 7.0], busy=0.0)


def test_a_dump_without_such_operations_has_the_mean() -> None:
    times = [*spans((2.0, 5.0, 0.1), (3.0, 8.0, 0.1)), DumpTimes()]
    found = scheduled(even(3, 10.0), times, RUN).writes
    assert found == Window(first=[2.0, 3.0, 2.5], last=[5.0, 8.0, 6.5], busy=0.1)


finite = st.floats(0, 100)


@given(st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=6), st.sampled_from([0.0, 1.0, 1e3]))
def test_any_spans_give_a_valid_schedule(found: list[tuple[float, float, float]], run_time: float) -> None:
    times = [DumpTimes({WRITE: Span(*sorted(times[:2]), times[2])}, frozenset({WRITE})) for times in found]
    schedule = scheduled(even(len(found), 100.0), times, run_time)
    if schedule.writes is not None:
        for (first, last, _), dump in zip(schedule.writes.of_dumps(schedule.lengths()), times, strict=True):
            span, least = dump.spans[WRITE], tolerance(run_time) + 0.05
            assert abs(first - span.first) <= least and abs(last - span.last) <= least


def test_an_unknown_window_is_all_of_its_dump() -> None:
    found = scheduled(even(2, 10.0, 4.0), spans((2.0, 5.0, 0.5), None), RUN)
    assert found.writes == Window(first=[2.0, 0.0], last=[5.0, 10.0], busy=[0.5, 6.0])


def test_without_a_run_time_a_millisecond_counts() -> None:
    assert scheduled(even(1, 0.1), spans((0.0009, 0.1, 0.0991)), 0.0).writes is None
    assert scheduled(even(1, 0.1), spans((0.0011, 0.1, 0.0989)), 0.0).writes is not None


def test_movers() -> None:
    def stream(ranks: list[tuple[int, int, int]] | None, direction: Direction = WRITE) -> Stream:
        return Stream(direction=direction, sizes=[Entry(count=1, size=1)], ranks=ranks)

    assert movers(Content(streams=[stream([(0, 6, 2)]), stream(None, READ)]), WRITE, 9) == 4
    assert movers(Content(streams=[stream([(0, 6, 2)]), stream([(0, 1, 1)])]), WRITE, 9) == 5
    assert movers(Content(streams=[stream([(0, 6, 2)]), stream(None)]), WRITE, 9) == 9
    assert movers(Content(), WRITE, 9) == 9


def test_datasets_of_a_library_have_its_times() -> None:
    """The timestamps of H5D, and those of MPI-IO where it has none."""
    h5d = {"F_WRITE_START_TIMESTAMP": 3.0, "F_WRITE_END_TIMESTAMP": 4.0, "F_WRITE_TIME": 0.5, "WRITES": 2}
    below = {"F_WRITE_START_TIMESTAMP": 3.5, "F_WRITE_END_TIMESTAMP": 3.9, "F_WRITE_TIME": 0.2}
    file = file_facts("a", module_facts("H5D", {1: h5d}), module_facts("MPI-IO", {-1: below}))
    assert accesses_of(file, Level.H5D, WRITE, RUN) == Accesses(Interval(3.0, 4.0), 0.5, {1: 4.0}, False)
    file.modules["H5D"].fcounters[:] = 0
    assert accesses_of(file, Level.H5D, WRITE, RUN) == Accesses(Interval(3.5, 3.9), 0.2, None, False)


@pytest.mark.parametrize(("counter", "contradictory"), [("COLL_WRITES", True), ("INDEP_WRITES", False)])
def test_ranks_of_a_collective_call_meet(counter: str, contradictory: bool) -> None:
    ranks = {
        rank: {
            "F_WRITE_START_TIMESTAMP": 3.0 + rank,
            "F_WRITE_END_TIMESTAMP": 3.5 + rank,
            counter: 2,
        }
        for rank in (0, 1)
    }
    found = accesses_of(file_facts("a", module_facts("MPI-IO", ranks)), Level.MPIIO, WRITE, RUN)
    assert found == Accesses(Interval(3.0, 4.5), 0.0, {0: 3.5, 1: 4.5}, contradictory)


def test_of_a_log(tmp_path: Path) -> None:
    """A file that is opened at 1 s, written from 3 to 5 s and closed at 9 s."""
    builder = LogBuilder(nprocs=1, run_time=10.0)
    builder.posix(
        "/s/out",
        rank=0,
        OPENS=1,
        WRITES=10,
        BYTES_WRITTEN=10 << 20,
        SIZE_WRITE_1M_4M=10,
        F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=3.0,
        F_WRITE_END_TIMESTAMP=5.0,
        F_CLOSE_END_TIMESTAMP=9.0,
        F_WRITE_TIME=0.125,
        F_META_TIME=0.0625,
    )
    builder.write(tmp_path / "app.darshan")
    (family,) = characterize([open_log(tmp_path / "app.darshan")]).workload.families
    assert family.schedule.starts() == [1.0]
    assert family.schedule.writes == Window(first=2.0, last=4.0, busy=0.125)
    assert family.schedule.metadata == 0.0625


@pytest.mark.parametrize(
    "name", ["dxt.darshan", "sample-dxt-simple", "random-reads-1-dxt", "nwchem-scratch-4-dxt2"]
)
def test_counters_have_the_times_of_the_traces(name: str) -> None:
    """First start, last end and seconds inside calls of every file that is traced completely."""
    job = job_of([open_log(find(name))])
    traces, seen = Traces(job), 0
    for file in gather(job, []).files():
        for level in (Level.POSIX, Level.MPIIO):
            for direction in Direction:
                trace = traces.of_file(file, level, direction)
                if trace is None:
                    continue
                seen += 1
                found = accesses_of(file, level, direction, job.run_time)
                assert found is not None
                times = (found.interval.start, found.interval.end, found.seconds)
                spent = float((trace.ends - trace.starts).sum())
                assert times == pytest.approx((trace.starts.min(), trace.ends.max(), spent), rel=1e-4)
                assert found.ends is None or set(found.ends) == set(trace.ranks.tolist())
    assert seen


def test_a_moment_in_a_span_without_length_is_its_begin() -> None:
    assert share_of(Interval(2.0, 2.0), 2.0) == 0.0
    assert share_of(Interval(2.0, 4.0), 3.0) == 0.5
    assert share_of(Interval(2.0, 4.0), 9.0) == 1.0
