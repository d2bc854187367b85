"""A side out of a plan or a workload: what the rules say, summed without expanding them."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.compare.side import (
    Counters,
    Side,
    SideDump,
    SideFamily,
    add_sums,
    bin_of,
    histogram_names,
    merge,
    sum_name,
)
from workalike.plan import ranks as rank_sets
from workalike.plan.model import Plan, PlanContent, PlanFamily
from workalike.workload.model import Direction, Level, SharingMode, Workload

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
        mine.fitted = mine.fitted or plan.contents[dump.content].fit is not None
        mine.dumps.append(
            SideDump(counters["BYTES_WRITTEN"], counters["BYTES_READ"], dump.start_s, dump.end_s)
        )
        merge(mine.modules.setdefault(mine.module, {}), counters)
        if dump.file not in seen_files[dump.family]:
            seen_files[dump.family].add(dump.file)
            mine.accessors += rank_sets.count(family.sharing.ranks, plan.ranks)
            mine.files += files_of_dump(family, plan.ranks)
    return side


def files_of_dump(family: PlanFamily, ranks: int) -> int:
    """Into how many files one dump goes."""
    members = rank_sets.count(family.sharing.ranks, ranks)
    if family.sharing.mode is SharingMode.PER_RANK:
        return members
    return min(family.sharing.files, members) if family.sharing.mode is SharingMode.GROUPS else 1


def _counters(plan: Plan, family: PlanFamily, content: PlanContent) -> Counters:
    module = SideFamily(family.role, family.number, family.level).module
    members = rank_sets.count(family.sharing.ranks, plan.ranks)
    out: Counters = {"BYTES_READ": 0, "BYTES_WRITTEN": 0}
    opens, syncs = _opens_and_syncs(family, content, members, module)
    out.update(opens)
    out.update(syncs)
    for direction, collective, count, size in _operations(plan, content, members):
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
    add_sums(module, out)
    return out


def _opens_together(family: PlanFamily) -> bool:
    """Whether all members of a file open it with one collective call (docs/plan-format.md)."""
    if family.sharing.mode is SharingMode.PER_RANK:
        return False
    if family.backend in ("null", "record"):
        return family.level not in (Level.POSIX, Level.STDIO)
    return family.backend in ("mpiio", "hdf5")


def _opens_and_syncs(
    family: PlanFamily, content: PlanContent, members: int, module: str
) -> tuple[Counters, Counters]:
    opens = content.opens
    if _opens_together(family):
        opens = -(-opens // members) * members  # collective: every member opens equally often
    if module == "MPI-IO":
        return {sum_name(module, "OPENS"): opens}, {"SYNCS": content.fsyncs + content.flushes}
    if module == "POSIX":
        extra = {"SEEKS": content.seeks, "STATS": content.stats}
        return {"OPENS": opens, **extra}, {"FSYNCS": content.fsyncs + content.flushes}
    if module == "STDIO":
        return {"OPENS": opens, "SEEKS": content.seeks}, {"FLUSHES": content.flushes}
    return {}, {}


def _operations(plan: Plan, content: PlanContent, members: int) -> Iterator[Operation]:
    for stream in content.streams:
        n = rank_sets.count(stream.ranks, plan.ranks)
        for count, size in stream.entries:
            yield stream.direction, stream.collective, count, size
        if stream.collective:
            # Ranks without a block join with zero bytes; the fullest rank is the first.
            calls = sum(-(-count // n) for count, _ in stream.entries) * members
            idle = calls - sum(count for count, _ in stream.entries)
            if idle > 0:
                yield stream.direction, True, idle, 0
    for arrays in content.arrays:
        for access in arrays.access:
            for count, shape, _ in access.entries:
                size = arrays.element
                for extent in shape:
                    size *= extent
                yield access.direction, access.collective, count, size
