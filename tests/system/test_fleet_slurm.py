"""An ingestion as a job array of a real Slurm of three nodes, on one CephFS."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleets import plain_log, rows_of, stored

from .support import lines_of, wait_until, workalike_command
from .testbed import CephBed, slurm_bed

pytestmark = pytest.mark.system

TASKS = 3


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    with slurm_bed() as started:
        yield started


@pytest.fixture
def place(bed: CephBed, tmp_path: Path) -> Path:
    """A folder with 60 logs and a damaged one, which all nodes see."""
    folder = bed.mount / tmp_path.name
    for job in range(60):
        plain_log(folder / "logs", job, uid=job % 3, day=job % 5)
    (folder / "logs" / "bad.darshan").write_text("no log")
    return folder


def array(bed: CephBed, place: Path) -> list[str]:
    command = [*workalike_command(), "fleet", "ingest", str(place / "logs"), "--db", str(place / "db")]
    return bed.inside(*command, "--array", str(TASKS), "--batch-option=--ntasks-per-node=1")


def run(bed: CephBed, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(array(bed, place), capture_output=True, text=True, timeout=240)


def test_the_database_is_that_of_one_process(bed: CephBed, place: Path, tmp_path: Path) -> None:
    done = run(bed, place)
    assert done.returncode == 3, done.stderr  # the damaged log
    assert "61 logs" in done.stdout and "60 ingested, 1 quarantined" in done.stdout
    assert "bad.darshan" in done.stderr
    stored(tmp_path / "one", place / "logs")
    assert rows_of(place / "db") == rows_of(tmp_path / "one")
    again = run(bed, place)
    assert again.returncode == 0, again.stderr
    assert "nothing new" in again.stdout


def test_a_killed_task_is_done_by_the_next_job(bed: CephBed, place: Path, tmp_path: Path) -> None:
    waiting = subprocess.Popen(array(bed, place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    note = place / "db" / "array" / str(TASKS) / "job.json"
    wait_until(note.exists, 120, "the job")
    subprocess.run(bed.inside("scancel", "--name=workalike-ingest"), check=True, timeout=60)
    _, messages = waiting.communicate(timeout=240)
    assert waiting.returncode == 1
    assert "tasks did not end" in lines_of(messages)[-1]
    done = run(bed, place)
    assert done.returncode in (0, 3), done.stderr  # 0 where a task had seen the damaged log before
    stored(tmp_path / "one", place / "logs")
    assert rows_of(place / "db") == rows_of(tmp_path / "one")
