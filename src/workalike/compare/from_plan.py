"""A side from a plan or a workload, as counted by the core."""

from __future__ import annotations

from workalike.compare.from_record import counters_of
from workalike.compare.side import Side, SideDump, SideFamily, span_of
from workalike.compare.waiting import NO_TIMERS, Waiting
from workalike.plan.core import core_plan
from workalike.plan.meshes import bytes_of_plan
from workalike.plan.plan_schema import Plan, PlanContent
from workalike.predict.determined import Counters, merge
from workalike.record.counted import counted_dumps
from workalike.record.run_record import RecordDump
from workalike.workload.model import Direction, Workload


def with_durations(side: Side, workload: Workload) -> Side:
    """The side of a workload's own plan, with the times of its schedule. A workload has no timers of calls."""
    for family in workload.families:
        planned = side.families[(family.role, family.number)]
        starts, ends = family.schedule.starts(), family.schedule.ends()
        for dump, start, end in zip(planned.dumps, starts, ends, strict=True):
            dump.open_s = end - start if end > start else None
        planned.waiting = Waiting(None, NO_TIMERS)
    side.run_s = workload.runtime or None
    side.calls = span_of(side.families.values())
    return side


def side_of_plan(plan: Plan) -> Side:
    """The side of a plan: the counters that follow from it, at each family's level."""
    side = Side(plan.ranks, {}, "plan", basis="plan")
    core = core_plan(plan)
    layout = {
        f.id: (members, files)
        for f, members, files in zip(plan.families, core.members, core.files, strict=True)
    }
    by_id = {f.id: SideFamily(f.role, f.number, f.level) for f in plan.families}
    for family in plan.families:
        side.families[(family.role, family.number)] = by_id[family.id]
    seen: set[tuple[int, int]] = set()
    counted = list(zip(plan.dumps, counted_dumps(plan, core), strict=True))
    for dump, line in sorted(counted, key=lambda pair: (pair[0].family, pair[0].index)):
        planned, content = by_id[dump.family], plan.contents[dump.content]
        counters = _counters(RecordDump.model_validate(line), planned.module, content)
        planned.fitted = planned.fitted or content.fit is not None or content.mesh is not None
        planned.dumps.append(
            SideDump(counters["BYTES_WRITTEN"], counters["BYTES_READ"], dump.start_s, dump.end_s)
        )
        merge(planned.modules.setdefault(planned.module, {}), counters)
        if (dump.family, dump.file) not in seen:
            seen.add((dump.family, dump.file))
            members, files = layout[dump.family]
            if content.dataset is not None:
                members, files = members * content.dataset.files, content.dataset.files
            planned.accessors += members
            planned.files += files
    return side


def _counters(dump: RecordDump, module: str, content: PlanContent) -> Counters:
    """A dump's counters. Where only bytes are given, the library decides its operations and they are left out."""
    counters = counters_of(dump, module)
    if content.fit is None and content.mesh is None:
        return counters
    if content.fit is not None:
        counters["BYTES_WRITTEN"] = content.fit.bytes
    if content.mesh is not None:
        writes = content.mesh.direction is Direction.WRITE
        counters["BYTES_WRITTEN" if writes else "BYTES_READ"] = bytes_of_plan(content.mesh)
    calls = ("OPENS", "SEEKS", "STATS", "SYNC", "FLUSHES", "BYTES_READ", "BYTES_WRITTEN")
    return {name: value for name, value in counters.items() if name.endswith(calls) or "SYNCS" in name}
