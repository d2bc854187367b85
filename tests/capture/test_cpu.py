"""The CPU time of each process in the side file, against the process's own figure."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import open_log

from .conftest import Profile, Run

SPENDS = """
import os, sys, time

def spend(seconds):
    with open(f"out.{os.getpid()}", "w") as file:
        while time.process_time() < seconds:
            file.write("x" * 1000)
            file.flush()
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
    with open(f"cpu.{os.getpid()}", "w") as file:
        file.write(str(time.process_time()))
"""

OWN_SHARE = 0.1
"""Seconds that an interpreter takes before and after its own reading of the clock, on a busy machine."""


def processes(run: Run, log: int = 0) -> list[dict[str, Any]]:
    side = json.loads(Path(f"{run.logs[log]}.extra.json").read_text())
    found: list[dict[str, Any]] = side["processes"]
    return found


def own_figures(folder: Path) -> list[float]:
    return sorted(float(path.read_text()) for path in folder.glob("cpu.*"))


def test_cpu_time_and_its_bins(profile: Profile) -> None:
    run = profile(sys.executable, "-c", SPENDS + "spend(0.7); time.sleep(0.5)")
    (process,) = processes(run)
    (own,) = own_figures(run.folder)
    assert own <= process["cpu_s"] < own + OWN_SHARE
    assert process["rank"] == 0 and process["start"] == 0
    assert process["end"] > process["cpu_s"] + 0.4
    assert sum(process["bins"]) == pytest.approx(process["cpu_s"], rel=0.01)
    assert all(0 <= used <= process["bin_s"] * 1.5 for used in process["bins"])
    share = characterize(
        [open_log(run.logs[0])], CharacterizeOptions(include_program_start=True)
    ).workload.cpu_share
    assert share == pytest.approx((process["cpu_s"] + process["waited_s"]) / process["end"], abs=0.01)


def test_waiting_for_a_core(profile: Profile) -> None:
    """Two processes on one core: each waits while the other one computes."""
    core = min(os.sched_getaffinity(0))
    two = f"os.sched_setaffinity(0, [{core}])\nchild = os.fork()\nspend(0.5)\nif child: os.wait()"
    run = profile(sys.executable, "-c", SPENDS + two)
    for log in range(2):
        (process,) = processes(run, log)
        assert 0.2 < process["waited_s"] < process["end"] - process["cpu_s"] + OWN_SHARE


def test_a_child_counts_from_zero(profile: Profile) -> None:
    run = profile(sys.executable, "-c", SPENDS + "spend(0.5)\nif os.fork() == 0: spend(0.1)\nelse: os.wait()")
    figures = sorted(processes(run, log)[0]["cpu_s"] for log in range(2))
    for figure, own in zip(figures, own_figures(run.folder), strict=True):
        assert own <= figure < own + OWN_SHARE


@pytest.mark.mpi
@pytest.mark.skipif(not shutil.which("mpicc"), reason="no mpicc")
def test_each_rank_of_a_job(profile: Profile, compiled: Callable[..., Path]) -> None:
    run = profile("mpiexec", "-n", "3", compiled("mpi_known.c", compiler="mpicc"))
    found = processes(run)
    assert [process["rank"] for process in found] == [0, 1, 2]
    for process in found:
        assert process["cpu_s"] > 0 and 0 <= process["start"] < process["end"]
        assert len(process["bins"]) == len(found[0]["bins"])
