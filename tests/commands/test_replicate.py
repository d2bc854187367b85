"""`replicate` and `run` with the engine: what they report, and which files they do not touch."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import MAIN, workalike

from workalike.darshan import LogBuilder

ONE = """\
workalike: 2
ranks: 1
families:
- role: output
  interface: posix
  schedule: {start: [0 s]}
  content:
    streams: [{direction: write, sizes: [3 x 1 MiB]}]
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """One file of 4 MiB, by one rank."""
    builder = LogBuilder(nprocs=1, run_time=10.0)
    builder.posix(
        "/scratch/out.dat",
        rank=0,
        OPENS=1,
        WRITES=4,
        BYTES_WRITTEN=4 << 20,
        SIZE_WRITE_100K_1M=4,
        ACCESS1_ACCESS=1 << 20,
        ACCESS1_COUNT=4,
        F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=1.1,
        F_WRITE_END_TIMESTAMP=2.0,
        F_CLOSE_END_TIMESTAMP=2.1,
    )
    path = tmp_path / "app.darshan"
    builder.write(path)
    return path


@pytest.mark.parametrize(
    ("options", "basis"),
    [([], "log"), (["--no-capture"], "record"), (["--verify"], "log"), (["--backend", "null"], "plan")],
)
def test_what_a_replica_is_measured_by(log: Path, tmp_path: Path, options: list[str], basis: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "replica.darshan").write_text("of an earlier run")
    done = workalike("replicate", log, "-o", "out", "--time-scale", "0", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    fidelity = json.loads((tmp_path / "out" / "fidelity.json").read_text())
    assert fidelity["basis"] == basis
    assert (tmp_path / "out" / "replica.darshan").exists() == (basis == "log")


def test_the_verification_is_reported_everywhere(log: Path, tmp_path: Path) -> None:
    done = workalike("replicate", log, "-o", "out", "--time-scale", "0", "--verify", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "verified: 4,194,304 bytes read back after their dumps, all as written" in done.stdout
    assert (
        "4 MiB read back after their dumps; 4,194,304 bytes still there at the end"
        in (tmp_path / "out" / "report.html").read_text()
    )
    (tmp_path / "one.yaml").write_text(ONE)
    done = workalike("run", "one.yaml", "--dir", "data", "--verify", cwd=tmp_path)
    assert "verified: 3,145,728 bytes read back after their dumps, all as written" in done.stdout


def test_files_of_others_in_the_data_folder_stay(log: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "out" / "data" / "thesis.tex"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("years of work")
    done = workalike("replicate", log, "-o", "out", "--time-scale", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in foreign.parent.iterdir()] == ["thesis.tex"]


def test_a_data_folder_of_our_own_is_removed(log: Path, tmp_path: Path) -> None:
    done = workalike("replicate", log, "-o", "out", "--time-scale", "0", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["families"]
    assert not (tmp_path / "out" / "data").exists()


def test_a_run_leaves_nothing_of_the_run_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.yaml").write_text(ONE)
    for _ in range(2):
        done = workalike("run", "one.yaml", "--dir", "data", "-o", "out", "--backend", "record", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    operations = (tmp_path / "out" / "operations.txt").read_text().splitlines()
    assert sum("\twrite\t" in line for line in operations) == 3
    engine = tmp_path / "engine"  # fails before it writes a record
    engine.write_text('#!/bin/sh\ncase $1 in --features) echo "mpi none" ;; --check) ;; *) exit 1 ;; esac\n')
    engine.chmod(0o755)
    monkeypatch.setenv("WORKALIKE_ENGINE", str(engine))
    done = workalike("run", "one.yaml", "--dir", "data", "-o", "out", cwd=tmp_path)
    assert done.returncode != 0
    assert not any(dump["bytes_written"] for dump in _dumps(tmp_path / "out" / "run.json"))


def test_a_run_that_is_stopped_leaves_a_record_and_no_data(tmp_path: Path) -> None:
    waiting = ONE.replace("{start: [0 s]}", "{start: [0 s, 1000 s]}")
    (tmp_path / "one.yaml").write_text(waiting)
    lines = tmp_path / "out" / "run.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, "run", "one.yaml", "--dir", "data", "-o", "out"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        until = time.monotonic() + 60
        while time.monotonic() < until and not (lines.exists() and '"dump"' in lines.read_text()):
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM
    assert said.splitlines()[-1].startswith("workalike: ended by SIGTERM")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["incomplete"] is True
    assert not list((tmp_path / "data").iterdir())


def test_two_runs_do_not_share_a_record(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(ONE)
    (tmp_path / "out").mkdir()
    other = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    try:
        done = workalike("run", "one.yaml", "--dir", "data", "-o", "out", cwd=tmp_path)
    finally:
        os.close(other)
    assert done.returncode == 1
    assert "cannot write: out: another run is writing" in done.stderr
    assert workalike("run", "one.yaml", "--dir", "data", "-o", "out", cwd=tmp_path).returncode == 0


def test_the_data_folder_of_a_failed_replica_is_removed(log: Path, tmp_path: Path) -> None:
    options = ("--time-scale", "0", "--launcher", "none")
    assert workalike("replicate", log, "-o", "out", *options, cwd=tmp_path).returncode == 2
    assert not (tmp_path / "out" / "data").exists()


def test_a_plan_that_the_engine_refuses(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    plan["contents"][0]["streams"][0]["entries"] = [[1, 2**60]]
    (tmp_path / "bad.json").write_text(json.dumps(plan))
    done = workalike("run", "bad.json", "--dir", "data", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.json: contents[0].streams[0].entries[0][1]: must lie between" in done.stderr


def test_operation_tables_lie_beside_the_plan(tmp_path: Path) -> None:
    plan = _plan(tmp_path)
    plan["contents"][0]["streams"][0] |= {"pattern": "table", "table": "ops.bin", "entries": [[1, 500]]}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "plan.json").write_text(json.dumps(plan))
    table = b"WAOPTAB1" + struct.pack("<QIBqq", 1, 0, 1, 100, 500)
    (tmp_path / "in" / "ops.bin").write_bytes(table)
    done = workalike("run", "in/plan.json", "--dir", "data", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"][0]["size"] == 600


def _plan(folder: Path) -> dict[str, Any]:
    (folder / "one.yaml").write_text(ONE)
    assert workalike("plan", "one.yaml", "-o", "plan.json", cwd=folder).returncode == 0
    return json.loads((folder / "plan.json").read_text())


def _dumps(path: Path) -> list[dict[str, int]]:
    return json.loads(path.read_text())["dumps"] if path.exists() else []
