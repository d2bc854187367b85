"""Launchers that do not end as they should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workalike.launch import processes
from workalike.launch.processes import run_to_its_end

CHILD_ENDS = "sleep 0.3 & wait; exec sleep 600"
"""A launcher that goes on for ever after its only process has ended."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "STOPPING_SECONDS", 0.5)
    monkeypatch.setattr(processes, "LOOK_SECONDS", 0.1)


def test_a_launcher_that_stays_behind_is_killed() -> None:
    assert run_to_its_end(["sh", "-c", CHILD_ENDS], dict(os.environ)) == -signal.SIGKILL


@pytest.mark.parametrize("command", ["sleep 1.5; exit 3", "exec sleep 1.5"])
def test_a_launcher_is_waited_for(command: str) -> None:
    """It has a process all the time, or none that this node shows, as srun has."""
    begin = time.monotonic()
    assert run_to_its_end(["sh", "-c", command], dict(os.environ)) in (0, 3)
    assert time.monotonic() - begin >= 1.5


MAPS_AND_DIES = """
import ctypes, mmap, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
with open(sys.argv[1], "w+b") as file:
    file.truncate(4096)
    mapped = mmap.mmap(file.fileno(), 4096)
open(sys.argv[1] + ".ready", "w").close()
signal.pause()
"""


def test_shared_memory_of_a_killed_launcher_is_removed(tmp_path: Path) -> None:
    """Its process dies with it, so that nobody can look afterwards what the process had mapped."""
    segment, other = tmp_path / "vader_segment.node.0.1a.0", tmp_path / "vader_segment.node.0.1b.0"
    of_another_rank = tmp_path / "vader_segment.node.0.1a.1"
    other.touch()
    of_another_rank.touch()
    script = tmp_path / "rank.py"
    script.write_text(MAPS_AND_DIES)
    launcher = (
        f"{sys.executable} {script} {segment} & "
        f"while [ ! -e {segment}.ready ]; do sleep 0.05; done; rm {segment}.ready; sleep 0.6; kill -9 $$"
    )
    assert run_to_its_end(["sh", "-c", launcher], dict(os.environ)) == -signal.SIGKILL
    assert not segment.exists() and not of_another_rank.exists()
    assert other.exists()


def test_segments_that_nobody_could_look_at_are_removed(tmp_path: Path) -> None:
    """The launcher is killed while its ranks start. What others have made stays."""
    before, mapped = tmp_path / "vader_segment.node.0.1b.0", tmp_path / "vader_segment.node.0.1c.0"
    before.touch()
    time.sleep(3 * processes.CLOCK_TICK_SECONDS)
    names = [tmp_path / name for name in ("vader_segment.node.0.1a.0", "sm_segment.node.0.1a.1")]
    link, other = tmp_path / "vader_segment.link", tmp_path / "other_segment.0"
    environment = os.environ | {"OMPI_MCA_btl_vader_backing_directory": str(tmp_path)}
    script = tmp_path / "rank.py"
    script.write_text(MAPS_AND_DIES)
    with subprocess.Popen([sys.executable, script, mapped]) as of_another_job:
        while not mapped.with_name(mapped.name + ".ready").exists():
            time.sleep(0.05)
        launcher = f"touch {names[0]} {names[1]} {mapped} {other}; ln -s {other} {link}; kill -9 $$"
        assert run_to_its_end(["sh", "-c", launcher], environment) == -signal.SIGKILL
        of_another_job.kill()
    assert not any(name.exists() for name in names)
    assert all(path.exists() for path in (before, mapped, link, other))
