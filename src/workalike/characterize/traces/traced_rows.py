"""What the trace (DXT) of a family says of each of its dumps: all operations, in the order in which they began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from workalike.characterize.contents.streams.streams import calls_of_ranks
from workalike.characterize.result import FamilyFacts
from workalike.facts.counters import collective_of, operations_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray, ModuleFacts
from workalike.facts.traces import Trace, Traces
from workalike.plan.tables import Members
from workalike.workload.model import Content, Direction, Family, Level, Reader
from workalike.workload.operation_table import OperationTable, joined

TRACED = (Level.POSIX, Level.MPIIO)
"""Levels of which DXT has a module of its own."""


@dataclass(frozen=True)
class TracedFamily:
    """The rows of each dump, and when each operation began, in seconds since the job's start."""

    dumps: list[OperationTable]
    starts: list[FloatArray]

    @property
    def collective(self) -> bool | None:
        """Whether all operations are collective calls, or none; None where only some are."""
        calls = sum(int(np.count_nonzero(rows.collective)) for rows in self.dumps)
        return None if 0 < calls < len(self) else calls > 0

    def __len__(self) -> int:
        return sum(map(len, self.dumps))


@dataclass(frozen=True)
class _OfFile:
    """The operations of one file in order of their start. `starts` are seconds since the job's start."""

    rows: OperationTable
    starts: FloatArray


def traced_family(facts: FamilyFacts, nprocs: int, traces: Traces) -> TracedFamily | None:
    """The rows of a family's dumps by its traces. Where ranks read the files of others, these are the ranks of the rows.

    None unless the traces are complete, have offsets, and are of a family whose dumps can be distinguished: each rank has
    one file in a dump, and the files are those of the family's sharing.
    """
    family = facts.family
    if family.counted_at not in TRACED or not all(map(_of_streams, family.all_contents())):
        return None
    directions = _directions(facts)
    uses: dict[tuple[int, bool], list[int]] = defaultdict(list)
    files: dict[tuple[int, bool], FileFacts] = {}
    for place, dump in enumerate(facts.dumps):
        for file in dump.files:
            files[file.key] = file
            if place not in uses[file.key]:
                uses[file.key].append(place)
    if not files:
        return None
    parts: list[list[tuple[OperationTable, FloatArray]]] = [[] for _ in facts.dumps]
    starts = np.array([dump.start_s for dump in facts.dumps])
    writers = writers_of(family, nprocs)
    for key, file in files.items():
        found = _of_file(file, family.counted_at, directions, traces, nprocs, writers)
        if found is None:
            return None
        places = uses[key]
        dump_of = _by_time(found, starts[places]) if writers is None else _by_turns(found, len(places))
        if dump_of is None:
            return None
        for at, place in enumerate(places):
            which = np.flatnonzero(dump_of == at)
            if not len(which):
                return None
            parts[place].append((found.rows.chosen(which), found.starts[which]))
    members = Members.in_job(family.sharing.ranks, nprocs, family.sharing.mode, family.sharing.files)
    if not all(_files_of_sharing([rows for rows, _ in dump], members) for dump in parts):
        return None
    ordered = [_in_order(dump) for dump in parts]
    return TracedFamily([rows for rows, _ in ordered], [begun for _, begun in ordered])


def writers_of(family: Family, nprocs: int) -> IntArray | None:
    """int64[ranks], the rank whose file each rank reads; None where each rank reads its own."""
    if family.reader is not Reader.NEIGHBOUR:
        return None
    sharing = family.sharing
    members = Members.in_job(sharing.ranks, nprocs, sharing.mode, sharing.files).ranks
    out = np.arange(nprocs, dtype=np.int64)
    out[members] = np.roll(members, -family.shift)
    return out


def _by_time(found: _OfFile, begins: FloatArray) -> IntArray | None:
    """int64[operations], which of the dumps, that begin at these times, has an operation."""
    if (np.diff(begins) < 0).any():
        return None
    return np.searchsorted(begins[1:], found.starts, side="right")


def _by_turns(found: _OfFile, dumps: int) -> IntArray | None:
    """As `_by_time`, of a file that is written and read back in turn: the times of its dumps are not known.

    Readers may be at work before all of one dump is written, where there is a single one.
    """
    writes = found.rows.writes
    turns = np.concatenate([[0], np.cumsum(writes[1:] != writes[:-1])])
    if writes[0] and turns[-1] + 1 == dumps:
        return turns
    return np.where(writes, 0, 1) if dumps == len(Direction) else None


def _of_streams(content: Content) -> bool:
    return bool(content.streams) and not (content.arrays or content.fit or content.mesh)


