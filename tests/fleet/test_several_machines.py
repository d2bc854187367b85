"""Shares of a job array, and the workers of a Dask cluster: the same database as one worker makes."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleets import plain_log, query, rows_of, stored

from workalike.errors import WorkalikeError
from workalike.fleet.ingest import ingest
from workalike.fleet.site import Site
from workalike.fleet.store import open_or_make, open_store

RUN = [sys.executable, "-m", "workalike", "fleet", "ingest"]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for job in range(24):
        plain_log(tmp_path / "logs", job, uid=job % 3, day=job % 5)
    (tmp_path / "logs" / "bad.darshan").write_text("no log")
    stored(tmp_path / "one", tmp_path / "logs")
    return tmp_path / "logs"


def test_shares_at_once(tmp_path: Path, logs: Path) -> None:
    shares = [
        subprocess.Popen(
            [*RUN, str(logs), "--db", str(tmp_path / "db"), "-j", "1", "-q", "--share", f"{i}/2"]
        )
        for i in range(2)
    ]
    assert sorted(process.wait() for process in shares) == [0, 3]  # one of them has the damaged log
    assert rows_of(tmp_path / "db") == rows_of(tmp_path / "one")


@pytest.fixture
def made_up_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`sbatch` performs the tasks of an array, but those in the file `killed`; `scontrol` says that they have ended."""
    programs = tmp_path / "bin"
    programs.mkdir()
    killed = tmp_path / "killed"
    killed.touch()
    (programs / "sbatch").write_text(
        f"""#!/bin/sh
        for task in 0 1; do grep -q $task {killed} || SLURM_ARRAY_TASK_ID=$task sh "$2"; done >&2
        echo 17"""
    )
    (programs / "scontrol").write_text("#!/bin/sh\necho JobState=FAILED ExitCode=3:0")
    (programs / "flux").touch()
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return killed


@pytest.mark.system  # starts many processes
def test_a_job_array(tmp_path: Path, logs: Path, made_up_slurm: Path) -> None:
    """With a made-up Slurm; tests/system has a real one."""
    command = [*RUN, str(logs), "--db", str(tmp_path / "db"), "--array", "2"]
    made_up_slurm.write_text("1")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "of job 17, 1 of 2 tasks did not end: 1" in done.stderr
    made_up_slurm.write_text("")
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    # 3 where the damaged log is in the share of the killed task.
    assert done.returncode in (0, 3), done.stderr
    summary = json.loads(done.stdout)
    assert summary["found"] == 25
    assert summary["known"] + summary["ingested"] + summary["quarantined"] == 25
    assert rows_of(tmp_path / "db") == rows_of(tmp_path / "one")


@pytest.mark.system  # starts many processes
def test_a_job_array_of_a_database_with_a_key_leaves_no_paths(
    tmp_path: Path, logs: Path, made_up_slurm: Path
) -> None:
    (tmp_path / "key").write_text("0123456789abcdef")
    (tmp_path / "site.yaml").write_text("key: key\n")
    db = tmp_path / "db"
    command = [*RUN, str(logs), "--db", str(db), "--site", str(tmp_path / "site.yaml"), "--array", "2"]
    made_up_slurm.write_text("1")
    assert subprocess.run(command).returncode == 1
    assert stat.S_IMODE((db / "array").stat().st_mode) == 0o700
    made_up_slurm.write_text("")
    assert subprocess.run(command).returncode in (0, 3)
    assert list((db / "array").iterdir()) == []
    held = [path for path in db.rglob("*") if path.is_file() and path.name != "paths.jsonl"]
    assert not any(str(logs).encode() in path.read_bytes() for path in held)
    assert query(open_store(db), "SELECT count(*) FROM log") == [(24,)]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--watch", "5"), "--array does not go with --watch"),
        (("--share", "0/2"), "--array does not go with"),
        (("--submit", "flux"), "flux has no job arrays"),
        (("--submit", "pbs"), "not installed"),
        (("--submit", "lsf"), "unknown batch system"),
        (("--batch-option", "x; y"), "not an option of a batch system"),
    ],
)
def test_arrays_that_cannot_be(
    tmp_path: Path, logs: Path, made_up_slurm: Path, options: tuple[str, ...], reason: str
) -> None:
    command = [*RUN, str(logs), "--db", str(tmp_path / "db"), "--array", "2", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert reason in done.stderr and len(done.stderr.splitlines()) == 1


Cluster = tuple[str, list[subprocess.Popen[bytes]]]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """The address of a cluster with two workers, and the processes of the scheduler and of them."""
    pytest.importorskip("distributed", reason="pip install 'workalike[fleet-dask]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    base = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        address,
        "--no-dashboard",
        "--no-show",
    ]
    worker = [
        sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
    ]  # fmt: skip
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, **quiet) for command in (base, worker, worker)]  # type: ignore[call-overload]
    try:
        import distributed

        for _ in range(60):
            try:
                with distributed.Client(address, timeout=5, set_as_default=False) as client:
                    client.wait_for_workers(2, timeout=60)
                break
            except OSError:
                assert processes[0].poll() is None
                time.sleep(0.5)
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.system  # starts many processes
def test_two_dask_workers(tmp_path: Path, logs: Path, cluster: Cluster) -> None:
    scheduler, processes = cluster
    done = subprocess.run([*RUN, str(logs), "--db", str(tmp_path / "db"), "-q", "--scheduler", scheduler])
    assert done.returncode == 3
    assert rows_of(tmp_path / "db") == rows_of(tmp_path / "one")
    assert not list((tmp_path / "db" / "staging").iterdir())
    for job in range(100, 106):
        plain_log(logs, job)
    store = open_or_make(tmp_path / "db", "")
    assert ingest(store, [logs], Site(), scheduler=scheduler).counts["ingested"] == 6
    assert query(store, "SELECT count(*) FROM log") == [(30,)]
    stored(tmp_path / "all", logs)
    command = [*RUN, str(logs), "--db", str(tmp_path / "again"), "-q", "--scheduler", scheduler]
    ingestion = subprocess.Popen(command)
    while ingestion.poll() is None and not (tmp_path / "again" / "staging").is_dir():
        time.sleep(0.05)
    processes[2].kill()  # one of the workers, while it reads or just before
    assert ingestion.wait() == 3
    assert rows_of(tmp_path / "again") == rows_of(tmp_path / "all")


def test_a_cluster_that_is_not_there(tmp_path: Path, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from workalike.fleet import cluster

    monkeypatch.setattr(cluster, "CONNECT_S", 1)
    with pytest.raises(WorkalikeError, match="--scheduler tcp:"):
        ingest(open_or_make(tmp_path / "db", ""), [logs], Site(), scheduler="tcp://127.0.0.1:9")
