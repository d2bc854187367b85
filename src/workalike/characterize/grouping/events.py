"""Dumps and loads of a family: their files, direction and time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.grouping.families import DataFile
from workalike.characterize.grouping.growth import apportion
from workalike.facts.counters import opens_in
from workalike.facts.records import FileFacts
from workalike.facts.times import Interval, access_interval, closed_interval
from workalike.workload.model import MAX_DUMPS, Content, Direction, Level

BOTH = (Direction.WRITE, Direction.READ)


@dataclass
class Event:
    """One dump or load before its content is built. A file's calls may be shared out over `parts` events."""

    files: list[DataFile]
    directions: tuple[Direction, ...]
    interval: Interval
    part: int = 0
    parts: int = 1

    @property
    def written(self) -> int:
        return sum(d.written for d in self.files) if Direction.WRITE in self.directions else 0

    @property
    def read(self) -> int:
        return sum(d.read for d in self.files) if Direction.READ in self.directions else 0


def events_of(layers: Sequence[Sequence[DataFile]], run_time: float) -> list[Event]:
    """The events of all layers of a family, in order of time.

    Neighbouring events are joined where a workload cannot hold as many.
    """
    events = [e for layer in layers for e in events_of_layer(layer, len(layers) == 1, run_time)]
    while len(events) > MAX_DUMPS:
        events = [_joined(events[i : i + 2]) for i in range(0, len(events), 2)]
    return events


def events_of_layer(layer: Sequence[DataFile], only_layer: bool, run_time: float) -> list[Event]:
    """The events of one dump's files.

    A family's only file that is written and read at separate times is a dump and a load. It may be a check of what was
    written, or a restart file that is rewritten. Otherwise both directions are one event, in order of time.
    """
    level = layer[0].level
    spans = {d: _span(layer, level, d, run_time) for d in BOTH if any(d in f.directions for f in layer)}
    whole = Interval(min(f.interval.start for f in layer), max(f.interval.end for f in layer))
    known = {d: span for d, span in spans.items() if span is not None}
    order = tuple(
        sorted(spans, key=lambda d: (known[d].start if d in known else whole.start, d is Direction.READ))
    )
    if only_layer and len(known) == 2:
        first, second = known[order[0]], known[order[1]]
        if first.end <= second.start:
            end = _closed_between(layer, first, second, run_time)
            return [
                Event(list(layer), (order[0],), Interval(min(whole.start, first.start), end), 0, 2),
                Event(list(layer), (order[1],), Interval(second.start, max(second.end, whole.end)), 1, 2),
            ]
    return [Event(list(layer), order, whole)]


def _closed_between(layer: Sequence[DataFile], first: Interval, second: Interval, run_time: float) -> float:
    """The end of the first of two events: the first close, where that is between both. A sync before it belongs to it."""
    closed = [closed_interval(f.file, f.level, run_time) for f in layer]
    starts = [interval.start for interval in closed if interval is not None]
    between = len(starts) == len(layer) and first.end <= min(starts) and max(starts) <= second.start
    return max(starts) if between else first.end


def events_of_shifted(layer: Sequence[DataFile], run_time: float) -> list[Event]:
    """A dump, and a load by other ranks."""
    level = layer[0].level
    whole = Interval(min(f.interval.start for f in layer), max(f.interval.end for f in layer))
    return [
        Event(list(layer), (direction,), _span(layer, level, direction, run_time) or whole, part, 2)
        for part, direction in enumerate(BOTH)
    ]


def _joined(events: Sequence[Event]) -> Event:
    """Neighbouring events as one."""
    directions = tuple(dict.fromkeys(d for e in events for d in e.directions))
    interval = Interval(min(e.interval.start for e in events), max(e.interval.end for e in events))
    return Event([f for e in events for f in e.files], directions, interval)


def _span(layer: Sequence[DataFile], level: Level, direction: Direction, run_time: float) -> Interval | None:
    found = [access_interval(f.file, level, direction, run_time) for f in layer if direction in f.directions]
    spans = [i for i in found if i is not None]
    if not spans:
        return None
    return Interval(min(i.start for i in spans), max(i.end for i in spans))


