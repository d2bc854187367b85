"""The choice of a launcher, and what is refused before anything is started."""

from __future__ import annotations

import os

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch import launchers


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No batch system; every program is installed."""
    for name in (*launchers.BATCH_SYSTEMS, "FLUX_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(launchers.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)


def test_a_flood_of_processes_is_refused() -> None:
    assert launchers.choose(None, 512).name == "mpiexec"
    with pytest.raises(WorkalikeError, match=r"513 processes .* of 4 cores .*--backend null") as caught:
        launchers.choose(None, 513)
    assert caught.value.kind is ErrorKind.USAGE


def test_who_insists_gets_it() -> None:
    assert launchers.choose("mpiexec", 10**6).name == "mpiexec"


def test_a_batch_system_knows_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBS_JOBID", "1")
    assert launchers.choose(None, 10**6).name == "mpiexec"
