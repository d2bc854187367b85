"""Real logs for the tests of workloads, characterized once: the PyPI package's and ../shared/logs if it is there."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import pytest

from workalike.characterize import Characterization, characterize
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError

SHARED = Path(__file__).parents[3] / "shared" / "logs"
TOGETHER = "dlio-workflow"  # one workflow of many logs


def _package_logs() -> list[Path]:
    spec = importlib.util.find_spec("darshan")
    assert spec and spec.origin, "the tests need the package darshan (pip install workalike[test])"
    unique = {log.read_bytes(): log for log in sorted(Path(spec.origin).parent.rglob("*.darshan"))}
    return sorted(unique.values())


PACKAGE_LOGS = _package_logs()
SHARED_LOGS = sorted(SHARED.glob("*.darshan"))
JOBS = [(log,) for log in PACKAGE_LOGS + SHARED_LOGS]
if (SHARED / TOGETHER).is_dir():
    JOBS.append(tuple(sorted((SHARED / TOGETHER).glob("*.darshan"))))

needs_shared = pytest.mark.skipif(not SHARED_LOGS, reason=f"no logs in {SHARED}")


def job_name(logs: tuple[Path, ...]) -> str:
    return logs[0].stem[:40] if len(logs) == 1 else logs[0].parent.name


@functools.cache
def characterized(logs: tuple[Path, ...]) -> Characterization | None:
    """None where the log holds nothing to replicate."""
    try:
        return characterize([open_log(log) for log in logs])
    except WorkalikeError as error:
        if error.kind is ErrorKind.NOTHING_TO_REPLICATE:
            return None
        raise


def characterized_or_skip(logs: tuple[Path, ...]) -> Characterization:
    found = characterized(logs)
    if found is None:
        pytest.skip("nothing to replicate in this log")
    return found
