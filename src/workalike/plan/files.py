"""Reading and writing plan files (JSON)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.file_kind import FileKind, kind_of
from workalike.files import read_text, write_text
from workalike.plan.model import Plan
from workalike.workload.files import first_error, read_workload
from workalike.workload.model import Workload


def read_plan(path: str | Path) -> Plan:
    """Read and check a plan.

    Raises:
        WorkalikeError: MISSING, or BAD_PLAN naming the place.
    """
    try:
        return Plan.model_validate_json(read_text(path, ErrorKind.BAD_PLAN))
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_PLAN, message, file=path, place=place, mend="make it anew with `workalike plan`"
        ) from error


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan."""
    write_text(path, plan_text(plan))


def plan_text(plan: Plan) -> str:
    """The plan as JSON."""
    return plan.model_dump_json(exclude_none=True) + "\n"


def read_workload_or_plan(path: Path) -> Workload | Plan:
    """A workload, or a plan that was made of one.

    Raises:
        WorkalikeError: USAGE for a log, and as `read_workload` and `read_plan`.
    """
    kind = kind_of(path)
    if kind is FileKind.LOG:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "is a log, not a workload",
            file=path,
            mend="use `workalike replicate`, or characterize it first",
        )
    return read_plan(path) if kind is FileKind.PLAN else read_workload(path)
