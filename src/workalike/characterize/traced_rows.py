"""What the trace (DXT) of a family says of each of its dumps: all operations, in the order in which they began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.characterize.result import FamilyFacts
from workalike.characterize.traced import Traces
from workalike.facts.counters import collective_of, operations_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, FloatArray, IntArray
from workalike.plan.tables import Members
from workalike.workload.model import Content, Direction, Family, Level
from workalike.workload.operation_table import OperationTable, joined

TRACED = (Level.POSIX, Level.MPIIO)
"""Levels of which DXT has a module of its own."""


@dataclass(frozen=True)
class TracedFamily:
    """The rows of each dump. `collective` says whether all of the operations are collective calls."""

    dumps: list[OperationTable]
    collective: bool

    def __len__(self) -> int:
        return sum(map(len, self.dumps))


@dataclass(frozen=True)
class _OfFile:
    """The operations of one file in order of their start. `starts` are seconds since the job's start."""

    rows: OperationTable
    starts: FloatArray


def traced_family(facts: FamilyFacts, nprocs: int, traces: Traces) -> TracedFamily | None:
    """The rows of a family's dumps by its traces.

    None unless the traces are complete, have offsets, and are of a family whose dumps can be told apart: each rank has
    one file in a dump, and the files are those of the family's sharing.
    """
    family = facts.family
    if family.counted_at not in TRACED or not all(map(_of_streams, family.all_contents())):
        return None
    directions = _directions(facts)
    collective = _collective(facts.files(), family.counted_at, directions)
    uses: dict[tuple[int, bool], list[int]] = defaultdict(list)
    files: dict[tuple[int, bool], FileFacts] = {}
    for place, dump in enumerate(facts.dumps):
        for file in dump.files:
            files[file.key] = file
            if place not in uses[file.key]:
                uses[file.key].append(place)
    if collective is None or not files:
        return None
    parts: list[list[tuple[OperationTable, FloatArray]]] = [[] for _ in facts.dumps]
    starts = np.array([dump.start_s for dump in facts.dumps])
    for key, file in files.items():
        found = _of_file(file, family.counted_at, directions, traces)
        if found is None:
            return None
        places = uses[key]
        begins = starts[places]
        if (np.diff(begins) < 0).any():
            return None
        dump_of = np.searchsorted(begins[1:], found.starts, side="right")
        for at, place in enumerate(places):
            which = np.flatnonzero(dump_of == at)
            if not len(which):
                return None
            parts[place].append((found.rows.chosen(which), found.starts[which]))
    members = Members.of(family.sharing.ranks, nprocs, family.sharing.mode, family.sharing.files)
    if not all(_files_of_sharing([rows for rows, _ in dump], members) for dump in parts):
        return None
    return TracedFamily([_in_order(dump) for dump in parts], collective)


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


def _collective(files: Sequence[FileFacts], level: Level, directions: Sequence[Direction]) -> bool | None:
    """Whether all operations are collective; None where only some are, because a trace does not say which."""
    facts = [file.modules[MODULE_OF_LEVEL[level]] for file in files if MODULE_OF_LEVEL[level] in file.modules]
    calls = sum(collective_of(part, d) for part in facts for d in directions) if level is Level.MPIIO else 0
    operations = sum(operations_of(part, d) for part in facts for d in directions)
    return None if 0 < calls < operations else calls > 0


def _of_file(
    file: FileFacts, level: Level, directions: Sequence[Direction], traces: Traces
) -> _OfFile | None:
    """The file's operations in these directions; None unless its traces are complete."""
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
        write = np.full(len(trace), direction is Direction.WRITE)
        found.append(OperationTable(trace.ranks, write, trace.offsets, trace.lengths))
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


def _in_order(parts: Sequence[tuple[OperationTable, FloatArray]]) -> OperationTable:
    """The rows of all files of a dump in order of time."""
    if len(parts) == 1:
        return parts[0][0]
    times = np.concatenate([starts for _, starts in parts])
    return joined([rows for rows, _ in parts]).chosen(np.argsort(times, kind="stable"))


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