def metadata_of_event(event: Event) -> Content:
    """The calls of an event that move no data, of library and file system. Two events of a file share its calls."""
    content = metadata_of([d.file for d in event.files], event.files[0].level)
    if event.parts == 1:
        return content
    part = shared_out(content, event.parts)[event.part]
    writes = Direction.WRITE in event.directions
    part.fsyncs, part.flushes = (content.fsyncs, content.flushes) if writes else (0, 0)
    return part


_Calls = tuple[str, dict[str, tuple[str, ...]]]
_MPIIO_CALLS: _Calls = ("MPI-IO", {"fsyncs": ("SYNCS",)})
_POSIX_SYNCS = ("FSYNCS", "FDSYNCS")
CALLS: dict[Level, list[list[_Calls]]] = {
    Level.STDIO: [
        [("STDIO", {"seeks": ("SEEKS",), "flushes": ("FLUSHES",)})],
        # of the file below a stream
        [("POSIX", {"stats": ("STATS",), "fsyncs": _POSIX_SYNCS, "maps": ("MMAPS",)})],
    ],
    Level.POSIX: [
        [("POSIX", {"stats": ("STATS",), "seeks": ("SEEKS",), "fsyncs": _POSIX_SYNCS, "maps": ("MMAPS",)})]
    ],
    Level.MPIIO: [[_MPIIO_CALLS]],
    Level.H5D: [[("H5F", {"flushes": ("FLUSHES",)}), _MPIIO_CALLS], [("H5D", {"flushes": ("FLUSHES",)})]],
    Level.PNETCDF: [[("PNETCDF_FILE", {"fsyncs": ("SYNCS",)}), _MPIIO_CALLS]],
}
"""Per level, for groups of modules: fields of a content and the counters that they add up, of the first module of the
group that a file has."""


def metadata_of(files: Sequence[FileFacts], level: Level) -> Content:
    """Opens, stats, seeks, syncs, flushes and maps at the family's level, summed over ranks."""
    calls: Counter[str] = Counter()
    for file in files:
        calls["opens"] += opens_of(file, level)
        for group in CALLS[level]:
            found = next(((file.modules[m], fields) for m, fields in group if m in file.modules), None)
            if found is not None:
                for name, counters in found[1].items():
                    calls[name] += sum(found[0].totals(counters))
    return Content(**calls)


def opens_of(file: FileFacts, level: Level) -> int:
    """Opens of a file at a level, summed over ranks; where its module does not count them, those of the level below."""
    modules = file.modules
    if level is Level.STDIO:
        return opens_in(modules["STDIO"], file.nprocs, modules.get("POSIX"))
    if level is Level.H5D and "H5F" in modules:
        return modules["H5F"].total("OPENS")
    if level is Level.PNETCDF and "PNETCDF_FILE" in modules:
        found = modules["PNETCDF_FILE"].total("OPENS") + modules["PNETCDF_FILE"].total("CREATES")
        if found:
            return found
    if level is not Level.POSIX and "MPI-IO" in modules:
        return modules["MPI-IO"].total("COLL_OPENS") + modules["MPI-IO"].total("INDEP_OPENS")
    return opens_in(modules["POSIX"], file.nprocs) if "POSIX" in modules else 0


def shared_out(content: Content, parts: int, opens_once: bool = False) -> list[Content]:
    """The calls of a content over `parts` events, as evenly as possible; with `opens_once`, all opens in the first."""
    each = content.seeks == "each"
    counted = ("opens", "stats", *(() if each else ("seeks",)), "fsyncs", "flushes", "maps")
    shares = {name: apportion(getattr(content, name), [1.0] * parts) for name in counted}
    if opens_once:
        shares["opens"] = [content.opens] + [0] * (parts - 1)
    # Calls that go with operations stay with them.
    amid = {"seeks": content.seeks} if each else {}
    return [
        content.model_copy(
            update={
                **{name: values[k] for name, values in shares.items()},
                **amid,
                "streams": [],
                "arrays": [],
                "passes": 1,
            }
        )
        for k in range(parts)
    ]
