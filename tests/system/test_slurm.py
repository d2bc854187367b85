"""The default launcher inside real Slurm jobs: one MPI job of all ranks, or a clear failure."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from workalike.launch.engines import find_engine

from .slurm_cluster import SlurmCluster
from .support import lines_of, needs, read_json, recorded_sizes, sizes_in, workalike, workalike_command

pytestmark = pytest.mark.system

RANKS = 4
WRITES = 8
BLOCK = 65536
DUMPS = 3
WORKLOAD = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: mpiio
  schedule: {{count: {DUMPS}, first: 1 s, every: 10 s}}
  content:
    streams:
    - {{direction: write, sizes: [{WRITES}/rank x {BLOCK} B], collective: true}}
"""
DUMP_BYTES = RANKS * WRITES * BLOCK


@pytest.fixture(scope="module")
def cluster() -> Iterator[SlurmCluster]:
    needs("slurmctld", "slurmd", "munged", "salloc", "sbatch", "srun")
    with SlurmCluster() as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.yaml").write_text(WORKLOAD)
    return tmp_path


@pytest.fixture
def engine_witness(folder: Path) -> dict[str, str]:
    """An engine that first leaves a file named by Slurm's step and task, so that one sees who started it."""
    (folder / "tasks").mkdir()
    return engine_script(
        folder, f'[ -z "$SLURM_STEP_ID" ] || : > "{folder}/tasks/$SLURM_STEP_ID.$SLURM_PROCID"; exec'
    )


def engine_script(folder: Path, before: str) -> dict[str, str]:
    script = folder / "engine"
    script.write_text(f'#!/bin/sh\n{before} {shlex.quote(str(find_engine()))} "$@"\n')
    script.chmod(0o755)
    return {"WORKALIKE_ENGINE": str(script)}


def in_allocation(
    cluster: SlurmCluster, folder: Path, tasks: int, *options: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`workalike run` under salloc."""
    return workalike(
        *("run", "app.yaml", "--dir", "data", "-o", "out", "--time-scale", "0", *options),
        cwd=folder,
        # Four ranks on fewer cores: without it each waiting rank takes a whole core.
        environment={"OMPI_MCA_mpi_yield_when_idle": "1", **cluster.environment, **(environment or {})},
        before=("salloc", "--quiet", f"--ntasks={tasks}"),
    )


def test_salloc_starts_one_job_of_four_ranks(
    cluster: SlurmCluster, folder: Path, engine_witness: dict[str, str]
) -> None:
    done = in_allocation(cluster, folder, RANKS, "--keep", "--verify", environment=engine_witness)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (folder / "tasks").iterdir()) == [f"0.{task}" for task in range(RANKS)]
    record = read_json(folder / "out/run.json")
    assert record["processes"] == RANKS
    assert [d["ranks"] for d in record["dumps"]] == [RANKS] * DUMPS
    assert [d["bytes_written"] for d in record["dumps"]] == [DUMP_BYTES] * DUMPS
    assert record["verified"].items() >= {"bytes": DUMPS * DUMP_BYTES, "errors": 0}.items()
    assert recorded_sizes(record) == sizes_in(folder / "data")
    assert set(sizes_in(folder / "data").values()) == {DUMP_BYTES}


def test_sbatch_leaves_the_record_and_no_data(cluster: SlurmCluster, folder: Path) -> None:
    command = [*workalike_command(), "run", "app.yaml", "--dir", "data", "-o", "out", "--time-scale", "0"]
    (folder / "job.sh").write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    done = subprocess.run(
        ["sbatch", "--wait", f"--ntasks={RANKS}", "--output=job.out", "job.sh"],
        cwd=folder,
        env={**os.environ, **cluster.environment, "OMPI_MCA_mpi_yield_when_idle": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, (folder / "job.out").read_text() + done.stderr
    record = read_json(folder / "out/run.json")
    assert record["processes"] == RANKS
    assert len(record["dumps"]) == DUMPS
    assert list((folder / "data").iterdir()) == []


def test_counting_needs_no_processors(cluster: SlurmCluster, folder: Path) -> None:
    done = in_allocation(cluster, folder, 1, "--backend", "null")
    assert done.returncode == 0, done.stderr
    record = read_json(folder / "out/run.json")
    assert sum(d["bytes_written"] for d in record["dumps"]) == DUMPS * DUMP_BYTES


def test_tasks_that_do_not_find_each_other_fail_clearly(cluster: SlurmCluster, folder: Path) -> None:
    """Four runs of one rank each would write the same files four times and look like success."""
    # Each starts on its own where nothing of Slurm reaches it; a session folder each, or they collide over it.
    own = f'"$(mktemp -d -p {folder})"'
    alone = engine_script(folder, f'exec env -i PATH="$PATH" OMPI_MCA_orte_tmpdir_base={own}')
    done = in_allocation(cluster, folder, RANKS, environment=alone)
    assert done.returncode == 2, done.stderr
    assert f"the plan has {RANKS} ranks and 1 processes were started" in done.stderr
    assert lines_of(done.stderr)[-1].startswith("workalike: bad usage")
    assert list((folder / "data").iterdir()) == []


def test_a_choice_that_does_not_work_fails_clearly(cluster: SlurmCluster, folder: Path) -> None:
    """The user's choice is kept even where it is wrong; then nothing is recorded as done."""
    done = in_allocation(cluster, folder, RANKS, environment={"SLURM_MPI_TYPE": "none"})
    assert done.returncode == 1, done.stderr
    assert lines_of(done.stderr)[-1].startswith("workalike: run failed")
    assert not (folder / "out/run.json").exists()
    assert list((folder / "data").iterdir()) == []
