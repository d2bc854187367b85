"""Every command line on the pages that answer users' tasks is run here, or says which test runs it, or why none does.

The folder has files of the names that the pages use. `/scratch/me` is a folder of the test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.support.engine_counts import engine_or_skip

from workalike.launch.launchers import Mpiexec

ROOT = Path(__file__).parents[2]
PAGES = ("slurm", "acceptance", "study", "verdict", "workload-contents", "exchange", "notebooks", "capture")
"""Replicate on Slurm, acceptance, two file systems, a verdict, training, IOR, notebooks, static Fortran."""
STARTS = (
    "workalike",
    "srun",
    "sbatch",
    "mpiexec",
    "python",
    "jupyter",
    "pip",
    "make",
    "./",
    "LAUNCH=",
    "DARSHAN_",
    "WORKALIKE_",
)
COMMAND = re.compile(r"^    ((?:\$ )?(?:" + "|".join(re.escape(start) for start in STARTS) + r").*)$")
ELSEWHERE = {
    "workalike replicate app.darshan -o replica-$SLURM_JOB_ID": "tests/system/test_slurm.py, on a real Slurm",
    "workalike study STUDY.yaml -o DIR --dir /scratch/me --submit": "tests/system/test_study_slurm.py",
    "workalike study studies/file-modes.yaml -o modes": "tests/study/test_ready_studies.py, smaller: an hour as it stands",
    "workalike bundle tender.tar.gz --collect": "tests/bundle/test_acceptance.py",
    "workalike study merge offered/": "tests/bundle/test_bundle.py",
    "workalike profile -o app.darshan --with-darshan": "tests/capture/test_with_darshan.py, with a stand-in for Darshan",
    "workalike-cc -static": "tests/capture/test_static.py",
    "workalike-fc": "tests/capture/test_static.py",
    "jupyter": "tests/docs/test_notebooks.py runs the notebooks",
    "pip install": "tools/check-wheels installs",
}
"""Beginning of a line -> where it is run, or why it is not."""
WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  schedule: {count: 2, first: 0 s, every: 1 s}
  content:
    streams: [{direction: write, sizes: [2/rank x 4 KiB]}]
"""
DLIO = """\
model: {name: unet3d}
framework: pytorch
workflow: {generate_data: false, train: true, checkpoint: false}
dataset: {data_folder: data/unet3d/, format: npz, num_files_train: 16, num_samples_per_file: 1, record_length_bytes: 1024}
reader: {batch_size: 2, read_threads: 2}
train: {epochs: 2, computation_time: 0.1}
"""
MACSIO = "mpiexec -n 80 macsio --interface typhonio --parallel_file_mode SIF 1 --num_dumps 2"


def lines_of(page: str) -> list[str]:
    """Command lines of a page's indented blocks, with their continuations."""
    path = ROOT / "docs" / f"{page}.md"
    if not path.exists():
        return []
    text = path.read_text().replace("\\\n", " ")
    found = [match[1] for line in text.splitlines() if (match := COMMAND.match(line))]
    return [re.sub(r"\s+", " ", line).removeprefix("$ ") for line in found]


LINES = [(page, line) for page in PAGES for line in lines_of(page)]
RUN_HERE = [(page, line) for page, line in LINES if not line.startswith(tuple(ELSEWHERE))]


def test_the_pages_have_command_lines() -> None:
    assert len(LINES) > 20


@pytest.mark.parametrize(("start", "where"), ELSEWHERE.items())
def test_what_runs_elsewhere_exists(start: str, where: str) -> None:
    if start not in ("jupyter", "pip install"):
        assert any(line.startswith(start) for _, line in LINES), "no page has this line any more"
    named = where.split(",")[0].split(" ")[0]
    if named not in ("tests/docs/test_notebooks.py",):
        assert (ROOT / named).exists(), f"{named} is not there"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pages take for granted."""
    engine_or_skip()
    folder = tmp_path_factory.mktemp("task")
    shutil.copytree(ROOT / "examples" / "acceptance", folder, dirs_exist_ok=True)
    shutil.copytree(ROOT / "studies", folder / "studies")
    shutil.copytree(ROOT / "workloads", folder / "workloads")
    shutil.copy(ROOT / "tests" / "data" / "checkpoints-4.darshan", folder / "app.darshan")
    shutil.copy(ROOT / "workloads" / "minio" / "point-typhonio.minio", folder / "input.yaml")
    (folder / "unet3d.yaml").write_text(DLIO)
    (folder / "job.yaml").write_text(WORKLOAD)
    (folder / "app").write_text("#!/bin/sh\nhead -c 100000 /dev/zero >out.dat\n")
    (folder / "app").chmod(0o755)
    (folder / "scratch").mkdir()
    return folder


@pytest.mark.mpi
@pytest.mark.parametrize(("page", "line"), RUN_HERE, ids=[line[:60] for _, line in RUN_HERE])
def test_a_command_line_runs(page: str, line: str, folder: Path) -> None:
    """Exit code 3 is that something could not be expressed, which the page of exports describes."""
    command = line.partition(" #")[0].replace("/scratch/me", str(folder / "scratch"))
    command = command.replace("'mpiexec -n 80 macsio --interface typhonio …'", f"'{MACSIO}'")
    path = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=os.environ | Mpiexec().environment() | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 3), f"docs/{page}.md: {line}\n{done.stdout[-500:]}{done.stderr[-1500:]}"
    assert "Traceback" not in done.stderr
