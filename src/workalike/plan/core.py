"""A plan in the engine's core, which expands its rules without performing anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workalike import _core
from workalike.errors import ErrorKind, Refusal
from workalike.files import read_text
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def core_plan(
    plan: Plan, backend: str | None = None, path: Path | None = None, source: str | Path | None = None
) -> _core.Plan:
    """The plan as an object of the core.

    Args:
        plan: the plan.
        backend: performs every family; None: each family has its own.
        path: the path from which the plan was read, with operation tables beside it.
        source: the user's file, which errors name; None: `path`.

    Raises:
        WorkalikeError: USAGE with the core's reason; MISSING if the file no longer exists.
    """
    text = plan_text(plan) if path is None else read_text(path, ErrorKind.BAD_PLAN)
    try:
        return _core.Plan(
            text, "" if path is None else str(path), backend, plan.tables if path is None else {}
        )
    except _core.PlanError as error:
        raise refusal(error, path if source is None else source) from error


def counts_of(core: _core.Plan) -> dict[str, NDArray[np.int64]]:
    """The core's counts of each dump, by name.

    Raises:
        WorkalikeError: USAGE for a plan with more calls than anybody waits for.
    """
    try:
        return core.count()
    except _core.PlanError as error:
        raise refusal(error, None) from error


def refusal(error: _core.PlanError, file: str | Path | None) -> Refusal:
    """What the core refuses as an error that names the file."""
    return Refusal(
        ErrorKind.USAGE, error.reason, file=file, place=error.place or None, hint=error.hint or None
    )
