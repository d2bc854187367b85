"""A run against earlier runs: the same from a folder and from a database, and a planted change is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fleets import START, builder, stored
from typer.testing import CliRunner

from workalike.cli import app
from workalike.darshan import open_log
from workalike.diagnose.finding import History
from workalike.diagnose.text import history_lines
from workalike.errors import WorkalikeError
from workalike.fleet.history.compare import history_of


def run(
    folder: Path, job: int, write_s: float, *, size: int = 1 << 30, fsyncs: int = 0, **more: object
) -> Path:
    """A job of four ranks that writes a shared file in so many seconds on each rank."""
    log = builder(job, **{"day": float(job), **more})
    log.posix(
        "/scratch/out.dat",
        OPENS=4,
        WRITES=1024,
        FSYNCS=fsyncs,
        BYTES_WRITTEN=size,
        MAX_BYTE_WRITTEN=size - 1,
        SIZE_WRITE_1M_4M=1024,
        F_WRITE_TIME=4 * write_s,
        F_SLOWEST_RANK_TIME=write_s,
    )
    folder.mkdir(exist_ok=True, parents=True)
    return log.write(folder / f"job_{job}.darshan")


@pytest.fixture
def past(tmp_path: Path) -> Path:
    """Ten runs of 10.0 to 10.9 s, others that are not compared with, and a damaged log."""
    folder = tmp_path / "logs"
    for job in range(10):
        run(folder / "sub", job, 10 + job / 10)
    run(folder, 50, 99.0, day=0.5, exe="./other")
    run(folder, 51, 99.0, day=0.5, nprocs=8)
    run(folder, 52, 99.0, day=0.5, size=1 << 34)
    run(folder, 53, 99.0, day=99.0)  # a later run
    (folder / "broken.darshan").write_bytes(b"no log")
    return folder


def both(past: Path, tmp_path: Path, log: Path) -> tuple[History, History]:
    """By the folder and by its database."""
    store, _ = stored(tmp_path / "db", past)
    opened = open_log(log)
    return history_of([opened], past), history_of([opened], store.folder)


def test_a_slow_run_stands_out(past: Path, tmp_path: Path) -> None:
    found, by_database = both(past, tmp_path, run(past, 20, 31.0, fsyncs=1024))
    assert (found.logs, found.damaged, found.program_runs, found.runs) == (16, 1, 11, 10)
    assert by_database.model_copy(update={"logs": 16, "damaged": 1}) == found
    standings = {standing.key: standing for standing in found.standings}
    bandwidth = standings["bandwidth"]
    assert bandwidth.percentile == 0 and bandwidth.changed
    assert bandwidth.value == pytest.approx(2**30 / 31)
    assert standings["io_s"].percentile == 100 and standings["io_s"].median == pytest.approx(10.45)
    assert {key for key, standing in standings.items() if standing.changed} == {
        "bandwidth",
        "io_s",
        "write_s",
        "syncs",
    }
    assert "finding sync-each-write is new" in found.changes
    assert len(found.moments) == 11 and found.moments[-1].start == START + 20 * 86400


def test_a_usual_run_has_not_changed(past: Path, tmp_path: Path) -> None:
    found, by_database = both(past, tmp_path, run(past, 20, 10.45))
    assert found.standings == by_database.standings
    assert not any(standing.changed for standing in found.standings) and not found.changes
    place = next(standing.percentile for standing in found.standings if standing.key == "io_s")
    assert place == pytest.approx(50)


def test_other_file_systems_and_findings_that_are_gone_are_said(tmp_path: Path) -> None:
    for job in range(6):
        run(tmp_path, job, 60.0, fsyncs=1024)
    log = builder(9, day=9.0)
    log.posix("/home/out.dat", OPENS=4, WRITES=1024, BYTES_WRITTEN=1 << 30, MAX_BYTE_WRITTEN=(1 << 30) - 1,
              SIZE_WRITE_1M_4M=1024, F_WRITE_TIME=240.0, F_SLOWEST_RANK_TIME=60.0)  # fmt: skip
    found = history_of([open_log(log.write(tmp_path / "now.darshan"))], tmp_path)
    assert {"file system /home is new", "file system /scratch is gone"} <= set(found.changes)
    assert "finding sync-each-write is gone" in found.changes


def test_few_runs_are_too_few_to_judge(past: Path, tmp_path: Path) -> None:
    for job in range(4):
        run(tmp_path / "few", job, 10.0)
    found = history_of([open_log(run(tmp_path / "few", 20, 99.0))], tmp_path / "few")
    assert found.runs == 4 and not found.enough and not any(standing.changed for standing in found.standings)
    assert any("too few earlier runs" in line for line in history_lines(found))


def test_other_io_of_the_program_is_said(past: Path, tmp_path: Path) -> None:
    found, by_database = both(past, tmp_path, run(past, 20, 10.0, size=1 << 33))
    assert found.runs == 0 == by_database.runs and found.program_runs == 11
    assert found.changes == by_database.changes == [
        "bytes written: 8,589,934,592, in the newest earlier run 1,073,741,824"
    ]  # fmt: skip
    assert "none of 11 earlier runs" in history_lines(found)[0]


def test_a_first_run_has_no_history(tmp_path: Path) -> None:
    found = history_of([open_log(run(tmp_path, 1, 10.0))], tmp_path)
    assert (found.logs, found.program_runs, found.runs) == (1, 0, 0)
    assert history_lines(found) == ["0 earlier runs of the program with as many ranks; 1 log looked through"]


def test_of_several_logs_the_one_with_most_io_is_compared(past: Path) -> None:
    logs = [open_log(run(past, 20, 31.0)), open_log(run(past, 21, 1.0))]
    found = history_of(logs, past)
    assert found.of_logs == 2
    assert next(standing.value for standing in found.standings if standing.key == "io_s") == pytest.approx(
        31.0
    )


def test_the_command_prints_it(past: Path, tmp_path: Path) -> None:
    log = run(past, 20, 31.0)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["diagnose", str(log), "--history", str(past), "-o", str(page)])
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert "History: 10 earlier runs of this workload (2026-01-01 00:00 to 2026-01-10 00:00)" in words
    assert "CHANGED bandwidth: 33 MiB/s, usually 94.3 MiB/s to 102 MiB/s (below all)" in words
    text = page.read_text()
    assert "<h2>History</h2>" in text and "days, from this run" in text
    done = CliRunner().invoke(app, ["diagnose", str(log), "--history", str(past), "--json"])
    assert json.loads(done.output)["history"]["runs"] == 10


def test_a_folder_that_is_not_there_is_named(past: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError, match="none: is not a folder") as raised:
        history_of([open_log(run(past, 20, 31.0))], tmp_path / "none")
    assert raised.value.exit_code == 2


def test_of_runs_that_start_in_the_same_second_the_smaller_log_id_is_earlier(tmp_path: Path) -> None:
    logs = [run(tmp_path / "logs", job, 10.0, day=1.0) for job in range(3)]
    found = [both(tmp_path / "logs", tmp_path, log) for log in logs]
    assert sorted(history.runs for history, _ in found) == [0, 1, 2]
    assert [history.runs for history, _ in found] == [history.runs for _, history in found]
