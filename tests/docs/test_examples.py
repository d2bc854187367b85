"""The examples run, and print the contents of the files beside them.

WORKALIKE_WRITE_EXAMPLES=1 rewrites these files, for changes of what commands print.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from known_logs import REPOSITORY, own
from needed import needs_engine

EXAMPLES = REPOSITORY / "examples"
SLURM = EXAMPLES / "3-replica-under-slurm.sh"
SCRIPTS = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".py") and path != SLURM)
WITH_ENGINE = ("2-", "4-", "5-", "7-", "8-")
WRITE = "WORKALIKE_WRITE_EXAMPLES" in os.environ

# A script that calls mpiexec itself needs what workalike sets for it: tests run as root, on few cores.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}

SRUN = """\
#!/bin/sh
# Slurm's launcher on one machine: its options but the number of tasks are dropped.
echo "srun $*" >> "$SRUN_CALLS"
while :; do
    case $1 in
    --ntasks=*) tasks=${1#--ntasks=} ;;
    --*) ;;
    *) break ;;
    esac
    shift
done
exec mpiexec -n "$tasks" "$@"
"""


def run(script: Path, *arguments: str, **more: str) -> str:
    """What a script prints on stdout; it must succeed."""
    shell = [sys.executable] if script.suffix == ".py" else ["sh"]
    path = os.pathsep.join(
        filter(None, [more.pop("first", ""), str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    environment = {**os.environ, **MPI, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", **more}
    done = subprocess.run(
        [*shell, str(script), *arguments], cwd=REPOSITORY, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=needs_engine if script.name.startswith(WITH_ENGINE) else ())
        for script in SCRIPTS
    ],
    ids=lambda path: path.stem,
)
def test_example_prints_what_stands_beside_it(script: Path) -> None:
    shown = run(script)
    expected = script.with_suffix(".out")
    if WRITE:
        expected.write_text(shown, encoding="utf-8")
    assert shown == expected.read_text(encoding="utf-8"), "WORKALIKE_WRITE_EXAMPLES=1 writes it anew"


@needs_engine
def test_job_script_starts_the_engine_by_srun(tmp_path: Path) -> None:
    """Without Slurm, a stand-in starts the tasks; tests/system uses the real one."""
    (tmp_path / "srun").write_text(SRUN)
    (tmp_path / "srun").chmod(0o755)
    job = {
        "SLURM_JOB_ID": "7",
        "SLURM_NTASKS": "4",
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_JOB_CPUS_PER_NODE": "4",
        # The stand-in's mpiexec must not look for the Slurm that the job's variables name.
        "OMPI_MCA_ras": "^slurm",
        "OMPI_MCA_plm": "isolated",
    }
    results = tmp_path / "results"
    arguments = (str(own("checkpoints-4")), str(tmp_path / "scratch"), str(results))
    run(SLURM, *arguments, first=str(tmp_path), SRUN_CALLS=str(tmp_path / "calls"), **job)
    assert "--ntasks=4" in (tmp_path / "calls").read_text()
    assert "--nodes=1" in (tmp_path / "calls").read_text()
    assert (results / "report.html").exists()
    assert not list((tmp_path / "scratch").glob("checkpoint*"))


def test_readme_lists_them_all() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for script in [*SCRIPTS, SLURM]:
        assert f"({script.name})" in listed
