"""A plan in the engine's core: what its rules come to, without performing anything."""

from __future__ import annotations

from pathlib import Path

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan


def core_plan(
    plan: Plan, backend: str | None = None, path: Path | None = None, source: str | Path | None = None
) -> _core.Plan:
    """The plan as the core sees it.

    Args:
        plan: the plan.
        backend: performs every family; None: each its own.
        path: where the plan was read from, operation tables beside it.
        source: what the user gave, for errors; None: `path`.

    Raises:
        WorkalikeError: USAGE with the core's reason, MISSING where the file is gone.
    """
    text = plan_text(plan) if path is None else read_text(path, ErrorKind.BAD_PLAN)
    try:
        return _core.Plan(text, "" if path is None else str(path), backend)
    except _core.PlanError as error:
        raise refusal(error, path if source is None else source) from error


def refusal(error: Exception, file: str | Path | None) -> WorkalikeError:
    """The core's line `place: reason; hint` as an error that names the file."""
    reason, _, hint = str(error).rpartition("; ")
    return WorkalikeError(ErrorKind.USAGE, reason or hint, file=file, hint=hint if reason else None)
