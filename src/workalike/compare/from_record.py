"""The replica's side from a record: the engine's own counters at each family's level."""

from __future__ import annotations

from workalike.compare.side import (
    Side,
    SideDump,
    SideFamily,
    add_sums,
    histogram_names,
    span_of,
    sum_name,
)
from workalike.compare.timers import add, timers_of_dump
from workalike.compare.waiting import NO_LOG, NOT_PERFORMED, Waiting
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.predict.determined import Counters, merge
from workalike.predict.prediction import Key
from workalike.record.run_record import LevelBytes, Record, RecordDump
from workalike.workload.model import Direction, Level

_BYTES = ("BYTES_READ", "BYTES_WRITTEN")
NAMES: dict[str, tuple[str, ...]] = {
    "POSIX": (
        *_BYTES,
        *(
            "OPENS",
            "READS",
            "WRITES",
            "SEEKS",
            "STATS",
            "MMAPS",
            "FSYNCS",
            "MAX_BYTE_READ",
            "MAX_BYTE_WRITTEN",
        ),
        *("SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES"),
    ),
    "STDIO": (*_BYTES, "OPENS", "READS", "WRITES", "SEEKS", "FLUSHES", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"),
    "MPI-IO": (*_BYTES, "COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES"),
    "H5D": (*_BYTES, "READS", "WRITES"),
    "PNETCDF_VAR": (*_BYTES, "COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES"),
}
"""Counters of the record that have the same name and meaning in a Darshan module."""


def counters_of(dump: RecordDump, module: str) -> Counters:
    """A dump's counters under the names of the family's module."""
    out = {name: dump.counter(name) for name in NAMES[module] if name in dump.counters}
    out["BYTES_READ"], out["BYTES_WRITTEN"] = dump.bytes_read, dump.bytes_written
    if module == "MPI-IO":
        if "OPENS" in dump.counters:
            out[sum_name(module, "OPENS")] = dump.counter("OPENS")
        out["SYNCS"] = dump.counter("FSYNCS") + dump.counter("FLUSHES")
    for direction, name in ((Direction.READ, "SIZE_READ"), (Direction.WRITE, "SIZE_WRITE")):
        names = histogram_names(module, direction)
        if names and name in dump.counters:
            out.update(zip(names, dump.bins(name), strict=True))
    add_sums(module, out)
    return out


def _counters_below(moved: LevelBytes, module: str) -> Counters:
    """Bytes, and calls where they were counted, at a level other than the family's."""
    out = {"BYTES_READ": moved.bytes_read, "BYTES_WRITTEN": moved.bytes_written}
    for name in ("coll_writes", "indep_writes", "coll_reads", "indep_reads"):
        count = getattr(moved, name)
        if count is not None:
            out[name.upper()] = count
    add_sums(module, out)
    return out


def side_of_record(record: Record, levels: dict[Key, Level]) -> Side:
    """The side of a record. `levels` has the level at which each family is counted."""
    families: dict[Key, SideFamily] = {}
    for dump in sorted(record.dumps, key=lambda d: d.index):
        key = (dump.role, dump.number)
        level = levels.get(key, _guess(dump))
        family = families.setdefault(key, SideFamily(dump.role, dump.number, level))
        family.dumps.append(
            SideDump(
                dump.bytes_written,
                dump.bytes_read,
                dump.start_s,
                dump.end_s,
                None if record.counts_only else dump.io_s or dump.end_s - dump.start_s,
            )
        )
        if record.counts_only:
            family.waiting = Waiting(None, NOT_PERFORMED)
        else:
            family.waiting = Waiting(None, NO_LOG)
            counted = MODULE_OF_LEVEL[next(iter(dump.levels), level)]
            add(family.timers.setdefault(counted, {}), timers_of_dump(dump))
            if record.time_scale:
                family.lates.append(max(0.0, dump.late_s))
        merge(family.modules.setdefault(family.module, {}), counters_of(dump, family.module))
        for below, moved in dump.levels.items():
            if below is not level:
                other = family.modules.setdefault(MODULE_OF_LEVEL[below], {})
                merge(other, _counters_below(moved, MODULE_OF_LEVEL[below]))
    full = record.counts_only and record.scale.ranks == 1 and record.scale.bytes == 1
    side = Side(record.plan_ranks, families, "engine", basis="plan" if full else "record")
    if not record.counts_only:
        side.run_s, side.calls = record.wall_s, span_of(families.values())
    return side


def _guess(dump: RecordDump) -> Level:
    """The level whose bytes are the dump's, where neither plan nor original says it."""
    for level, moved in dump.levels.items():
        if (moved.bytes_written, moved.bytes_read) == (dump.bytes_written, dump.bytes_read):
            return level
    return Level.MPIIO
