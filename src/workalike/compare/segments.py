"""Whether a replica's trace (DXT) has the operations of its plan: those of each rank in each file, in their order.

Counters of a file are sums, so they do not tell which rank moved which bytes, nor in which order. A trace does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import numpy as np

from workalike import _core
from workalike.characterize.result import Characterization
from workalike.characterize.traces.traced_rows import TRACED
from workalike.compare.families import key_of_name
from workalike.compare.pairing import Pairing
from workalike.facts.counters import operations_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, IntArray
from workalike.facts.traces import DXT_OF_LEVEL
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan, PlanFamily
from workalike.predict.agreement import DeterminedRow
from workalike.predict.prediction import has_more_calls
from workalike.workload.model import Direction

MODULES = {level: DXT_OF_LEVEL[level] for level in TRACED}
MOST_CALLS = 2_000_000
"""Calls of a plan that are compared one by one."""
KINDS = {_core.kinds.index("write"): Direction.WRITE, _core.kinds.index("read"): Direction.READ}

Place = tuple[str, int, Direction]
"""A file's name without the plan's id, a rank, a direction."""
Segments = IntArray
"""int64[operations, 2]: offset and length, in order of time. Calls that move nothing, such as those of a rank that only
joins collective calls, are left out."""


def segment_rows(pairing: Pairing) -> Iterator[DeterminedRow]:
    """Operations of each family whose files have complete traces: how many the plan has, and how many are as planned.

    Those of a rank and file after the first that differs are not. Where all are, what is more than planned is added.
    """
    log, plan = pairing.replica_log, pairing.plan
    if log is None or len(log.logs) != 1:
        return
    traced = {
        family.id: found
        for family in plan.families
        if _has_plain_calls(plan, family) and (found := _traced(log, family)) is not None
    }
    if not traced:
        return
    core = core_plan(plan)
    if has_more_calls(core, MOST_CALLS):
        return
    planned = _planned(plan, core)
    for family in plan.families:
        found = traced.get(family.id)
        wanted = planned.get(family.id)
        if found is not None and wanted:
            key = (family.role, family.number)
            expected = sum(map(len, wanted.values()))
            yield DeterminedRow(
                (key,), MODULES[family.level], "SEGMENTS", expected, _as_planned(wanted, found)
            )


def _has_plain_calls(plan: Plan, family: PlanFamily) -> bool:
    """Whether each call has one offset and length in a trace, under the file's name in the plan."""
    contents = {dump.content for dump in plan.dumps if dump.family == family.id}
    plain = all(
        not plan.contents[place].arrays
        and all(stream.pieces == 1 and stream.buffered is None for stream in plan.contents[place].streams)
        for place in contents
    )
    return family.level in MODULES and plain and not (family.rename or family.backup)


def _traced(log: Characterization, family: PlanFamily) -> dict[Place, Segments] | None:
    """The trace of a family's files in the replica's log; None unless it has each operation that was counted."""
    table = log.logs[0].dxt(MODULES[family.level])
    if table is None or not table.offsets_valid:
        return None
    files = {file.record_id: file for file in _files_of(log, family)}
    counted: dict[tuple[int, Direction], int] = defaultdict(int)
    out: dict[Place, Segments] = {}
    for record in np.flatnonzero(np.isin(table.ids, np.array(list(files), dtype=np.uint64))).tolist():
        number = int(table.ids[record])
        for direction, part in zip((Direction.WRITE, Direction.READ), table.segments(record), strict=True):
            counted[number, direction] += len(part)
            moved = part[part["length"] > 0]
            if len(moved):
                place = (_name(files[number].name), int(table.ranks[record]), direction)
                out[place] = np.column_stack([moved["offset"], moved["length"]]).astype(np.int64)
    module = MODULE_OF_LEVEL[family.level]
    complete = all(
        counted[number, direction] == operations_of(file.modules[module], direction)
        for number, file in files.items()
        if module in file.modules
        for direction in Direction
    )
    return out if files and complete else None


def _files_of(log: Characterization, family: PlanFamily) -> Iterator[FileFacts]:
    for facts in log.families:
        for file in facts.files():
            if key_of_name(file.name) == (family.role, family.number):
                yield file


def _name(name: str) -> str:
    """A data file's name without its folder, and without the id of its plan, which stands before the extension."""
    *parts, _, extension = PurePosixPath(name).name.split(".")
    return ".".join([*parts, extension])


def _planned(plan: Plan, core: _core.Plan) -> dict[int, dict[Place, Segments]]:
    """The plan's operations by family, in the order in which each rank makes them."""
    families = np.array([dump.family for dump in plan.dumps])
    out: dict[int, dict[Place, Segments]] = defaultdict(dict)
    for rank in range(plan.ranks):
        columns = core.timeline(rank, MOST_CALLS)
        moved = np.isin(columns["kind"], list(KINDS)) & (columns["length"] > 0)
        kind, file, dump = (columns[name][moved] for name in ("kind", "file", "dump"))
        segments = np.column_stack([columns["offset"][moved], columns["length"][moved]])
        for number, direction in KINDS.items():
            for place in np.unique(file[kind == number]).tolist():
                rows = np.flatnonzero((kind == number) & (file == place))
                family = int(families[dump[rows[0]]])
                out[family][_name(columns["names"][place]), rank, direction] = segments[rows]
    return out


def _as_planned(wanted: Mapping[Place, Segments], found: Mapping[Place, Segments]) -> int:
    """Operations that are as planned; if all are, also those that nobody has planned."""
    nothing = np.empty((0, 2), dtype=np.int64)
    equal = 0
    for place, plan in wanted.items():
        trace = found.get(place, nothing)
        length = min(len(plan), len(trace))
        same = (plan[:length] == trace[:length]).all(axis=1)
        equal += length if same.all() else int(np.argmin(same))
    planned, traced = (sum(map(len, side.values())) for side in (wanted, found))
    return max(equal, traced) if equal == planned else equal
