"""A disk that is full in the middle of a study, and a clock that jumps: said plainly, and nothing is lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from studies import trials_in, write_study

from workalike.errors import ErrorKind, WorkalikeError
from workalike.study import journal, trial
from workalike.study.driver import DriverOptions, Outcome, run_study
from workalike.study.study_file import read_study

TRIALS = 10
"""Of `write_study`: four settings and the a/a arm, in two blocks."""


def run(folder: Path) -> Outcome:
    return run_study(read_study(write_study(folder)), DriverOptions(out=folder / "out"))


def is_journal(descriptor: int) -> bool:
    return Path(f"/proc/self/fd/{descriptor}").readlink().name == journal.LINES


def full_after(lines: int) -> Callable[[int, bytes], int]:
    """`os.write` on a disk with room for so many lines of the journal, and for half of the next one."""
    write, state = os.write, {"lines": 0, "half": False}

    def limited(descriptor: int, data: bytes) -> int:
        if not is_journal(descriptor):
            return write(descriptor, data)
        if state["half"]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if state["lines"] == lines:
            state["half"] = True
            return write(descriptor, data[: len(data) // 2])
        state["lines"] += 1
        return write(descriptor, data)

    return limited


def test_a_disk_that_is_full_when_a_trial_is_recorded(tmp_path: Path) -> None:
    """What was written of the line is taken back; the tables have the trials before, and the command resumes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "write", full_after(3))
        with pytest.raises(WorkalikeError) as error:
            run(tmp_path)
    assert error.value.kind is ErrorKind.CANNOT_WRITE
    assert "the trial is lost, and 3 before it are kept" in error.value.one_line()
    before = (tmp_path / "out" / journal.LINES).read_bytes()
    assert before.endswith(b"\n") and before.count(b"\n") == 3
    assert pq.read_table(tmp_path / "out" / "trials.parquet").num_rows == 3
    assert journal.read_manifest(tmp_path / "out")["state"] == "interrupted"

    outcome = run(tmp_path)
    assert (outcome.state, len(outcome.finished)) == ("done", TRIALS)
    assert (tmp_path / "out" / journal.LINES).read_bytes().startswith(before), (
        "no finished trial is run again"
    )
    keys = [(row["block"], row["setting"]) for row in trials_in(tmp_path / "out")]
    assert len(set(keys)) == TRIALS


def test_a_disk_that_is_full_in_the_middle_of_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fourth trial fails for want of space: it is not a failed trial of its setting, and is run again later."""
    run_plan, calls = trial.run_plan, iter(range(100))

    def limited(*arguments: object) -> object:
        if next(calls) == 3:
            raise WorkalikeError(ErrorKind.RUN_FAILED, "pwrite: No space left on device")
        return run_plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(trial, "run_plan", limited)
    with pytest.raises(trial.NoSpace) as error:
        run(tmp_path)
    said = error.value.one_line()
    assert "no space left in the middle of a trial, which is not counted" in said and "it resumes" in said
    assert [row["state"] for row in trials_in(tmp_path / "out")] == ["ok"] * 3
    assert len(run(tmp_path).finished) == TRIALS


def test_a_clock_that_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of day goes back by a day at each look: durations and the order of trials do not follow it."""
    moments = iter(range(1000, 0, -1))

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.fromtimestamp(86400 * next(moments), UTC)

    monkeypatch.setattr(journal, "datetime", Backwards)
    monkeypatch.setattr("time.time", lambda: 86400.0 * next(moments))
    outcome = run(tmp_path)
    rows = [row.trial for row in outcome.finished]
    started = [row["started"] for row in rows]
    assert started == sorted(started, reverse=True) and len(set(started)) == TRIALS, "the clock did jump"
    assert [(row["block"], row["position"]) for row in rows] == [(b, p) for b in range(2) for p in range(5)]
    assert all(0 <= row["took_s"] < 3600 and 0 <= row["core_hours"] < 1 for row in rows)

    again = run(tmp_path)
    assert [row.trial for row in again.finished] == rows, "a study that has ended runs nothing again"
