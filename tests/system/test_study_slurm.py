"""Studies as jobs of a real Slurm of three nodes, each with a client of its own of one CephFS."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from .support import lines_of, read_json, wait_until, workalike_command
from .testbed import CephBed, needs_testbed, slurm_bed, tools_testbed

pytestmark = pytest.mark.system

NODES = 3
KILLS = 20
WORKLOAD = """\
workalike: 2
ranks: 3
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {count: 2, first: 0 s, every: 1 s}
  content:
    streams: [{direction: write, sizes: [4/rank x 64 KiB]}]
"""
DUMP_BYTES = 3 * 4 * 65536


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    with slurm_bed() as started:
        yield started


@pytest.fixture
def folder(bed: CephBed, tmp_path: Path) -> Path:
    (tmp_path / "w.yaml").write_text(WORKLOAD)
    (bed.mount / tmp_path.name).mkdir()
    return tmp_path


def write_study(folder: Path, **fields: Any) -> Path:
    document = {
        "study": 1,
        "workload": "w.yaml",
        "fixed": {"time_scale": 0, "nodes": NODES, "ranks_per_node": 1, "layout.object_size": "1 MiB"},
        "factors": {"stripes": {"set": "layout.stripe_count", "levels": {"nodes": "nodes", "one": 1}}},
        "blocks": 2,
        "a_a": False,
    } | fields
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def study(bed: CephBed, folder: Path, *options: str) -> list[str]:
    """The command that submits the study of a folder."""
    data = str(bed.mount / folder.name)
    command = [*workalike_command(), "study", "study.yaml", "-o", "out", "--dir", data, "--no-ceiling"]
    return bed.inside(*command, "--submit", "slurm", *options)


def submitted(bed: CephBed, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        study(bed, folder, *options), cwd=folder, capture_output=True, text=True, timeout=240
    )


def trials(folder: Path) -> list[dict[str, Any]]:
    path = folder / "out/trials.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line)["trial"] for line in text.splitlines(keepends=True) if line.endswith("\n")]


def slurm(bed: CephBed, *command: str) -> str:
    done = subprocess.run(bed.inside(*command), capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def job_of(folder: Path) -> str:
    return str(read_json(folder / "out/batch/job.json")["id"])


def check_complete(folder: Path, blocks: int) -> list[dict[str, Any]]:
    """Every setting once in every block, on three nodes, with its bytes. An MPI rank may die once in fifty."""
    rows = trials(folder)
    names = {"stripes=nodes", "stripes=one"}
    assert sorted((row["block"], row["setting"]) for row in rows) == sorted(
        (block, name) for block in range(blocks) for name in names
    )
    counted = [row for row in rows if row["counted"]]
    assert len(counted) >= len(rows) - 1, [row["reasons"] for row in rows]
    for row in counted:
        assert row["found"]["host_count"] == NODES and row["nodes_used"] == ["n[1-3]"]
        assert row["bytes_written"] == 2 * DUMP_BYTES
        assert row["found"]["layout"]["stripe_count"] == (3 if row["stripes"] == "nodes" else 1)
    return rows


def test_nodes_are_clients_of_their_own(bed: CephBed) -> None:
    (bed.mount / "of-everybody").write_text("seen")
    look = f"hostname; cat {bed.mount}/of-everybody; echo; stat -c %i /dev/shm; touch /dev/shm/$(hostname); ls /dev/shm"
    shown = slurm(bed, "srun", f"--nodes={NODES}", "--ntasks-per-node=1", "sh", "-c", look)
    assert shown.count("seen") == NODES
    assert sorted(line for line in lines_of(shown) if line in ("n1", "n2", "n3")) == sorted(
        ["n1", "n2", "n3"] * 2
    )
    clients = subprocess.run(
        ["ip", "netns", "pids", f"workalike-testbed-{bed.name}"], capture_output=True, text=True
    )
    names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in clients.stdout.split()]
    assert names.count("ceph-fuse") == NODES + 1


def test_a_study_in_one_allocation(bed: CephBed, folder: Path) -> None:
    write_study(folder)
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    rows = check_complete(folder, 2)
    assert f"{len(rows)} trials" in done.stdout and "job" in done.stderr
    assert list((bed.mount / folder.name).iterdir()) == []
    number = job_of(folder)

    def shown() -> str:
        return slurm(bed, "scontrol", "show", "job", number)

    # Nodes of a busy machine take seconds to tidy up after a job, which is COMPLETING until then.
    wait_until(lambda: "JobState=COMPLETED" in shown(), 60, "a completed job")
    assert f"NumNodes={NODES}" in shown()
    again = submitted(bed, folder, "--blocks", "3")
    assert again.returncode in (0, 1), again.stderr
    assert check_complete(folder, 3)[: len(rows)] == rows, "what had finished is kept as it was"


def test_an_array_of_three_tasks(bed: CephBed, folder: Path) -> None:
    """Each task has an allocation of its own on all nodes, and runs its share of the blocks."""
    write_study(folder, blocks=3)
    done = submitted(bed, folder, "--array", "3")
    assert done.returncode in (0, 1), done.stderr
    check_complete(folder, 3)
    for number in range(3):
        lines = (folder / f"out/shares/{number}-of-3/trials.jsonl").read_text().splitlines()
        assert {json.loads(line)["trial"]["block"] for line in lines} == {number}
    assert "ArrayTaskId=" in slurm(bed, "scontrol", "show", "job", job_of(folder))
    assert list((bed.mount / folder.name).iterdir()) == []


def test_a_search_in_one_job(bed: CephBed, folder: Path) -> None:
    write_study(
        folder,
        factors={"stripes": {"set": "layout.stripe_count", "levels": [1, 2, 3]}},
        search={"rungs": [{"dumps": 1, "keep": 2}]},
        blocks=1,
    )
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    assert len(trials(folder)) == 2 and read_json(folder / "out/search.json")


def test_a_killed_job_is_resumed(bed: CephBed, folder: Path) -> None:
    """The driver is killed in its allocation; the waiting command says so, and the next one goes on."""
    write_study(folder, blocks=4)
    waiting = subprocess.Popen(
        study(bed, folder), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: len(trials(folder)) >= 2, 120, "two trials")
    slurm(bed, "scancel", "--signal=KILL", "--full", job_of(folder))
    _, shown = waiting.communicate(timeout=120)
    before = trials(folder)
    assert 2 <= len(before) < 8, "it was killed in the middle"
    assert waiting.returncode == 1
    assert "trials have finished and are kept" in lines_of(shown)[-1], shown
    first = job_of(folder)
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    assert job_of(folder) != first
    assert check_complete(folder, 4)[: len(before)] == before
    assert list((bed.mount / folder.name).iterdir()) == []


@pytest.mark.long
def test_jobs_killed_at_random(bed: CephBed, folder: Path) -> None:
    """Twenty kills: no finished trial is repeated, and no row is lost, doubled or changed."""
    write_study(folder, blocks=20)
    chosen = random.Random(20)
    kept: list[dict[str, Any]] = []
    for _ in range(KILLS):
        waiting = subprocess.Popen(
            study(bed, folder), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert waiting.stderr is not None
        for line in waiting.stderr:
            if "running" in line:
                break
        time.sleep(chosen.uniform(0, 8))
        slurm(bed, "scancel", "--signal=KILL", "--full", job_of(folder))
        waiting.communicate(timeout=120)
        rows = trials(folder)
        assert rows[: len(kept)] == kept
        kept = rows
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    rows = trials(folder)
    assert rows[: len(kept)] == kept
    keys = [(row["block"], row["setting"]) for row in rows]
    assert len(keys) == len(set(keys)) == 40
    assert list((bed.mount / folder.name).iterdir()) == []


def test_a_killed_command_finds_its_job_again(bed: CephBed, folder: Path) -> None:
    write_study(folder)
    waiting = subprocess.Popen(
        study(bed, folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until((folder / "out/batch/job.json").exists, 60, "a job")
    os.killpg(waiting.pid, signal.SIGKILL)
    waiting.wait(30)
    first = job_of(folder)
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    assert job_of(folder) == first
    check_complete(folder, 2)


def test_a_job_that_slurm_refuses(bed: CephBed, folder: Path) -> None:
    write_study(folder)
    done = submitted(bed, folder, "--batch-option=--partition=nowhere")
    assert done.returncode == 1
    assert "nvalid partition" in lines_of(done.stderr)[-1] and len(lines_of(done.stderr)) == 1
    assert trials(folder) == []


def test_a_job_that_does_not_start_says_why(bed: CephBed, folder: Path) -> None:
    """It is held by its user; then it is cancelled."""
    write_study(folder)
    waiting = subprocess.Popen(
        study(bed, folder, "--batch-option=--hold"),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until((folder / "out/batch/job.json").exists, 60, "a job")
    assert waiting.stderr is not None
    line = waiting.stderr.readline()
    assert "waiting (JobHeldUser)" in line, line
    slurm(bed, "scancel", job_of(folder))
    _, shown = waiting.communicate(timeout=60)
    assert waiting.returncode == 1 and "ended as CANCELLED" in shown


INTERLEAVED = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  schedule: {count: 2, first: 0 s, every: 1 s}
  content:
    streams: [{direction: write, sizes: [512/rank x 64 KiB], pattern: interleaved}]
"""


