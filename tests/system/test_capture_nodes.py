"""Capture and replicas on three nodes, whose clocks count from different starts, and a rank that is killed on one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from workalike.capture.library import find_library
from workalike.darshan import Log, open_log
from workalike.launch.engines import find_engine

from .support import read_json, wait_until, workalike, workalike_command
from .testbed import CephBed, needs_testbed

pytestmark = pytest.mark.system

NODES, RANKS = 3, 6
BLOCK, BLOCKS = 65536, 4
DUMP = BLOCKS * BLOCK
"""Bytes of a rank's file."""
EVERYWHERE = ("srun", f"--nodes={NODES}", "--ntasks-per-node=1")
MOST_SECONDS = 300
"""Uptimes of nodes differ by 1000 s, which must not be seen in a log."""
WORKLOAD = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: {{interface}}
  sharing: {{sharing}}
  schedule: {{{{count: 2, first: 0 s, every: 900 s}}}}
  content:
    streams: [{{{{direction: write, sizes: [{BLOCKS}/rank x {BLOCK} B]}}}}]
"""


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    needs_testbed()
    with CephBed() as started:
        started.start_slurm()
        yield started


def in_allocation(bed: CephBed, folder: Path, *command: object) -> None:
    """A command under salloc; an MPI rank may die once in fifty, so that it is run again."""
    whole = bed.inside("salloc", "--quiet", f"--nodes={NODES}", "--ntasks-per-node=2", *map(str, command))
    for attempt in range(2):
        done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, timeout=200)
        if done.returncode == 0:
            return
        assert attempt == 0, done.stdout + done.stderr


def times_of(log: Log, module: str) -> np.ndarray:
    table = log.records(module)
    assert table is not None
    names = [name for name in table.fcounter_names if name.endswith("_TIMESTAMP")]
    return np.concatenate([np.asarray(table[name], dtype=float) for name in names])


def test_a_replica_under_capture(bed: CephBed, tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(WORKLOAD.format(interface="mpiio", sharing="shared"))
    data = bed.mount / "replica"
    command = [*workalike_command(), "run", "app.yaml", "--dir", data, "-o", "out", "--time-scale", "0"]
    in_allocation(bed, tmp_path, *command, "--capture", "--keep", "--verify")
    record = read_json(tmp_path / "out/run.json")
    assert record["environment"]["host_count"] == NODES and record["processes"] == RANKS
    assert record["verified"].items() >= {"bytes": 2 * RANKS * BLOCKS * BLOCK, "errors": 0}.items()
    assert all(0 <= dump["start_s"] < dump["end_s"] < MOST_SECONDS for dump in record["dumps"])
    log = open_log(tmp_path / "out/replica.darshan")
    assert log.job.nprocs == RANKS and log.job.run_time < MOST_SECONDS
    mpiio = log.records("MPI-IO")
    assert mpiio is not None
    assert int(mpiio["BYTES_WRITTEN"].sum()) == sum(path.stat().st_size for path in data.iterdir())
    times = times_of(log, "MPI-IO")
    assert times.min() >= 0 and times.max() <= log.job.run_time
    compared = workalike("compare", "app.yaml", "out/replica.darshan", cwd=tmp_path)
    assert compared.returncode == 0, compared.stderr


def test_one_clock(bed: CephBed, tmp_path: Path) -> None:
    """A program that is not ours to start: hosts and times of its ranks are in one log."""
    uptimes = subprocess.run(
        bed.inside("srun", f"--nodes={NODES}", "python3", "-c", "import time; print(time.monotonic())"),
        capture_output=True,
        text=True,
    ).stdout.split()
    spread = max(map(float, uptimes)) - min(map(float, uptimes))
    assert len(uptimes) == NODES and spread > 1900, "clocks differ"
    (tmp_path / "app.yaml").write_text(WORKLOAD.format(interface="posix", sharing="per-rank"))
    planned = workalike("plan", "app.yaml", "--time-scale", "0", "-o", "plan.json", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    data = bed.mount / "one-clock"
    data.mkdir()
    engine = ["srun", "--mpi=pmix", find_engine(), "--plan", "plan.json", "--dir", data, "--quiet"]
    script = tmp_path / "job.sh"  # each attempt needs a record of its own
    script.write_text(f'#!/bin/sh\nexec {" ".join(map(str, engine))} --record "record.$SLURM_JOB_ID"\n')
    script.chmod(0o755)
    profile = [
        *workalike_command(),
        "profile",
        "-o",
        "app.darshan",
        "--dxt",
        "--events",
        "--include",
        f"^{data}/",
    ]
    in_allocation(bed, tmp_path, *profile, "--", script)
    log = open_log(tmp_path / "app.darshan")
    assert log.job.nprocs == RANKS and log.job.run_time < MOST_SECONDS
    side = read_json(tmp_path / "app.darshan.extra.json")
    clocks = {clock["rank"]: clock["offset"] for clock in side["clocks"]}
    assert set(clocks) == set(range(RANKS))
    assert max(map(abs, clocks.values())) < MOST_SECONDS
    assert all(0 <= process["start"] < process["end"] < MOST_SECONDS for process in side["processes"])
    hosts = hosts_by_rank(tmp_path / "app.darshan")
    assert hosts == {0: "n1", 1: "n1", 2: "n2", 3: "n2", 4: "n3", 5: "n3"}


def hosts_by_rank(path: Path) -> dict[int, str]:
    """By PyDarshan, which reads the traces of any writer."""
    import darshan

    report = darshan.DarshanReport(str(path), read_all=True)
    return {int(record["rank"]): str(record["hostname"]) for record in report.records["DXT_POSIX"]}


@dataclass(frozen=True)
class Attempt:
    """A run whose ranks have done their first dump: where its counters are on each node, and its data."""

    job: subprocess.Popen[bytes]
    maps: Path
    data: Path


def started(bed: CephBed, folder: Path, number: int) -> Attempt | None:
    """The engine on all nodes under capture, up to its first dump; None where a rank died before."""
    maps, data = Path(f"/dev/shm/maps-{folder.name}-{number}"), bed.mount / f"killed-{number}"
    data.mkdir()
    subprocess.run(bed.inside(*EVERYWHERE, "mkdir", maps), check=True, timeout=60)
    preload = ["env", f"LD_PRELOAD={find_library()}", f"WORKALIKE_CAPTURE_DIR={folder}"]
    preload += [
        f"WORKALIKE_CAPTURE_MAPS={maps}",
        f"WORKALIKE_CAPTURE_INCLUDE=^{data}/",
        "WORKALIKE_CAPTURE_EXCLUDE=.*",
    ]
    engine = [
        str(find_engine()),
        "--plan",
        "plan.json",
        "--dir",
        str(data),
        "--record",
        f"record-{number}",
        "--keep",
    ]
    ranks = ("srun", "--mpi=pmix", f"--nodes={NODES}", "--ntasks-per-node=2", "--kill-on-bad-exit=1")
    job = subprocess.Popen(
        bed.inside(*ranks, *preload, *engine),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:

        def written() -> bool:
            return sum(path.stat().st_size == DUMP for path in data.glob("*.dat")) >= RANKS

        wait_until(lambda: written() or job.poll() is not None, 60, "a first dump")
    except BaseException:
        job.kill()
        raise
    return Attempt(job, maps, data) if job.poll() is None else None


def test_a_rank_killed_on_another_node_is_recovered(bed: CephBed, tmp_path: Path) -> None:
    """All ranks wait after their first dump when one of n2 is killed; their counters are on three nodes."""
    (tmp_path / "app.yaml").write_text(WORKLOAD.format(interface="posix", sharing="per-rank"))
    planned = workalike("plan", "app.yaml", "-o", "plan.json", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    attempt = started(bed, tmp_path, 0) or started(bed, tmp_path, 1)  # as `in_allocation`
    assert attempt is not None, "an MPI rank died at its start, twice"
    job, maps, data = attempt.job, attempt.maps, attempt.data
    try:
        os.kill(process_on(bed, "n2"), signal.SIGKILL)
        job.wait(60)
    finally:
        job.kill()
    assert job.returncode != 0
    collected = tmp_path / "collected"
    collected.mkdir()
    copy = f"cp -r {maps} {collected}/$(hostname)"
    subprocess.run(bed.inside(*EVERYWHERE, "sh", "-c", copy), check=True, timeout=60)
    folders = sorted(collected.iterdir())
    assert [folder.name for folder in folders] == ["n1", "n2", "n3"]
    done = workalike("profile", "-o", "logs", "--recover", *folders, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    logs = [open_log(path) for path in (tmp_path / "logs").glob("*.darshan")]
    (log,) = [log for log in logs if log.job.nprocs == RANKS]
    assert log.job.metadata["recovered_ranks"] == f"{RANKS} of {RANKS}"
    posix = log.records("POSIX")
    assert posix is not None
    by_name = {
        log.names[number]: int(size)
        for number, size in zip(posix.ids.tolist(), posix["BYTES_WRITTEN"], strict=True)
    }
    assert {str(path): DUMP for path in data.glob("*.0000.*.dat")} == {
        name: size for name, size in by_name.items() if name.endswith(".dat") and size
    }
    assert times_of(log, "POSIX").max() < MOST_SECONDS


def process_on(bed: CephBed, node: str) -> int:
    """A rank on a node, by the host name in its own namespace."""
    listed = subprocess.run(
        ["ip", "netns", "pids", f"workalike-testbed-{bed.name}"], capture_output=True, text=True
    ).stdout.split()
    for pid in listed:
        try:
            command = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if command == "workalike-engin":
            host = subprocess.run(
                ["nsenter", f"--uts=/proc/{pid}/ns/uts", "hostname"], capture_output=True, text=True
            ).stdout.strip()
            if host == node:
                return int(pid)
    raise AssertionError(f"no rank on {node}")
