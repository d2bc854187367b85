"""Files of a dump -> events, and the calls that move no data."""

from __future__ import annotations

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.grouping import events as events_module
from workalike.characterize.grouping.events import (
    Event,
    events_of,
    events_of_layer,
    metadata_of,
    metadata_of_event,
    opens_of,
    shared_out,
)
from workalike.characterize.grouping.families import DataFile
from workalike.facts.rank_sets import RankSet
from workalike.facts.times import Interval
from workalike.workload.model import Content, Direction, Interface, Level

WRITE, READ = Direction.WRITE, Direction.READ


def data_file(
    name: str = "a",
    life: tuple[float, float] = (1.0, 9.0),
    *,
    write: tuple[float, float] | None = None,
    read: tuple[float, float] | None = None,
    moved: tuple[int, int] | None = None,
    **counters: float,
) -> DataFile:
    """A file at POSIX with the times of its writes and reads; it moved 5 bytes in each direction that has times."""
    stamps = {
        f"F_{kind}_{end}_TIMESTAMP": at
        for kind, span in (("WRITE", write), ("READ", read))
        for end, at in zip(("START", "END"), span or (), strict=False)
    }
    file = file_facts(name, module_facts("POSIX", {-1: {**counters, **stamps}}))
    written, was_read = moved or (5 * (write is not None), 5 * (read is not None))
    return DataFile(file, Interface.POSIX, Level.POSIX, RankSet(None), Interval(*life), written, was_read)


def spans(events: list[Event]) -> list[tuple[tuple[Direction, ...], float, float, int, int]]:
    return [(e.directions, e.interval.start, e.interval.end, e.part, e.parts) for e in events]


def test_a_dump_lasts_from_its_first_to_its_last_file() -> None:
    layer = [data_file("a", (1.0, 5.0), write=(2.0, 3.0)), data_file("b", (0.5, 4.0), write=(1.0, 2.0))]
    (event,) = events_of_layer(layer, True, 10.0)
    assert spans([event]) == [((WRITE,), 0.5, 5.0, 0, 1)]
    assert (event.written, event.read) == (10, 0)
    assert [d.file.name for d in event.files] == ["a", "b"]


def test_written_and_then_read_are_two_events() -> None:
    layer = [data_file(write=(2.0, 3.0), read=(4.0, 6.0))]
    assert spans(events_of_layer(layer, True, 10.0)) == [
        ((WRITE,), 1.0, 3.0, 0, 2),
        ((READ,), 4.0, 9.0, 1, 2),
    ]
    assert spans(events_of_layer(layer, False, 10.0)) == [((WRITE, READ), 1.0, 9.0, 0, 1)]
    dump, load = events_of_layer(layer, True, 10.0)
    assert (dump.written, dump.read, load.written, load.read) == (5, 0, 0, 5)


def test_a_dump_that_is_closed_before_the_load_lasts_until_then() -> None:
    """The first close is its own; the last open that of the load."""
    stamps = {"F_CLOSE_START_TIMESTAMP": 3.5, "F_OPEN_END_TIMESTAMP": 3.9}
    layer = [data_file(write=(2.0, 3.0), read=(4.0, 6.0), **stamps)]
    assert spans(events_of_layer(layer, True, 10.0)) == [
        ((WRITE,), 1.0, 3.5, 0, 2),
        ((READ,), 4.0, 9.0, 1, 2),
    ]
    late = [
        data_file(write=(2.0, 3.0), read=(4.0, 6.0), F_CLOSE_START_TIMESTAMP=7.0, F_OPEN_END_TIMESTAMP=3.9)
    ]
    assert spans(events_of_layer(late, True, 10.0))[0] == ((WRITE,), 1.0, 3.0, 0, 2)


def test_read_and_then_written_are_two_events_where_they_do_not_overlap() -> None:
    touching = [data_file(read=(2.0, 3.0), write=(3.0, 6.0))]
    assert spans(events_of_layer(touching, True, 10.0)) == [
        ((READ,), 1.0, 3.0, 0, 2),
        ((WRITE,), 3.0, 9.0, 1, 2),
    ]
    mixed = [data_file(read=(2.0, 3.5), write=(3.0, 6.0))]
    assert spans(events_of_layer(mixed, True, 10.0)) == [((READ, WRITE), 1.0, 9.0, 0, 1)]
    together = [data_file(read=(2.0, 3.0), write=(2.0, 6.0))]
    assert spans(events_of_layer(together, True, 10.0)) == [((WRITE, READ), 1.0, 9.0, 0, 1)]


def test_life_of_a_file_is_longer_than_its_accesses_or_not() -> None:
    """An access outside the file's life, by the clock of another rank, counts too."""
    layer = [data_file(life=(3.0, 5.0), write=(2.0, 3.0), read=(4.0, 6.0))]
    assert spans(events_of_layer(layer, True, 10.0)) == [
        ((WRITE,), 2.0, 3.0, 0, 2),
        ((READ,), 4.0, 6.0, 1, 2),
    ]


def test_a_direction_without_times_is_one_event_with_the_other() -> None:
    layer = [data_file(write=(2.0, 3.0), moved=(5, 5))]
    assert spans(events_of_layer(layer, True, 10.0)) == [((READ, WRITE), 1.0, 9.0, 0, 1)]


