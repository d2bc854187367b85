"""The engine's own program counting a plan. `run_plan` counts with the core in process, so it is no witness for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from workalike.errors import WorkalikeError
from workalike.launch.engines import find_engine
from workalike.launch.launchers import Shape, choose
from workalike.plan.plan_file import write_plan
from workalike.plan.plan_schema import Plan


def engine_or_skip() -> Path:
    try:
        return find_engine()
    except WorkalikeError:
        pytest.skip("workalike-engine is not built (make build)")


def lines_counted(engine: Path, plan: Plan, folder: Path) -> Path:
    """The lines of the record of one process of the engine, which counts with the backend `null`."""
    write_plan(plan, folder / "plan.json")
    record = folder / "run.jsonl"
    record.unlink(missing_ok=True)
    command = [str(engine), "--plan", str(folder / "plan.json"), "--dir", str(folder)]
    command += ["--record", str(record), "--backend", "null", "--quiet"]
    launched = choose(None, 1).command(Shape(1, None, None), command)
    done = subprocess.run(launched, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return record
