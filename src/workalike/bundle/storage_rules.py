"""Rules about storage: which runs of a bundle measured memory instead of the file system under test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field

from workalike.plan.plan_schema import Plan, PlanFamily
from workalike.record.run_record import MEMORY_FACTOR, Record, RecordDump, grown_weakly, working_set
from workalike.text import size_text
from workalike.workload.model import Reader
from workalike.workload.quantities import Strict

EXCLUDED = ("tmpfs", "ramfs")
"""Types of file system that lie in memory."""
MOST_MEMORY_FACTOR = 1e6


class StorageRule(Strict):
    """What a run of a plan must keep, so that its times are those of storage.

    `memory_factor`: the working set is at least so many times the memory of all nodes; 0: any working set counts.
    `writes_end_with_sync`: each dump that writes ends with a sync. `reads_uncached`: what is read follows a drop of
    caches, or was written by another node. The last two are properties of the plan, which a run must show.
    """

    memory_factor: Annotated[float, Field(ge=0, le=MOST_MEMORY_FACTOR, allow_inf_nan=False)]
    writes_end_with_sync: bool
    reads_uncached: bool


def storage_rule(
    plan: Plan, counted: Sequence[dict[str, Any]], memory_factor: float | None = None
) -> StorageRule:
    """The rule of a plan.

    Args:
        plan: the plan as it is sent out.
        counted: its dumps, as `record.counted.counted_dumps` counts them.
        memory_factor: of the working set; None: 1.5, or 0 for a plan at another scale of bytes, which is no performance
            result on any system.
    """
    dumps = list(zip(plan.dumps, counted, strict=True))
    written = [plan.contents[dump.content].fsyncs > 0 for dump, count in dumps if count["bytes_written"]]
    families = {family.id: family for family in plan.families}
    uncached = [
        _is_uncached(families[dump.family], count["bytes_written"])
        for dump, count in dumps
        if count["bytes_read"]
    ]
    if memory_factor is None:
        memory_factor = MEMORY_FACTOR if plan.scale.bytes == 1 or grown_weakly(plan.scale) else 0.0
    return StorageRule(
        memory_factor=memory_factor,
        writes_end_with_sync=bool(written) and all(written),
        reads_uncached=bool(uncached) and all(uncached),
    )


def _is_uncached(family: PlanFamily, written: int) -> bool:
    """Whether a plan asks for reads that caches do not serve. Only dumps that write nothing read from a neighbour."""
    return family.drop_caches or (family.reader is Reader.NEIGHBOUR and not written)


def broken_rules(rule: StorageRule, excluded: Sequence[str], plan: Plan, record: Record) -> list[str]:
    """The rules that a run breaks, each with what was found. `plan` is the one that was performed."""
    return [
        *_excluded(excluded, record),
        *_in_memory(rule.memory_factor, record),
        *(_without_sync(record.dumps) if rule.writes_end_with_sync else ()),
        *(_from_own_node(plan, record) if rule.reads_uncached else ()),
        *_other_scale(plan, record),
    ]


def _excluded(excluded: Sequence[str], record: Record) -> Iterable[str]:
    for name, found in record.environment.items():
        if (name == "file_system" or name.startswith("file_system.")) and found in excluded:
            yield f"excluded_file_systems: the run was on {found}"


def _in_memory(factor: float, record: Record) -> Iterable[str]:
    if not factor:
        return
    memory, size = record.environment.get("memory_bytes"), working_set(record)
    if not isinstance(memory, int) or memory <= 0:
        yield f"memory_factor {factor:g}: the memory of the nodes is unknown"
    elif size < factor * memory:
        yield (
            f"memory_factor {factor:g}: the working set is {size_text(size)}, the memory of all nodes "
            f"{size_text(memory)}"
        )


def _without_sync(dumps: Sequence[RecordDump]) -> Iterable[str]:
    writing = [dump for dump in dumps if dump.bytes_written]
    count = sum(1 for dump in writing if "fsync" not in dump.kinds or not dump.kinds["fsync"].count)
    if count:
        yield f"writes_end_with_sync: {count} of {len(writing)} dumps that write have no sync"


def _from_own_node(plan: Plan, record: Record) -> Iterable[str]:
    """Reads of a neighbour leave the node only where the neighbour is at least a node's ranks away."""
    hosts = record.environment.get("host_count")
    nodes = hosts if isinstance(hosts, int) else 1
    readers = _families(plan, (dump.family for dump in record.dumps if dump.bytes_read))
    near = [f for f in readers if not f.drop_caches and (f.shift or 1) * nodes < plan.ranks]
    if near or (nodes < 2 and any(not family.drop_caches for family in readers)):
        yield f"reads_uncached: data was read on the node that wrote it ({nodes} in all), without a drop of caches"


def _other_scale(plan: Plan, record: Record) -> Iterable[str]:
    """What makes a run no performance result, and is not prescribed by the plan itself."""
    if (record.scale.bytes, record.time_scale) != (plan.scale.bytes, plan.time_scale):
        yield (
            f"the record is of bytes-scale {record.scale.bytes:g} and time-scale {record.time_scale:g}, the plan of "
            f"{plan.scale.bytes:g} and {plan.time_scale:g}"
        )


def _families(plan: Plan, ids: Iterable[int]) -> list[PlanFamily]:
    wanted = set(ids)
    return [family for family in plan.families if family.id in wanted]
