"""Reading and writing plan files (JSON)."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.plan.model import Plan
from workalike.workload.files import first_error


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
