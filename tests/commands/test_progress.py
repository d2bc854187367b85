"""Long work shows a bar on a terminal, and a line every ten seconds where stderr is a file."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from workalike.commands import progress
from workalike.darshan import open_log

JOBS = 30
STUDY = Path(__file__).parents[2] / "studies" / "strong-scaling.yaml"  # of four settings


def stderr_of(folder: Path, *arguments: str, terminal: bool) -> str:
    """What a command prints on stderr, a terminal or a pipe."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as stderr:
        command = [sys.executable, "-m", "workalike", *arguments]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=writer,
        )
        os.close(writer)
        text = b""
        with contextlib.suppress(OSError):  # how a terminal ends that nobody writes to any more
            while piece := stderr.read(1 << 16):
                text += piece
        assert process.wait(timeout=60) == 0, text
    return text.decode()


def test_a_fleet_is_made_and_read_with_a_bar_on_a_terminal(tmp_path: Path) -> None:
    make = ("fleet", "generate", "-o", ".", "--jobs", str(JOBS))
    read = ("fleet", "ingest", "logs", "--db", "db", "-j", "1")
    assert f"{JOBS}/{JOBS}" in stderr_of(tmp_path, *make, terminal=True)
    assert f"{JOBS}/{JOBS}" in stderr_of(tmp_path, *read, terminal=True)


def test_a_file_gets_a_line_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 3.0, 12.0, 15.0, 30.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with progress.progress("logs") as report_done:
        for done in (10, 40, 50, 75):
            report_done(done, 100)
    assert capsys.readouterr().err.splitlines() == [
        "workalike: 40 of 100 logs, about 18 s left",
        "workalike: 75 of 100 logs, about 10 s left",
    ]


def test_no_bar_goes_into_a_file_or_with_quiet(tmp_path: Path) -> None:
    assert stderr_of(tmp_path, "fleet", "generate", "-o", ".", "--jobs", str(JOBS), terminal=False) == ""
    assert stderr_of(tmp_path, "fleet", "ingest", "logs", "--db", "db", "-q", terminal=True) == ""


def test_earlier_runs_are_looked_for_with_a_bar(tmp_path: Path) -> None:
    stderr_of(tmp_path, "fleet", "generate", "-o", ".", "--jobs", str(JOBS), terminal=False)
    newest = max((tmp_path / "logs").rglob("*.darshan"), key=lambda log: open_log(log).job.start_time)
    shown = stderr_of(tmp_path, "diagnose", str(newest), "--history", "logs", terminal=True)
    done, total = re.findall(r"(\d+)/(\d+)", shown)[-1]
    assert done == total and int(total) > JOBS


def test_settings_of_a_study_are_checked_with_a_bar(tmp_path: Path) -> None:
    check = ("study", "check", str(STUDY))
    assert re.search(r"\d/4.{0,10}settings", stderr_of(tmp_path, *check, terminal=True))
    assert stderr_of(tmp_path, *check, terminal=False) == ""
