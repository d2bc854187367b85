"""Simultaneous runs in one folder, and killed runs: all processes end, and the next run works."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from killed_runs import KilledRun, workload
from needed import needs_engine, needs_mpiexec

pytestmark = [
    pytest.mark.mpi,
    needs_engine,
    needs_mpiexec,
]

LONG = {"every": 1.0, "count": 1000}
"""A run of many minutes, which has written data after a moment."""

SOME_SECONDS = {"every": 0.3, "count": 8}
"""Long enough to be killed, short enough to be run again."""

Make = Callable[..., KilledRun]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    runs: list[KilledRun] = []

    def made(text: str, *options: str, **names: str) -> KilledRun:
        runs.append(KilledRun(tmp_path, text, *options, **names))
        return runs[-1]

    yield made
    for run in runs:
        run.clear()


def performed(run: KilledRun) -> None:
    run.start()
    said = run.said(90)
    assert run.process.returncode == 0, said
    assert said == ""


def locks(run: KilledRun) -> list[Path]:
    return list(run.data.glob("workalike-*.lock"))


def kill_all(run: KilledRun) -> None:
    """Kill all processes at once, as if the node lost power, so that none cleans up.

    Ranks are killed first. A stopped process goes on when the end of its parent leaves its process group an orphan.
    """
    processes = (run.process.pid, *run.launcher(), *run.ranks())
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    for process in reversed(processes):
        os.kill(process, signal.SIGKILL)
    run.until_all_are_gone()


@pytest.fixture
def left(make: Make) -> KilledRun:
    """The files that such a node leaves: data files and their lock file."""
    run = make(workload("hdf5", **SOME_SECONDS))
    run.start()
    run.wait_for_data()
    run.stop_with_data()
    kill_all(run)
    assert list(run.data.glob("checkpoint-*.h5")) and locks(run)
    return make(workload("hdf5", **SOME_SECONDS))


def test_a_second_run_of_the_same_plan_is_refused(tmp_path: Path) -> None:
    pairs: list[tuple[KilledRun, KilledRun]] = []
    try:
        for backend in ("posix", "mpiio", "hdf5"):
            folder = tmp_path / backend
            folder.mkdir()
            text = workload(backend, **LONG)
            pairs.append((KilledRun(folder, text), KilledRun(folder, text, out="second")))
            pairs[-1][0].start()
        for first, second in pairs:
            first.wait_for_data()
            second.out.mkdir()
            (second.out / "run.json").write_text("of an earlier run")
            second.start()
        for first, second in pairs:
            (line,) = second.said().splitlines()
            assert second.process.returncode in (1, 2)
            assert (
                "another run of this plan is active there (wait for its end or choose another --dir)" in line
            )
            assert (second.out / "run.json").read_text() == "of an earlier run"
            assert first.process.poll() is None, "the first run has ended"
            assert len(first.ranks()) == 3
            lines = (first.out / "run.jsonl").read_text().splitlines()
            assert all(json.loads(line)["type"] in ("run", "dump") for line in lines)
    finally:
        for run in (run for pair in pairs for run in pair):
            run.clear()


def test_two_plans_share_a_folder(make: Make) -> None:
    pair = [
        make(workload("mpiio", count=4), "--verify", "--seed", str(seed), out=f"out{seed}") for seed in (1, 2)
    ]
    for run in pair:
        run.start()
    for run in pair:
        said = run.said()
        assert run.process.returncode == 0, said
        verified = json.loads((run.out / "run.json").read_text())["verified"]
        assert verified["bytes"] > 0 and verified["errors"] == 0
    assert list(pair[0].data.iterdir()) == []


def test_a_killed_launcher_is_outlived_by_the_command_only(make: Make) -> None:
    run = make(workload("mpiio", **SOME_SECONDS))
    run.start()
    run.wait_for_data()
    (launcher,) = run.launcher()
    os.kill(launcher, signal.SIGKILL)
    run.process.wait(40)
    assert run.processes() == {}, "the command has left processes"
    assert "Traceback" not in run.said()
    assert run.process.returncode == 1
    assert run.litter() == []
    performed(make(workload("mpiio", **SOME_SECONDS)))


@pytest.mark.parametrize("backend", ["mpiio", "hdf5"])
def test_a_killed_command_does_not_stand_in_the_way(make: Make, backend: str) -> None:
    run = make(workload(backend, **SOME_SECONDS))
    run.start()
    run.wait_for_data()
    run.process.kill()
    run.process.wait()
    again = make(workload(backend, **SOME_SECONDS))
    performed(again)  # it waits for the end of the ranks
    assert run.until_all_are_gone() < 15
    assert again.litter() == []


def test_a_killed_rank_ends_the_run(make: Make) -> None:
    run = make(workload("mpiio", **SOME_SECONDS))
    run.start()
    run.wait_for_data()
    os.kill(run.ranks()[-1], signal.SIGKILL)
    run.process.wait(40)
    assert run.process.returncode == 1
    assert run.processes() == {}
    assert run.litter() == []
    performed(make(workload("mpiio", **SOME_SECONDS)))


def test_files_of_a_killed_run_are_removed(left: KilledRun) -> None:
    """Data files, a file in which a library was measured, and what Open MPI creates beside a file."""
    file = left.dumps("checkpoint-*.h5")[0]
    role, _, plan, extension = file.name.split(".")
    (file.parent / f"{role}.calibration.g0000.{plan}.{extension}").write_bytes(b"begun")
    (file.parent / f"{file.name}-1-4711.lock").touch()
    (file.parent / f"{file.name}.locktest.0").touch()
    (file.parent / "notes.txt").write_text("not ours")
    performed(left)
    assert left.litter() == ["notes.txt"]


def test_a_link_in_the_place_of_a_data_file_is_never_followed(left: KilledRun) -> None:
    precious = left.folder / "precious"
    precious.write_text("precious")
    place = left.dumps("checkpoint-*.h5")[0]
    place.unlink()
    place.symlink_to(precious)
    (lock,) = locks(left)
    kept = lock.read_text()
    lock.unlink()
    for other in left.data.glob("checkpoint-*"):
        if other != place:
            other.unlink()
    left.start()
    (line,) = left.said().splitlines()
    assert left.process.returncode == 1
    assert place.name in line and "in the way" in line
    assert place.is_symlink()
    lock.write_text(kept)  # now a killed run may have left it: the link is removed, not its target
    performed(left)
    assert left.litter() == []
    assert precious.read_text() == "precious"


def test_kept_files_are_in_the_way_of_the_same_plan_only(make: Make) -> None:
    performed(make(workload("posix", count=2), "--keep"))
    kept = sorted(make(workload("posix", count=2)).data.iterdir())
    assert kept and not [path for path in kept if path.suffix == ".lock"]
    before = [path.read_bytes() for path in kept]
    again = make(workload("posix", count=2))
    again.start()
    (line,) = again.said().splitlines()
    assert again.process.returncode == 1
    assert "a data file of an earlier run is in the way (remove it or choose another --dir" in line
    assert [path.read_bytes() for path in kept] == before
    performed(make(workload("posix", count=2), "--seed", "2"))
    assert sorted(again.data.iterdir()) == kept


def test_a_lock_file_that_is_a_link_is_never_followed(make: Make) -> None:
    performed(make(workload("posix", count=2), "--keep"))
    again = make(workload("posix", count=2))
    for path in again.data.iterdir():
        plan = path.name.split(".")[-2]
        path.unlink()
    elsewhere = again.folder / "elsewhere"
    (again.data / f"workalike-{plan}.lock").symlink_to(elsewhere)
    again.start()
    (line,) = again.said().splitlines()
    assert again.process.returncode == 1
    assert line.startswith("workalike: cannot write: data: the lock file of this plan cannot be used"), line
    assert not elsewhere.exists()


def test_a_signal_while_a_process_is_started_is_not_lost() -> None:
    """What a signal's handler raises in a function that runs at a fork is dropped, unless the signal is held back."""
    program = """
import os, signal, subprocess, sys
from workalike.launch.processes import end_with_parent, signals_held

class Ended(BaseException):
    pass

def end(number, frame):
    raise Ended

signal.signal(signal.SIGINT, end)
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
parent = os.getpid()
try:
    with signals_held():
        child = subprocess.Popen(["sleep", "60"], preexec_fn=lambda: end_with_parent(parent))
except Ended:
    child.send_signal(signal.SIGINT)
    child.wait(20)  # in the child the signal is not held back
    print("ended", child.returncode)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"ended {-signal.SIGINT}\n", done.stderr
