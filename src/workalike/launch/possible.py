"""Whether a plan can be performed: the core finds contradictions, the engine knows what its libraries lack."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from workalike import _core
from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.engines import refuse_what_is_no_engine
from workalike.plan.core import core_plan, refusal
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan

CHECK_SECONDS = 600
REFUSED = 2


def refuse_impossible(
    engine: Path | None,
    plan: Plan,
    file: str | Path | None,
    plan_path: Path | None = None,
    backend: str | None = None,
) -> None:
    """Check a plan with core and engine, without MPI, before anything is launched or written.

    Args:
        engine: the engine's path; None if it was not built, and what its libraries lack is not checked.
        plan: the plan.
        file: the user's file (a workload or a plan), which the error names.
        plan_path: the path from which the plan was read, with operation tables beside it.
        backend: performs every family; None: each family has its own.

    Raises:
        WorkalikeError: USAGE with the core's or the engine's reason, or where the program is no engine.
    """
    core = core_plan(plan, backend, plan_path, source=file)
    try:
        core.refuse(backend)
    except _core.PlanError as error:
        raise refusal(error, file) from error
    if engine is None:
        return
    with tempfile.TemporaryDirectory(prefix="workalike-") as scratch:
        path = plan_path or Path(scratch) / "plan.json"
        if plan_path is None:
            write_plan(plan, path)
        command = [str(engine), "--check", "--plan", str(path), *(["--backend", backend] if backend else [])]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=CHECK_SECONDS, check=False
        )
    if done.returncode != 0:
        refuse_what_is_no_engine(engine)
    if done.returncode == REFUSED:
        reason, _, hint = (done.stderr.strip().splitlines() or ["no reason given"])[-1].rpartition("; ")
        raise WorkalikeError(ErrorKind.USAGE, reason or hint, file=file, hint=hint if reason else None)
