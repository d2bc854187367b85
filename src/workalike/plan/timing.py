"""When each dump of a family is due in a plan, and when in it its operations are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workalike.plan import plan_schema as plan
from workalike.plan.contents import moves, rows_of_table
from workalike.plan.datasets import compute_time_of_epoch
from workalike.plan.dump_scale import FamilyScale
from workalike.workload import model as wl


@dataclass(frozen=True)
class Timing:
    """The times of a dump, in seconds: `writes` and `reads` as the plan has them."""

    start_s: float
    end_s: float
    compute_s: float
    writes: plan.Window | None
    reads: plan.Window | None
    metadata_s: float | None

    def fields(self, content: plan.PlanContent, scale: FamilyScale) -> dict[str, Any]:
        """The fields of a plan's dump that has this content."""
        return {
            "start_s": self.start_s,
            "end_s": self.end_s,
            "compute_s": _compute_s(content, self.compute_s, scale),
            "writes": self.writes if _may_move(content, wl.Direction.WRITE) else None,
            "reads": self.reads if _may_move(content, wl.Direction.READ) else None,
            "metadata_s": self.metadata_s,
        }


def timings(schedule: wl.Schedule) -> list[Timing]:
    """The times of each dump."""
    starts = schedule.starts()
    ends = [max(start, end) for start, end in zip(starts, schedule.ends(), strict=True)]
    computing = schedule.compute_times()
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    writes, reads = (
        window.of_dumps(lengths) if window is not None else [None] * len(lengths)
        for window in (schedule.writes, schedule.reads)
    )
    metadata = schedule.metadata if isinstance(schedule.metadata, list) else [schedule.metadata] * len(starts)
    rows = zip(starts, ends, computing, writes, reads, metadata, strict=True)
    return [Timing(*row) for row in rows]


def _may_move(content: plan.PlanContent, direction: wl.Direction) -> bool:
    """Whether a dump of this content has operations in a direction; the rows of a table are not looked at."""
    return rows_of_table(content) is not None or moves(content, direction)


def _compute_s(content: plan.PlanContent, stated: float, scale: FamilyScale) -> float:
    """Seconds that a rank computes in a dump: those of its schedule, or those of its batches."""
    dataset = scale.family.all_contents()[0].dataset
    if dataset is None or content.dataset is None or not dataset.compute_time:
        return stated
    return compute_time_of_epoch(dataset, content.dataset, scale.members)
