"""A workload with a change."""

from __future__ import annotations

from pydantic import ValidationError

from workalike.diagnose.change import Change
from workalike.diagnose.changing import Scale
from workalike.workload.model import Workload
from workalike.workload.workload_file import first_error


def changed_workload(workload: Workload, change: Change, ranks: int | None = None) -> Workload | str:
    """The workload after the change, the same one for a change of layouts; or why there is none.

    `ranks` will run it; None: as many as it has.

    A change applies to every family in which it changes something: a workload knows no file names, so that a family of
    a finding cannot be recognised in it.
    """
    if workload.operations is not None:
        return "the workload has a table of single operations, which a change cannot rewrite"
    if change.apply is None:
        return workload
    document = workload.model_dump(mode="json", exclude_defaults=True)
    done = False
    for family, original in zip(document["families"], workload.families, strict=True):
        if change.interfaces and original.interface.value not in change.interfaces:
            continue
        members = original.members(workload.ranks)
        done |= change.apply(family, Scale(members, workload.ranks, ranks or workload.ranks))
    if not done:
        return "the characterized workload has nothing of it: the log does not show it clearly enough"
    try:
        return Workload.model_validate(document)
    except ValidationError as error:
        return f"such a workload is not possible: {first_error(error)[1]}"