def test_two_clients_that_interleave_one_file(bed: CephBed, folder: Path) -> None:
    """Two ranks on two nodes take turns in one file, so that clients hand its locks to and fro; with a file each there is
    nothing to hand over. How long that takes differs widely: a fifth more, or five seconds for a dump of 64 MiB.
    """
    (folder / "w.yaml").write_text(INTERLEAVED)
    factors = {"nodes": [1, 2], "sharing": ["shared", "per-rank"]}
    write_study(folder, fixed={"time_scale": 0}, factors=factors, blocks=3, a_a=False)
    done = submitted(bed, folder)
    assert done.returncode in (0, 1), done.stderr
    rows = trials(folder)
    assert len(rows) == 3 * 4 and sum(not row["counted"] for row in rows) <= 1
    logs: dict[tuple[int, str], list[float]] = {}
    for row in rows:
        if row["counted"]:
            assert row["found"]["host_count"] == row["nodes"]
            logs.setdefault((row["nodes"], row["sharing"]), []).append(math.log(row["io_time_s"]))
    mean = {key: sum(seconds) / len(seconds) for key, seconds in logs.items()}
    slower = {name: math.exp(mean[2, name] - mean[1, name]) for name in ("shared", "per-rank")}
    assert slower["shared"] > 1.15 and slower["shared"] > slower["per-rank"], logs


