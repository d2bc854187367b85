"""The real logs: those of the PyPI package darshan, and ../shared/logs if it is there."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import pytest

from workalike.characterize import Characterization, characterize
from workalike.darshan import open_log

SHARED = Path(__file__).parents[3] / "shared" / "logs"


def _package_logs() -> list[Path]:
    spec = importlib.util.find_spec("darshan")
    assert spec and spec.origin, "the tests need the package darshan (pip install workalike[test])"
    unique: dict[bytes, Path] = {}
    for log in sorted(Path(spec.origin).parent.rglob("*.darshan"), key=lambda path: path.name):
        unique.setdefault(log.read_bytes(), log)
    return list(unique.values())


PACKAGE_LOGS = _package_logs()
SHARED_LOGS = sorted(SHARED.glob("*.darshan"))
WORKFLOW = sorted((SHARED / "dlio-workflow").glob("*.darshan"))
ALL_LOGS = PACKAGE_LOGS + SHARED_LOGS

needs_shared = pytest.mark.skipif(not SHARED_LOGS, reason=f"no logs in {SHARED}")


def find(name: str) -> Path:
    """The log whose name begins like this; skips the test if it is absent."""
    for log in ALL_LOGS:
        if log.name.startswith(name):
            return log
    pytest.skip(f"no log {name}* in {SHARED}")


@cache
def characterized(path: Path) -> Characterization:
    return characterize([open_log(path)])


@cache
def characterized_workflow() -> Characterization:
    return characterize([open_log(path) for path in WORKFLOW])


def golden(name: str) -> Characterization:
    return characterized(find(name))
