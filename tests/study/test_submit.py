"""Submitted studies with a made-up Slurm: what a job gets, what comes of it, and what is left after one that failed."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from needed import needs_engine
from studies import command, trials_in, write_study

from workalike.errors import WorkalikeError
from workalike.launch.batch.flux import Flux
from workalike.launch.batch.slurm import Slurm
from workalike.study.driver import DriverOptions, load, refuse_small_budget
from workalike.study.study_file import read_study
from workalike.study.submit import Submission, _job, submit_study

# A job runs when it is submitted. FATE is what happens to it.
SBATCH = """\
#!/bin/sh
count=$(cat "$MADE_UP/count" 2>/dev/null || echo 0); count=$((count + 1)); echo $count > "$MADE_UP/count"
output=$(sed -n 's/^#SBATCH --output="\\(.*\\)"$/\\1/p' "$2")
case "${FATE:-runs}" in
runs)
  code=0; state=COMPLETED
  sleep "$(sed -n 's/^#SBATCH --begin=now+//p' "$2" | grep . || echo 0)"
  last=$(sed -n 's/^#SBATCH --array=0-//p' "$2")
  for task in $(seq 0 "${last:-0}"); do
    [ "$task" = "${LOST:-none}" ] && { code=1; state=FAILED; continue; }
    SLURM_ARRAY_TASK_ID=$task sh "$2" >> "$output" 2>&1 || { code=$?; state=FAILED; }
  done ;;
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


