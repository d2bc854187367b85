"""The real logs that tests use: those of the PyPI package darshan, and ../shared/logs if it is there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "logs"


def _package_logs() -> list[Path]:
    spec = importlib.util.find_spec("darshan")
    assert spec and spec.origin, "the tests need the package darshan (pip install workalike[test])"
    unique = {log.read_bytes(): log for log in sorted(Path(spec.origin).parent.rglob("*.darshan"))}
    return sorted(unique.values())


PACKAGE_LOGS = _package_logs()
SHARED_LOGS = sorted(SHARED.rglob("*.darshan"))
ALL_LOGS = PACKAGE_LOGS + SHARED_LOGS

needs_shared = pytest.mark.skipif(not SHARED_LOGS, reason=f"no logs in {SHARED}")


def shared(name: str) -> Path:
    """The shared log whose name begins like this; skips the test if it is absent."""
    for log in SHARED_LOGS:
        if log.name.startswith(name):
            return log
    pytest.skip(f"no log {name}* in {SHARED}")


def package(name: str) -> Path:
    """The package's log whose name begins like this."""
    return next(log for log in PACKAGE_LOGS if log.name.startswith(name))