def _directions(facts: FamilyFacts) -> list[Direction]:
    """The directions in which the family's files belong to it: the others may be of a family at another level."""
    moved = {
        Direction.WRITE: sum(d.bytes_written for d in facts.dumps),
        Direction.READ: sum(d.bytes_read for d in facts.dumps),
    }
    streams = {s.direction for content in facts.family.all_contents() for s in content.streams}
    return [direction for direction in Direction if moved[direction] or direction in streams]


def collective_calls(
    trace: Trace, module: ModuleFacts, direction: Direction, nprocs: int
) -> npt.NDArray[np.bool_] | None:
    """Which operations of a file's trace are collective calls: bool[operations]; None where that is not known.

    The counters say how many of each rank are. Where a rank has other operations as well, its collective calls are those
    through a file view, if these are as many, or those that begin when the other ranks' calls of the same number do.
    """
    calls = calls_of_ranks([module], direction, nprocs)
    out = np.zeros(len(trace), dtype=bool)
    if not any(calls.values()):
        return out
    if collective_of(module, direction) == len(trace):
        return ~out
    rows_of = {int(rank): np.flatnonzero(trace.ranks == rank) for rank in np.unique(trace.ranks)}
    wanted = {rank: calls.get(rank, calls.get(-1, 0)) for rank in rows_of}
    plain = [rows for rank, rows in rows_of.items() if len(rows) == wanted[rank]]
    for rank, rows in rows_of.items():
        if len(rows) == wanted[rank]:
            out[rows] = True
        elif trace.viewed is not None and np.count_nonzero(trace.viewed[rows]) == wanted[rank]:
            out[rows[trace.viewed[rows]]] = True
        elif wanted[rank]:
            others = [trace.starts[other] for other in plain if len(other) == wanted[rank]]
            if not others:
                return None
            times = np.median(np.stack(others), axis=0)
            nearest = np.abs(trace.starts[rows][None, :] - times[:, None]).argmin(axis=1)
            if (np.diff(nearest) <= 0).any():
                return None
            out[rows[nearest]] = True
    return out


def _of_file(
    file: FileFacts,
    level: Level,
    directions: Sequence[Direction],
    traces: Traces,
    nprocs: int,
    writers: IntArray | None,
) -> _OfFile | None:
    """The file's operations in these directions; None unless its traces are complete.

    Reads get the ranks of `writers`, which the module's counters have, too.
    """
    module = file.modules.get(MODULE_OF_LEVEL[level])
    if module is None:
        return None
    found: list[OperationTable] = []
    starts: list[FloatArray] = []
    for direction in directions:
        if not operations_of(module, direction):
            continue
        trace = traces.of_file(file, level, direction)
        if trace is None or not trace.offsets_known:
            return None
        if writers is not None and direction is Direction.READ:
            trace = replace(trace, ranks=writers[trace.ranks])
        collective = collective_calls(trace, module, direction, nprocs)
        if collective is None:
            return None
        write = np.full(len(trace), direction is Direction.WRITE)
        found.append(OperationTable(trace.ranks, write, trace.offsets, trace.lengths, collective))
        starts.append(trace.starts)
    if not found:
        return None
    times = np.concatenate(starts)
    order = np.argsort(times, kind="stable")
    return _OfFile(joined(found).chosen(order), times[order])


def _files_of_sharing(files: Sequence[OperationTable], members: Members) -> bool:
    """Whether the ranks of these files share them as the members do."""
    seen: dict[int, int] = {}
    for number, rows in enumerate(files):
        ranks = np.unique(rows.ranks)
        place = np.searchsorted(members.ranks, ranks)
        if (place >= len(members.ranks)).any() or (members.ranks[place] != ranks).any():
            return False
        for slot in np.unique(members.file_of(place)).tolist():
            if seen.setdefault(slot, number) != number:
                return False
    return len(set(seen.values())) == len(seen) == len(files)


def _in_order(parts: Sequence[tuple[OperationTable, FloatArray]]) -> tuple[OperationTable, FloatArray]:
    """The rows of all files of a dump in order of time."""
    if len(parts) == 1:
        return parts[0]
    times = np.concatenate([starts for _, starts in parts])
    order = np.argsort(times, kind="stable")
    return joined([rows for rows, _ in parts]).chosen(order), times[order]


def same_rows(found: OperationTable, wanted: OperationTable) -> bool:
    """Whether each rank has the same operations in the same order."""
    if len(found) != len(wanted):
        return False
    first, second = found.by_rank(), wanted.by_rank()
    columns: list[tuple[IntArray, IntArray]] = [
        (getattr(first, name), getattr(second, name)) for name in ("ranks", "writes", "offsets", "lengths")
    ]
    return all(np.array_equal(a, b) for a, b in columns)


def has_rules(family: Family) -> bool:
    """Whether the family's contents are rules, not rows of a table."""
    return all(content.table is None for content in family.all_contents())