def test_spans_of_a_layer_are_over_its_files() -> None:
    layer = [
        data_file("a", write=(2.0, 3.0), read=(6.0, 7.0)),
        data_file("b", write=(1.5, 5.0), read=(5.0, 6.5)),
    ]
    assert [(s, e) for _, s, e, _, _ in spans(events_of_layer(layer, True, 10.0))] == [(1.0, 5.0), (5.0, 9.0)]


def test_more_events_than_a_workload_holds_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "MAX_DUMPS", 2)
    layers = [
        [data_file(str(i), (i, i + 0.5), **{("write", "read")[i % 2]: (i, i + 0.5)})] for i in range(1, 6)
    ]  # type: ignore[arg-type]
    found = events_of(layers, 10.0)
    assert [(e.interval.start, e.interval.end) for e in found] == [(1.0, 4.5), (5.0, 5.5)]
    assert [e.directions for e in found] == [(READ, WRITE), (READ,)]
    assert [len(e.files) for e in found] == [4, 1]
    monkeypatch.setattr(events_module, "MAX_DUMPS", 5)
    assert len(events_of(layers, 10.0)) == 5


def test_a_layer_alone_may_be_a_dump_and_a_load() -> None:
    layer = [data_file(write=(2.0, 3.0), read=(4.0, 6.0))]
    assert len(events_of([layer], 10.0)) == 2
    assert len(events_of([layer, layer], 10.0)) == 2


@pytest.mark.parametrize(
    ("level", "records", "opens"),
    [
        (Level.POSIX, {"POSIX": {"OPENS": 9, "FILENOS": 2, "DUPS": 3}}, 4),
        (Level.POSIX, {"POSIX": {"OPENS": 3, "FILENOS": 5}}, 3),
        (Level.STDIO, {"STDIO": {"OPENS": 5, "FDOPENS": 2}}, 3),
        (Level.STDIO, {"STDIO": {"OPENS": 2, "FDOPENS": 2}}, 2),
        (Level.STDIO, {"STDIO": {"OPENS": 1, "FDOPENS": 3}}, 1),
        (Level.MPIIO, {"MPI-IO": {"COLL_OPENS": 4, "INDEP_OPENS": 3}, "POSIX": {"OPENS": 1}}, 7),
        (Level.MPIIO, {"POSIX": {"OPENS": 6}}, 6),
        (Level.POSIX, {"MPI-IO": {"COLL_OPENS": 4}, "POSIX": {"OPENS": 1}}, 1),
        (Level.H5D, {"H5F": {"OPENS": 8}, "MPI-IO": {"COLL_OPENS": 4}}, 8),
        (Level.H5D, {"MPI-IO": {"COLL_OPENS": 4}}, 4),
        (Level.PNETCDF, {"PNETCDF_FILE": {"OPENS": 2, "CREATES": 3}, "MPI-IO": {"COLL_OPENS": 4}}, 5),
        (Level.PNETCDF, {"PNETCDF_FILE": {}, "MPI-IO": {"COLL_OPENS": 4}}, 4),
        (Level.MPIIO, {}, 0),
    ],
)
def test_opens(level: Level, records: dict[str, dict[str, float]], opens: int) -> None:
    file = file_facts("a", *(module_facts(module, {-1: counters}) for module, counters in records.items()))
    assert opens_of(file, level) == opens


def test_calls_are_sums_over_files_of_the_first_module_that_counts_them() -> None:
    posix = module_facts("POSIX", {-1: {"OPENS": 1, "STATS": 2, "SEEKS": 3, "FSYNCS": 4, "FDSYNCS": 5}})
    found = metadata_of([file_facts("a", posix), file_facts("b", posix)], Level.POSIX)
    assert (found.opens, found.stats, found.seeks, found.fsyncs, found.flushes) == (2, 4, 6, 18, 0)
    h5f, mpiio = module_facts("H5F", {-1: {"FLUSHES": 3}}), module_facts("MPI-IO", {-1: {"SYNCS": 2}})
    assert metadata_of([file_facts("a", h5f, mpiio)], Level.H5D).model_dump(
        include={"flushes", "fsyncs"}
    ) == {
        "flushes": 3,
        "fsyncs": 0,
    }
    assert metadata_of([file_facts("a", mpiio)], Level.H5D).fsyncs == 2


def test_calls_of_a_file_are_shared_by_its_two_events() -> None:
    layer = [data_file(write=(2.0, 3.0), read=(4.0, 6.0), OPENS=3, STATS=5, SEEKS=8, FSYNCS=2)]
    dump, load = (metadata_of_event(e) for e in events_of_layer(layer, True, 10.0))
    assert (dump.opens + load.opens, dump.stats + load.stats, dump.seeks, load.seeks) == (3, 5, 4, 4)
    assert (dump.fsyncs, load.fsyncs) == (2, 0)
    whole = metadata_of_event(events_of_layer(layer, False, 10.0)[0])
    assert (whole.opens, whole.seeks, whole.fsyncs) == (3, 8, 2)


def test_calls_are_shared_out_evenly() -> None:
    content = Content(opens=7, stats=9, seeks=3, fsyncs=1, flushes=6)
    parts = shared_out(content, 3)
    assert [p.stats for p in parts] == [p.seeks * 3 for p in parts] == [3, 3, 3]
    assert sum(p.opens for p in parts) == 7
    assert [p.flushes for p in parts] == [2, 2, 2]
    held = shared_out(content, 3, opens_once=True)
    assert [p.opens for p in held] == [7, 0, 0]
    assert [p.stats for p in held] == [3, 3, 3]
