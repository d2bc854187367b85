"""A side out of a plan or a workload: what the rules say, summed without expanding them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from workalike.compare.collective import (
    collective_calls,
    counted_together,
    files_of_dump,
    opened_together,
)
from workalike.compare.side import (
    Counters,
    Side,
    SideDump,
    SideFamily,
    add_sums,
    histogram_names,
    merge,
    sum_name,
)
from workalike.darshan.bins import bin_of
from workalike.plan import ranks as rank_sets
from workalike.plan.meshes import bytes_of_plan
from workalike.plan.model import Plan, PlanContent, PlanFamily
from workalike.workload.model import Direction, Workload

_WORDS = {Direction.READ: ("READS", "BYTES_READ"), Direction.WRITE: ("WRITES", "BYTES_WRITTEN")}
Operation = tuple[Direction, bool, int, int]  # direction, collective, operations, size


def with_durations(side: Side, workload: Workload) -> Side:
    """The side of a workload's own plan, its dumps lasting as long as the schedule says."""
    for family in workload.families:
        mine = side.families[(family.role, family.number)]
        starts, ends = family.schedule.starts(), family.schedule.ends()
        for dump, start, end in zip(mine.dumps, starts, ends, strict=True):
            dump.io_s = end - start if end > start else None
    return side


def side_of_plan(plan: Plan) -> Side:
    """Counters that follow from a plan, at each family's level."""
    side = Side(plan.ranks, {}, "plan", basis="plan")
    by_id: dict[int, tuple[PlanFamily, SideFamily]] = {}
    for family in plan.families:
        mine = SideFamily(family.role, family.number, family.level)
        side.families[(family.role, family.number)] = mine
        by_id[family.id] = (family, mine)
    cache: dict[tuple[int, int], Counters] = {}
    seen_files: dict[int, set[int]] = {family.id: set() for family in plan.families}
    for dump in sorted(plan.dumps, key=lambda d: (d.family, d.index)):
        family, mine = by_id[dump.family]
        at = (dump.family, dump.content)
        if at not in cache:
            cache[at] = _counters(plan, family, plan.contents[dump.content])
        counters = cache[at]
        content = plan.contents[dump.content]
        mine.fitted = mine.fitted or content.fit is not None or content.mesh is not None
        mine.dumps.append(
            SideDump(counters["BYTES_WRITTEN"], counters["BYTES_READ"], dump.start_s, dump.end_s)
        )
        merge(mine.modules.setdefault(mine.module, {}), counters)
        if dump.file not in seen_files[dump.family]:
            seen_files[dump.family].add(dump.file)
            mine.accessors += rank_sets.count(family.sharing.ranks, plan.ranks)
            mine.files += files_of_dump(family, plan.ranks)
    return side


def _counters(plan: Plan, family: PlanFamily, content: PlanContent) -> Counters:
    module = SideFamily(family.role, family.number, family.level).module
    members = rank_sets.count(family.sharing.ranks, plan.ranks)
    out: Counters = {"BYTES_READ": 0, "BYTES_WRITTEN": 0, **_calls(family, content, members, module)}
    for direction, collective, count, size in _operations(plan, family, content):
        word, moved = _WORDS[direction]
        out[moved] += count * size
        if module in ("MPI-IO", "PNETCDF_VAR"):
            word = f"{'COLL' if collective else 'INDEP'}_{word}"
        out[word] = out.get(word, 0) + count
        names = histogram_names(module, direction)
        if names:
            name = names[bin_of(size)]
            out[name] = out.get(name, 0) + count
    if content.fit is not None:
        out["BYTES_WRITTEN"] = content.fit.bytes
    if content.mesh is not None:
        out[_WORDS[content.mesh.direction][1]] = bytes_of_plan(content.mesh)
    add_sums(module, out)
    return out


def _calls(family: PlanFamily, content: PlanContent, members: int, module: str) -> Counters:
    """Opens, seeks, stats and syncs; collective ones are as many on every member."""

    def total(count: int) -> int:
        return -(-count // members) * members if opened_together(family) else count

    opens, fsyncs, flushes = total(content.opens), total(content.fsyncs), total(content.flushes)
    if module == "MPI-IO":
        return {sum_name(module, "OPENS"): opens, "SYNCS": fsyncs + flushes}
    if module == "POSIX":
        syncs = {"FSYNCS": fsyncs + flushes}
        return {"OPENS": opens, "SEEKS": content.seeks, "STATS": content.stats, **syncs}
    if module == "STDIO":
        return {"OPENS": opens, "SEEKS": content.seeks, "FLUSHES": flushes}
    return {}


def _operations(plan: Plan, family: PlanFamily, content: PlanContent) -> Iterator[Operation]:
    """Transfers of all ranks; ranks without a block join a collective call with zero bytes."""
    together = counted_together(family)
    one_file = files_of_dump(family, plan.ranks) == 1
    for stream in content.streams:
        counts = [count for count, _ in stream.entries]
        for count, size in stream.entries:
            yield stream.direction, stream.collective, count, size
        if stream.collective and together:
            # In one file the running total is what is split among the ranks.
            split = [sum(counts)] if one_file and stream.pieces == 1 else counts
            joins = collective_calls(family, stream.ranks, split, plan.ranks) - sum(counts)
            yield stream.direction, True, max(0, joins), 0
    for arrays in content.arrays:
        for access in arrays.access:
            for count, shape, _ in access.entries:
                yield access.direction, access.collective, count, arrays.element * math.prod(shape)
                if access.collective and together:
                    each, more = divmod(count, arrays.datasets)
                    calls = more * collective_calls(family, access.ranks, [each + 1], plan.ranks)
                    calls += (arrays.datasets - more) * collective_calls(
                        family, access.ranks, [each], plan.ranks
                    )
                    yield access.direction, True, max(0, calls - count), 0
