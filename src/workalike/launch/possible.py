"""Whether the engine at hand, with the libraries that it was built with, can perform a plan: asked without MPI."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.files import write_plan
from workalike.plan.model import Plan

CHECK_SECONDS = 600
REFUSED = 2


def refuse_impossible(
    engine: Path,
    plan: Plan,
    file: str | Path | None,
    plan_path: Path | None = None,
    backend: str | None = None,
) -> None:
    """Ask the engine about a plan before anything is launched or written.

    Args:
        file: what the user gave (a workload or a plan): named by the error.
        plan_path: where the plan has been read from, operation tables beside it.

    Raises:
        WorkalikeError: USAGE with the engine's reason.
    """
    with tempfile.TemporaryDirectory(prefix="workalike-") as scratch:
        path = plan_path or Path(scratch) / "plan.json"
        if plan_path is None:
            write_plan(plan, path)
        command = [str(engine), "--check", "--plan", str(path), *(["--backend", backend] if backend else [])]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=CHECK_SECONDS, check=False
        )
    if done.returncode == REFUSED:
        reason, _, mend = (done.stderr.strip().splitlines() or ["no reason given"])[-1].rpartition("; ")
        raise WorkalikeError(ErrorKind.USAGE, reason or mend, file=file, mend=mend if reason else None)
