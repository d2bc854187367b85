"""Reads of a plan that meet bytes which nobody wrote: files that are made before the run, and holes."""

from __future__ import annotations

from workalike import _core
from workalike.plan import plan_schema as plan
from workalike.plan.contents import moves
from workalike.plan.plan_file import plan_text
from workalike.workload import model as wl


def with_data_to_read(resolved: plan.Plan) -> plan.Plan:
    """The plan, in which files are made before the run of which a dump reads bytes that no dump has written.

    Such a file was there before the original run, or operations that are scaled in whole numbers leave less to read.
    """
    for position, _ in reads_of_nothing(resolved):
        resolved.dumps[position].prepare = True
    return resolved


def reads_of_nothing(resolved: plan.Plan) -> list[tuple[int, bool]]:
    """The dumps that read bytes that nobody has written, and whether these lie within the file."""
    reading = {
        i
        for i, c in enumerate(resolved.contents)
        if moves(c, wl.Direction.READ) or any(stream.table for stream in c.streams)
    }
    if not any(dump.content in reading and not dump.prepare for dump in resolved.dumps):
        return []
    try:
        return _core.unwritten_dumps(plan_text(resolved), resolved.tables)
    except _core.PlanError:  # refused, with its reason, by whoever uses the plan
        return []
