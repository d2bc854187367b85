"""Submitted studies with a made-up Slurm: what a job gets, what comes of it, and what is left after one that failed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from studies import command, trials_in, write_study

from workalike.launch.batch.slurm import Slurm
from workalike.study.driver import load
from workalike.study.study_file import read_study
from workalike.study.submit import Submission, _job

# A job runs when it is submitted. FATE is what happens to it.
SBATCH = """\
#!/bin/sh
count=$(cat "$MADE_UP/count" 2>/dev/null || echo 0); count=$((count + 1)); echo $count > "$MADE_UP/count"
output=$(sed -n 's/^#SBATCH --output="\\(.*\\)"$/\\1/p' "$2")
case "${FATE:-runs}" in
runs) sh "$2" >> "$output" 2>&1; code=$?; state=COMPLETED; [ $code = 0 ] || state=FAILED ;;
refused) echo "sbatch: error: no such account" >&2; exit 1 ;;
killed) echo "node failed" >> "$output"; state=NODE_FAIL; code=0 ;;
esac
echo "JobId=$count JobState=$state Reason=None ExitCode=$code:0" > "$MADE_UP/state"
echo $count
"""
SCONTROL = '#!/bin/sh\ncat "$MADE_UP/state"\n'


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.setenv("MADE_UP", str(tmp_path))
    return tmp_path


def submitted(folder: Path, *options: str, fate: str = "runs") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("study", folder / "study.yaml", "-o", "out", "--submit", "slurm", *options),
        cwd=folder,
        env={**os.environ, "FATE": fate},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_study_as_a_job(made_up: Path) -> None:
    write_study(made_up)
    done = submitted(made_up, "--batch-option=--account=me", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["state"], answer["trials"], answer["planned"]) == ("done", 10, 10)
    script = (made_up / "out/batch/job.sh").read_text()
    assert "#SBATCH --ntasks=2\n" in script and "#SBATCH --account=me\n" in script
    assert "block 2, 10 of 10" in (made_up / "out/batch/job.out").read_text()
    first = trials_in(made_up / "out")
    again = submitted(made_up, "--blocks", "3")
    assert again.returncode == 0, again.stderr
    assert trials_in(made_up / "out")[:10] == first and len(trials_in(made_up / "out")) == 15
    assert (made_up / "count").read_text() == "2\n"


def test_a_job_that_failed_is_followed_by_another(made_up: Path) -> None:
    write_study(made_up)
    done = submitted(made_up, fate="killed")
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "ended as NODE_FAIL" in line and "node failed" in line and "0 trials have finished" in line
    assert submitted(made_up).returncode == 0
    assert len(trials_in(made_up / "out")) == 10
    # An older study's end in the results is not taken for that of a job that never began.
    assert submitted(made_up, "--blocks", "3", fate="killed").returncode == 1


def test_refusals(made_up: Path) -> None:
    write_study(made_up)
    refused = submitted(made_up, fate="refused")
    assert refused.returncode == 1 and "no such account" in refused.stderr
    assert not (made_up / "count").exists() or not (made_up / "out/batch/job.json").exists()
    other = subprocess.run(
        command("study", made_up / "study.yaml", "-o", "out", "--submit", "lsf"),
        cwd=made_up, capture_output=True, text=True,
    )  # fmt: skip
    assert other.returncode == 2 and "use slurm, flux, pbs" in other.stderr
    (made_up / "full").mkdir()
    (made_up / "full/theirs").touch()
    foreign = subprocess.run(
        command("study", made_up / "study.yaml", "-o", "full", "--submit", "slurm"),
        cwd=made_up, capture_output=True, text=True,
    )  # fmt: skip
    assert foreign.returncode == 2 and "holds 'theirs' and no study" in foreign.stderr
    alone = subprocess.run(
        command("study", made_up / "study.yaml", "-o", "x", "--batch-option=--hold"),
        cwd=made_up, capture_output=True, text=True,
    )  # fmt: skip
    assert alone.returncode == 2 and "add --submit slurm" in alone.stderr


@pytest.mark.parametrize(
    ("fixed", "factors", "room"),
    [
        ({}, {"ranks": [1, 8]}, (8, None, None)),
        ({"ranks_per_node": 2}, {"ranks": [2, 8]}, (8, None, 2)),
        ({"ranks": 8}, {"nodes": [1, 4]}, (32, 4, 8)),
        ({"ranks": 6, "nodes": 3}, {"transfer": ["64 KiB"]}, (6, 3, 2)),
        ({"nodes": 2, "ranks_per_node": 1}, {"ranks": [1, 2]}, (2, 2, 1)),
    ],
)
def test_every_setting_has_room(
    tmp_path: Path, fixed: dict[str, Any], factors: dict[str, Any], room: tuple[int, int | None, int | None]
) -> None:
    path = write_study(tmp_path, fixed={"backend": "null", **fixed}, factors=factors)
    job = _job(load(read_study(path)), tmp_path, Submission(Slurm(), []))
    assert (job.ranks, job.nodes, job.ranks_per_node) == room