def test_stop_ends_jobs_too(tmp_path: Path) -> None:
    """A testbed that is stopped while a job runs on its nodes."""
    needs_testbed()
    other = CephBed()
    with other:
        other.start_slurm()
        script = tmp_path / "job.sh"
        script.write_text(f"#!/bin/sh\nsrun sh -c 'touch {tmp_path}/began-$SLURM_PROCID; sleep 1000'\n")
        slurm(other, "sbatch", "--nodes=2", "--ntasks=2", f"--output={tmp_path}/out", str(script))
        wait_until(lambda: len(list(tmp_path.glob("began-*"))) == 2, 60, "two tasks")
        inside = subprocess.run(
            ["ip", "netns", "pids", f"workalike-testbed-{other.name}"], capture_output=True, text=True
        ).stdout.split()
    assert len(inside) > 15
    left = [pid for pid in inside if Path(f"/proc/{pid}/stat").exists() and not _zombie(pid)]
    assert left == []
    assert tools_testbed("stop", "--name", other.name, check=False).returncode == 1, "it is gone"


def _zombie(pid: str) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def test_spread_blocks_have_a_job_each(bed: CephBed, folder: Path) -> None:
    """Slurm itself holds the second job back; it looks for jobs that may begin once a minute at the most."""
    write_study(folder, blocks={"count": 2, "every": "30 s"})
    done = submitted(bed, folder, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "done"
    starts = [
        min(datetime.fromisoformat(row["started"]) for row in trials(folder) if row["block"] == block)
        for block in (0, 1)
    ]
    assert starts[1] - starts[0] >= timedelta(seconds=30)
