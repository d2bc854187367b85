"""Processes of a plan: which ranks live only a part of the run, and idle before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workalike.plan.plan_schema import Plan, PlanProcesses
from workalike.text import plural, seconds_text
from workalike.workload import units
from workalike.workload.model import Processes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST_LINES = 6


def scale_processes(groups: Sequence[Processes], old: int, new: int) -> list[PlanProcesses] | None:
    """The groups of `old` ranks at `new` ranks; None without any.

    A rank that stands for several lives from the first start of these to their last end.
    """
    if not groups:
        return None
    import numpy as np

    start, end = np.zeros(old), np.full(old, np.inf)
    for group in groups:
        for first, last, step in group.ranks or [(0, old - 1, 1)]:
            start[first : last + 1 : step] = group.start
            end[first : last + 1 : step] = np.inf if group.end is None else group.end
    if new < old:
        firsts = -(-np.arange(new, dtype=np.int64) * old // new)
        start, end = np.minimum.reduceat(start, firsts), np.maximum.reduceat(end, firsts)
    else:
        stands_for = np.arange(new, dtype=np.int64) * old // new
        start, end = start[stands_for], end[stands_for]
    return _grouped(start, end) or None


def _grouped(start: npt.NDArray[np.float64], end: npt.NDArray[np.float64]) -> list[PlanProcesses]:
    """Ranks of the same start and end together, without those that live during the whole run."""
    import numpy as np

    lives, group = np.unique(np.stack([start, end], axis=1), axis=0, return_inverse=True)
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return [
        PlanProcesses(
            ranks=units.ranges_of_array(ranks), start_s=begin, end_s=None if stop == np.inf else stop
        )
        for (begin, stop), ranks in zip(lives.tolist(), parts, strict=True)
        if begin > 0 or stop < np.inf
    ]


def life_of(plan: Plan, rank: int) -> tuple[float, float | None]:
    """(start, end) of a rank in seconds of the original run; end None: that of the run."""
    return life_in(plan.processes or (), rank)


def life_in(groups: Sequence[PlanProcesses], rank: int) -> tuple[float, float | None]:
    """The same of a rank of some groups."""
    for group in groups:
        if group.ranks == "all" or any(
            first <= rank <= last and (rank - first) % step == 0 for first, last, step in group.ranks
        ):
            return group.start_s, group.end_s
    return 0.0, None


def idle_ranks(plan: Plan) -> int:
    """How many ranks live only a part of the run."""
    return sum(_count(group, plan.ranks) for group in plan.processes or ())


def _count(group: PlanProcesses, ranks: int) -> int:
    return ranks if group.ranks == "all" else units.count_ranks(list(group.ranks))


def idle_words(groups: Sequence[PlanProcesses] | None, ranks: int) -> str | None:
    """How many of the ranks idle, in one line; None where all live during the whole run."""
    if not groups:
        return None
    idle = sum(_count(group, ranks) for group in groups)
    before = sum(_count(group, ranks) for group in groups if group.start_s > 0)
    after = sum(_count(group, ranks) for group in groups if group.end_s is not None)
    parts = [f"{plural(before, 'rank')} before their start" if before else ""]
    parts += [f"{plural(after, 'rank')} after their end" if after else ""]
    return (
        f"{idle} of {plural(ranks, 'rank')} idle for a part of the run, as processes of the original did not live: "
        f"{', '.join(filter(None, parts))}"
    )


def idle_lines(plan: Plan, most: int = MOST_LINES) -> list[str]:
    """When which ranks idle, in seconds of the original run, a line for each group of ranks."""
    lines = []
    for group in plan.processes or ():
        ranks = None if group.ranks == "all" else list(group.ranks)
        times = [f"until {seconds_text(group.start_s)}"] if group.start_s > 0 else []
        times += [f"from {seconds_text(group.end_s)} on"] if group.end_s is not None else []
        lines.append(f"  ranks {units.format_ranks(ranks)} idle {' and '.join(times)}")
    left = len(lines) - most
    return lines if left <= 1 else [*lines[:most], f"  and {plural(left, 'more group')} of ranks"]
