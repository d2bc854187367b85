"""Random kills of command, launcher and ranks at random moments: nothing goes on, and the next run works.

WORKALIKE_KILLS says how many; WORKALIKE_KILLS_FROM with which turn to begin: a kill is made anew from its turn.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_runs import CONTENTS, KilledRun, workload

from workalike.launch.run import engine_if_built

pytestmark = [
    pytest.mark.long,
    pytest.mark.mpi,
    pytest.mark.skipif(engine_if_built() is None, reason="the engine is not built (make build)"),
    pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec"),
]

COUNT = int(os.environ.get("WORKALIKE_KILLS", "200"))
FIRST = int(os.environ.get("WORKALIKE_KILLS_FROM", "0"))
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[dict[str, KilledRun]]:
    made = {}
    for backend in CONTENTS:
        folder = tmp_path / backend
        folder.mkdir()
        made[backend] = KilledRun(folder, workload(backend))
    yield made
    for run in made.values():
        run.clear()


def duration(run: KilledRun) -> float:
    began = time.monotonic()
    run.start()
    said = run.said()
    assert run.process.returncode == 0, said
    assert run.litter() == []
    return time.monotonic() - began


def victims(run: KilledRun, target: str) -> list[int]:
    if target == "command":
        return [run.process.pid]
    return run.launcher() if target == "launcher" else run.ranks()


def kill_once(run: KilledRun, dice: random.Random, lasts: float) -> str:
    """Kill a part of a run; the part, or `late` when it had ended before."""
    target = dice.choice(["command", "launcher", "rank"])
    number = dice.choice(SIGNALS)
    moment = time.monotonic() + dice.uniform(0.0, lasts)
    run.start()
    while time.monotonic() < moment and run.process.poll() is None:
        time.sleep(0.002)
    while not (found := victims(run, target)) and run.process.poll() is None:
        time.sleep(0.002)  # the moment was before there was a launcher or a rank
    if not found or run.process.poll() is not None:
        run.said()
        return "late"
    try:
        os.kill(dice.choice(found), number)
    except ProcessLookupError:
        return "late"
    return f"{target} {signal.Signals(number).name}"


def test_random_kills(runs: dict[str, KilledRun]) -> None:
    lasts = {backend: duration(run) for backend, run in runs.items()}
    kills: Counter[str] = Counter()
    slowest_end = 0.0
    turn = FIRST
    while sum(kills.values()) - kills["late"] < COUNT:
        dice = random.Random(f"kill {turn}")
        backend = dice.choice(sorted(runs))
        run = runs[backend]
        what = kill_once(run, dice, lasts[backend])
        kills[what] += 1
        try:
            run.process.wait(60)
            if dice.random() < 0.6:  # else a person starts again before all of the old run has ended
                slowest_end = max(slowest_end, run.until_all_are_gone(15 if what == "command SIGKILL" else 1))
                said = run.said()
                assert "Traceback" not in said, said
            run.start()
            said = run.said(90)
            assert run.process.returncode == 0, said
            run.until_all_are_gone()
            assert run.litter() == []
        except AssertionError as error:
            raise AssertionError(f"turn {turn}, {backend}, {what}: {error}") from error
        print(f"turn {turn}: {backend}, {what}", flush=True)  # pytest -s
        turn += 1
    print(f"{dict(sorted(kills.items()))}; all processes gone after at most {slowest_end:.1f} s")
