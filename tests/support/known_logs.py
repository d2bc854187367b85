"""Finds the real logs that tests use: this repository's, the PyPI package's, and ../shared/logs if it exists.

Tests on the first two always run; tests on ../shared skip visibly without it.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import pytest

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import open_log
from workalike.errors import ErrorKind, WorkalikeError

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data"
SHARED_FOLDER = REPOSITORY.parent / "shared"
SHARED = SHARED_FOLDER / "logs"


def package_folder() -> Path | None:
    """The folder of the package `darshan`; None where it is not installed."""
    spec = importlib.util.find_spec("darshan")
    return Path(spec.origin).parent if spec and spec.origin else None


def _package_logs() -> list[Path]:
    """The package's logs by name, without duplicates."""
    folder = package_folder()
    assert folder, "the tests need the package darshan (pip install workalike[test])"
    unique: dict[bytes, Path] = {}
    for log in sorted(folder.rglob("*.darshan"), key=lambda path: path.name):
        unique.setdefault(log.read_bytes(), log)
    return list(unique.values())


PACKAGE_LOGS = _package_logs()
OWN_LOGS = sorted(DATA.glob("*.darshan"))
SHARED_LOGS = sorted(SHARED.glob("*.darshan"))
"""Single logs; those of workflows lie in folders."""
SHARED_WORKFLOWS = sorted(path for path in SHARED.glob("*") if path.is_dir())
"""Folders with the logs of one job of many processes each."""
WORKFLOW = sorted((SHARED / "dlio-workflow").glob("*.darshan"))
ALL_LOGS = PACKAGE_LOGS + OWN_LOGS + SHARED_LOGS
EVERY_LOG = PACKAGE_LOGS + OWN_LOGS + sorted(SHARED.rglob("*.darshan"))
"""Those of workflows one by one, too."""
JOBS = [(log,) for log in ALL_LOGS] + ([tuple(WORKFLOW)] if WORKFLOW else [])

needs_shared = pytest.mark.skipif(not SHARED_LOGS, reason=f"no logs in {SHARED}")


def find(name: str) -> Path:
    """The log whose name begins with a text; skips the test if there is none."""
    for log in ALL_LOGS:
        if log.name.startswith(name):
            return log
    pytest.skip(f"no log {name}* in {SHARED}")


def shared(name: str) -> Path:
    """The shared log whose name begins with a text; skips the test if there is none."""
    for log in SHARED_LOGS:
        if log.name.startswith(name):
            return log
    pytest.skip(f"no log {name}* in {SHARED}")


def package(name: str) -> Path:
    """The package's log whose name begins with a text; some logs have two names."""
    folder = package_folder()
    assert folder
    return min(folder.rglob(f"{name}*.darshan" if not name.endswith(".darshan") else name))


def own(name: str) -> Path:
    """This repository's log of a name without suffix."""
    return DATA / f"{name}.darshan"


def job_name(logs: tuple[Path, ...]) -> str:
    return logs[0].stem[:40] if len(logs) == 1 else logs[0].parent.name


@cache
def characterized(path: Path) -> Characterization:
    return characterize([open_log(path)])


@cache
def characterized_workflow() -> Characterization:
    return characterize([open_log(path) for path in WORKFLOW])


def characterized_job(logs: tuple[Path, ...]) -> Characterization | None:
    """Characterize logs; None if they have nothing to replicate."""
    try:
        return characterized(logs[0]) if len(logs) == 1 else characterized_workflow()
    except WorkalikeError as error:
        if error.kind is ErrorKind.NOTHING_TO_REPLICATE:
            return None
        raise


def characterized_or_skip(logs: tuple[Path, ...]) -> Characterization:
    found = characterized_job(logs)
    if found is None:
        pytest.skip("nothing to replicate in this log")
    return found


def by_rules(found: Characterization) -> Characterization:
    """The characterization of the same logs without an operation table."""
    if found.workload.operations is None:
        return found
    return characterize(found.logs, CharacterizeOptions(tables=False))


def golden(name: str) -> Characterization:
    return characterized(find(name))
