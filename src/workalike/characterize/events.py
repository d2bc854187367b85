"""Dumps and loads of a family: which files, which direction, when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.facts import FileFacts, ModuleFacts
from workalike.characterize.families import DataFile
from workalike.characterize.times import Interval, access_interval
from workalike.workload.model import Content, Direction, Level

BOTH = (Direction.WRITE, Direction.READ)


@dataclass
class Event:
    """One dump or load before its content is built; `part` of `parts` when a file's counters are shared out."""

    files: list[DataFile]
    directions: tuple[Direction, ...]
    interval: Interval
    parts: int = 1


def events_of_layer(layer: Sequence[DataFile], alone: bool, run_time: float) -> list[Event]:
    """The events of one dump's files.

    A file written and read at separate times is a dump and a load (a check of what was written, a restart that is
    rewritten later), when it is the family's only one; otherwise both directions are one event, in order of time.
    """
    level = layer[0].level
    spans = {d: _span(layer, level, d, run_time) for d in BOTH if any(d in f.directions for f in layer)}
    whole = Interval(min(f.interval.start for f in layer), max(f.interval.end for f in layer))
    known = {d: span for d, span in spans.items() if span is not None}
    order = tuple(
        sorted(spans, key=lambda d: (known[d].start if d in known else whole.start, d is Direction.READ))
    )
    if alone and len(known) == 2:
        first, second = known[order[0]], known[order[1]]
        if first.end <= second.start:
            return [
                Event(list(layer), (order[0],), Interval(min(whole.start, first.start), first.end), 2),
                Event(list(layer), (order[1],), Interval(second.start, max(second.end, whole.end)), 2),
            ]
    return [Event(list(layer), order, whole)]


def _span(layer: Sequence[DataFile], level: Level, direction: Direction, run_time: float) -> Interval | None:
    found = [access_interval(f.file, level, direction, run_time) for f in layer if direction in f.directions]
    spans = [i for i in found if i is not None]
    if not spans:
        return None
    return Interval(min(i.start for i in spans), max(i.end for i in spans))


def metadata_of(files: Sequence[FileFacts], level: Level) -> Content:
    """Opens, stats, seeks, syncs and flushes at the family's level, totals over ranks."""
    content = Content()
    for file in files:
        modules = file.modules
        if level is Level.STDIO:
            stdio = modules["STDIO"]
            content.opens += max(0, stdio.total("OPENS") - stdio.total("FDOPENS")) or stdio.total("OPENS")
            content.seeks += stdio.total("SEEKS")
            content.flushes += stdio.total("FLUSHES")
        elif level is Level.POSIX:
            posix = modules["POSIX"]
            content.opens += posix_opens(posix)
            content.stats += posix.total("STATS")
            content.seeks += posix.total("SEEKS")
            content.fsyncs += posix.total("FSYNCS") + posix.total("FDSYNCS")
        else:
            if level is Level.H5D and "H5F" in modules:
                content.opens += modules["H5F"].total("OPENS")
                content.flushes += modules["H5F"].total("FLUSHES")
            elif "MPI-IO" in modules:
                mpi = modules["MPI-IO"]
                content.opens += mpi.total("COLL_OPENS") or mpi.total("INDEP_OPENS")
                content.fsyncs += mpi.total("SYNCS")
            else:
                content.opens += sum(len(m.ranks) for name, m in modules.items() if name == "H5D")
    return content


def posix_opens(posix: ModuleFacts) -> int:
    """Real opens: the counter includes fileno and dup where the log's version counts those (facts B, "Op counts")."""
    return max(0, posix.total("OPENS") - posix.total("FILENOS") - posix.total("DUPS"))