def submitted(
    folder: Path, *options: str, fate: str = "runs", **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("study", folder / "study.yaml", "-o", "out", "--submit", "slurm", *options),
        cwd=folder,
        env={**os.environ, "FATE": fate, **more},
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


def blocks_in(folder: Path) -> list[int]:
    return sorted({row["block"] for row in trials_in(folder)})


def test_an_array_shares_the_blocks(made_up: Path) -> None:
    """Each block stays within a task; what comes of all is one study, which resumes as any other."""
    path = write_study(made_up, blocks=5)
    done = submitted(made_up, "--array", "2", "--json")
    assert done.returncode == 0, done.stderr + (made_up / "out/batch/job.out").read_text()
    answer = json.loads(done.stdout)
    assert (answer["state"], answer["trials"], answer["planned"]) == ("done", 25, 25)
    assert "#SBATCH --array=0-1\n" in (made_up / "out/batch/job.sh").read_text()
    shares = made_up / "out/shares"
    assert blocks_in(shares / "0-of-2") == [0, 2, 4] and blocks_in(shares / "1-of-2") == [1, 3]
    rows = trials_in(made_up / "out")
    whole = made_up / "whole"
    assert subprocess.run(command("study", path, "-o", whole), capture_output=True).returncode == 0
    names = ("trial", "block", "position", "setting", "arm", "plan", "state")
    assert [[row[n] for n in names] for row in rows] == [[row[n] for n in names] for row in trials_in(whole)]
    assert len(pq.read_table(made_up / "out/trials.parquet")) == 25
    again = submitted(made_up, "--array", "3", "--blocks", "7", "--json")
    assert again.returncode == 0, again.stderr
    assert trials_in(made_up / "out")[:25] == rows and len(trials_in(made_up / "out")) == 35
    assert [len(trials_in(shares / f"{n}-of-3")) for n in (0, 1, 2)] == [5, 0, 5], "blocks 6 and 5 are new"


def test_an_array_of_one_task_is_a_plain_job(made_up: Path) -> None:
    """PBS refuses an array whose first and last task are the same."""
    write_study(made_up)
    done = submitted(made_up, "--array", "1", "--json", "--budget", "100")
    assert done.returncode == 0, done.stderr
    assert "--array" not in (made_up / "out/batch/job.sh").read_text()
    assert not (made_up / "out/shares").exists() and len(trials_in(made_up / "out")) == 10


def test_a_task_that_was_lost(made_up: Path) -> None:
    write_study(made_up, blocks=4)
    done = submitted(made_up, "--array", "4", LOST="2")
    assert done.returncode == 1
    assert "15 trials have finished" in done.stderr
    assert blocks_in(made_up / "out") == [0, 1, 3], "what the others have finished is joined"
    kept = trials_in(made_up / "out")
    assert submitted(made_up, "--array", "2").returncode == 0
    assert trials_in(made_up / "out")[:15] == kept and blocks_in(made_up / "out") == [0, 1, 2, 3]
    assert len(trials_in(made_up / "out")) == 20


def test_spread_blocks_have_a_job_each(made_up: Path) -> None:
    write_study(made_up, blocks={"count": 2, "every": "12 s"})
    done = submitted(made_up, "--json")
    assert done.returncode == 0, done.stderr + (made_up / "out/batch/job.out").read_text()
    answer = json.loads(done.stdout)
    assert (answer["state"], answer["trials"], answer["planned"]) == ("done", 10, 10)
    assert (made_up / "count").read_text() == "2\n"
    assert "#SBATCH --begin=now+" in (made_up / "out/batch/job.sh").read_text()
    times = sorted(
        min(
            datetime.fromisoformat(row["started"])
            for row in trials_in(made_up / "out")
            if row["block"] == block
        )
        for block in range(2)
    )
    assert all(after - before >= timedelta(seconds=12) for before, after in pairwise(times))
    shared = submitted(made_up, "--array", "2")
    assert shared.returncode == 2 and "spread over time" in shared.stderr


def test_the_first_of_spread_blocks_alone(made_up: Path) -> None:
    write_study(made_up, blocks={"count": 2, "every": "1 h"})
    done = submitted(made_up, "--no-wait", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["state"] == "waiting" and blocks_in(made_up / "out") == [0]


SEARCHED = {"rungs": [{"dumps": 1, "keep": 2}]}


@needs_engine
def test_a_search_runs_all_rungs_in_its_job(made_up: Path) -> None:
    write_study(
        made_up,
        fixed={"time_scale": 0},
        factors={"transfer": ["16 KiB", "32 KiB", "64 KiB"]},
        search=SEARCHED,
        blocks=1,
        a_a=False,
    )
    done = submitted(made_up, "--json", "--no-ceiling")
    assert done.returncode == 0, done.stderr + (made_up / "out/batch/job.out").read_text()
    answer = json.loads(done.stdout)
    assert (answer["state"], answer["trials"]) == ("done", 2)
    assert len(trials_in(made_up / "out/search/rung-1")) == 3
    assert json.loads((made_up / "out/search.json").read_text())
    page = (made_up / "out/report.html").read_text()
    again = submitted(made_up, "--json", "--no-ceiling")
    assert again.returncode == 0 and len(trials_in(made_up / "out")) == 2
    assert "rung 1 and full length" in page
    assert "rung 1 and full length" in (made_up / "out/report.html").read_text(), (
        "the page is that of the job"
    )
    killed = submitted(made_up, fate="killed")
    assert killed.returncode == 1 and "5 trials have finished" in killed.stderr


@pytest.mark.parametrize(("name", "value"), [("search", SEARCHED), ("stop", {})])
def test_blocks_that_depend_on_others_are_not_shared(made_up: Path, name: str, value: object) -> None:
    write_study(made_up, **{name: value})
    refused = submitted(made_up, "--array", "2")
    assert refused.returncode == 2 and "cannot be shared among tasks" in refused.stderr
    assert not (made_up / "out/batch").exists()


def test_a_budget_is_divided_among_tasks(tmp_path: Path) -> None:
    """A block takes 1 core-hour: two suffice for two tasks, and not for three."""
    waits = {"backend": "null", "time_scale": 180}  # 10 s of waiting become half an hour, of two ranks
    path = write_study(tmp_path, fixed=waits, factors={"ranks": [2]}, a_a=False)
    loaded = load(read_study(path))
    assert loaded.estimate().core_hours == pytest.approx(2 * 1.0)
    options = DriverOptions(tmp_path / "out", budget=2.0)
    with pytest.raises(WorkalikeError, match="less than one block"):
        submit_study(loaded.file, options, Submission(Slurm(), [], tasks=3))
    assert not (tmp_path / "out").exists()
    refuse_small_budget(loaded, replace(options, budget=1.0))


@pytest.mark.parametrize("share", ["2/2", "x", "0/0", "-1/2", "1/99999"])
def test_what_is_no_share(tmp_path: Path, share: str) -> None:
    path = write_study(tmp_path)
    done = subprocess.run(
        command("study", path, "-o", tmp_path / "out", f"--share={share}"), capture_output=True, text=True
    )
    assert done.returncode == 2 and "is not a share" in done.stderr


def test_options_of_arrays(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    alone = subprocess.run(
        command("study", path, "-o", tmp_path / "out", "--array", "2"), capture_output=True, text=True
    )
    assert alone.returncode == 2 and "--array is for jobs" in alone.stderr
    loaded = load(read_study(path))
    with pytest.raises(WorkalikeError, match="flux has no job arrays"):
        submit_study(loaded.file, DriverOptions(tmp_path / "out"), Submission(Flux(), [], tasks=2))


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
