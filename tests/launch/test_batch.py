"""Batch systems as text: scripts, and the answers of their commands. Slurm is also run in tests/system."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workalike.errors import WorkalikeError
from workalike.launch.batch import jobs
from workalike.launch.batch.base import Array, BatchSystem, Job, Phase, State
from workalike.launch.batch.jobs import (
    BATCH_SYSTEMS,
    batch_system,
    refuse_bad_options,
    submit,
    submitted_before,
    wait,
)

JOB = Job(
    command=["/opt/a b/python", "-m", "workalike", "study", "run", "it's.yaml"],
    directory=Path("/home/a b"),
    output=Path("/out/job.out"),
    ranks=6,
    nodes=3,
    ranks_per_node=2,
    seconds=3601,
    options=("--account=physics",),
)
SLURM, FLUX, PBS = (BATCH_SYSTEMS[name] for name in ("slurm", "flux", "pbs"))


@pytest.mark.parametrize("system", BATCH_SYSTEMS.values(), ids=lambda system: system.name)
def test_a_shell_runs_the_command_where_it_was_given(system: BatchSystem, tmp_path: Path) -> None:
    """The script is performed by a shell with a command that prints what it got."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "show").write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$@"\n')
    (tmp_path / "show").chmod(0o755)
    job = Job([str(tmp_path / "show"), "it's", "$HOME"], tmp_path / "a b", tmp_path / "out", ranks=2)
    (tmp_path / "job.sh").write_text(system.script(job))
    done = subprocess.run(["sh", tmp_path / "job.sh"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(tmp_path / "a b"), "it's", "$HOME"]


@pytest.mark.parametrize("system", [SLURM, PBS], ids=lambda system: system.name)
def test_each_task_of_an_array_gets_its_share(system: BatchSystem, tmp_path: Path) -> None:
    results = tmp_path / "it's $HOME"
    results.mkdir()
    job = Job(
        ["echo", "a b"], tmp_path, tmp_path / "out", ranks=1, cores=4, array=Array(3, "--share", results)
    )
    (tmp_path / "job.sh").write_text(system.script(job))
    assert system.task_variable is not None
    for task in range(3):
        subprocess.run(["sh", tmp_path / "job.sh"], env={system.task_variable: str(task)}, check=True)
    assert [(results / f"{task}.json").read_text() for task in range(3)] == [
        f"a b --share={task}/3\n" for task in range(3)
    ]
    asked = {"slurm": ("--array=0-2", "--cpus-per-task=4"), "pbs": ("-J 0-2", "select=1:ncpus=4:mpiprocs=1")}
    assert all(text in system.script(job) for text in asked[system.name])


def test_tasks_of_an_array_of_pbs_write_to_files_of_their_own(tmp_path: Path) -> None:
    job = Job(["true"], tmp_path, tmp_path / "job.out", ranks=1)
    assert f"#PBS -o {tmp_path}/job.out\n" in PBS.script(job)
    array = replace(job, array=Array(2, "--share", tmp_path))
    assert f"#PBS -o {tmp_path}/job.out.^array_index^\n" in PBS.script(array)


def directives(system: BatchSystem, prefix: str) -> list[str]:
    lines = system.script(JOB).splitlines()
    assert lines[0] == "#!/bin/sh"
    assert shlex.join(JOB.command) in lines[-1]
    return [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]


def test_slurm_script() -> None:
    assert directives(SLURM, "#SBATCH ") == [
        "--job-name=workalike",
        '--output="/out/job.out"',
        "--open-mode=append",
        "--ntasks=6",
        "--nodes=3",
        "--ntasks-per-node=2",
        "--time=61",
        "--account=physics",
    ]


def test_flux_script() -> None:
    assert directives(FLUX, "# flux: ") == [
        "--job-name=workalike",
        "--output=/out/job.out",
        "--nslots=6",
        "--nodes=3",
        "--time-limit=61m",
        "--account=physics",
    ]


def test_pbs_script() -> None:
    assert directives(PBS, "#PBS ") == [
        "-N workalike",
        "-j oe",
        "-o /out/job.out",
        "-l select=3:ncpus=2:mpiprocs=2",
        "-l walltime=01:01:00",
        "-V",
        "--account=physics",
    ]


@pytest.mark.parametrize(
    ("system", "output", "job_id"),
    [
        (SLURM, "17\n", "17"),
        (SLURM, "sbatch: warning: something\n17;cluster\n", "17"),
        (SLURM, "sbatch: error: invalid account\n", None),
        (FLUX, "ƒ2oBT4Wsk\n", "ƒ2oBT4Wsk"),
        (PBS, "17.server.site\n", "17.server.site"),
        (PBS, "qsub: Unknown queue\n", None),
        (PBS, "17[].server\n", "17[].server"),
    ],
)
def test_the_id_of_a_job(system: BatchSystem, output: str, job_id: str | None) -> None:
    assert system.id_in(output) == job_id


SHOWN = "JobId=17 JobName=x JobState={} Reason={} Dependency=(null) Requeue=1 ExitCode={} RunTime=00:00:12"


@pytest.mark.parametrize(
    ("system", "code", "output", "state"),
    [
        (SLURM, 0, SHOWN.format("PENDING", "Resources", "0:0"), State(Phase.WAITING, "Resources")),
        (SLURM, 0, SHOWN.format("PENDING", "None", "0:0"), State(Phase.WAITING)),
        (SLURM, 0, SHOWN.format("RUNNING", "None", "0:0"), State(Phase.RUNNING)),
        (SLURM, 0, SHOWN.format("COMPLETING", "None", "0:0"), State(Phase.RUNNING)),
        (SLURM, 0, SHOWN.format("COMPLETED", "None", "0:0"), State(Phase.ENDED, "COMPLETED", 0)),
        (SLURM, 0, SHOWN.format("FAILED", "NonZeroExitCode", "3:0"), State(Phase.ENDED, "FAILED", 3)),
        (SLURM, 0, SHOWN.format("FAILED", "RaisedSignal", "0:9"), State(Phase.ENDED, "FAILED")),
        (SLURM, 0, SHOWN.format("CANCELLED", "None", "0:0"), State(Phase.ENDED, "CANCELLED")),
        (SLURM, 0, SHOWN.format("TIMEOUT", "TimeLimit", "0:0"), State(Phase.ENDED, "TIMEOUT")),
        (
            SLURM,
            0,
            f"{SHOWN.format('COMPLETED', 'None', '0:0')}\n{SHOWN.format('PENDING', 'Resources', '0:0')}\n",
            State(Phase.WAITING, "Resources"),
        ),
        (
            SLURM,
            0,
            f"{SHOWN.format('PENDING', 'Resources', '0:0')}\n{SHOWN.format('RUNNING', 'None', '0:0')}\n",
            State(Phase.RUNNING),
        ),
        (
            SLURM,
            0,
            f"{SHOWN.format('FAILED', 'None', '3:0')}\n{SHOWN.format('COMPLETED', 'None', '0:0')}\n",
            State(Phase.ENDED, "FAILED", 3),
        ),
        (SLURM, 1, "slurm_load_jobs error: Invalid job id specified", State(Phase.GONE)),
        (SLURM, 1, "Unable to contact slurm controller (connect failure)", None),
        (FLUX, 0, "SCHED  ", State(Phase.WAITING)),
        (FLUX, 0, "RUN  ", State(Phase.RUNNING)),
        (FLUX, 0, "INACTIVE COMPLETED 0", State(Phase.ENDED, "COMPLETED", 0)),
        (FLUX, 0, "INACTIVE FAILED 3", State(Phase.ENDED, "FAILED", 3)),
        (FLUX, 0, "INACTIVE CANCELED -", State(Phase.ENDED, "CANCELED")),
        (FLUX, 0, "", None),
        (
            PBS,
            0,
            "Job Id: 17\n    job_state = Q\n    comment = Not enough nodes\n",
            State(Phase.WAITING, "Not enough nodes"),
        ),
        (PBS, 0, "    job_state = R\n", State(Phase.RUNNING)),
        (PBS, 0, "    job_state = F\n    Exit_status = 0\n", State(Phase.ENDED, "exit status 0", 0)),
        (PBS, 0, "    job_state = F\n    Exit_status = 271\n", State(Phase.ENDED, "exit status 271")),
        (PBS, 153, "qstat: Unknown Job Id 17.server", State(Phase.GONE)),
    ],
)
def test_the_state_of_a_job(system: BatchSystem, code: int, output: str, state: State | None) -> None:
    assert system.state_in(code, output) == state


def test_bad_requests() -> None:
    with pytest.raises(WorkalikeError, match="unknown batch system 'lsf'"):
        batch_system("lsf")
    for option in ("--time=1\ntouch /tmp/x", "rm -rf", ""):
        with pytest.raises(WorkalikeError, match="not an option of a batch system"):
            refuse_bad_options((option,))
    refuse_bad_options(("--partition=debug", "-l place=scatter"))


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`sbatch` and `scontrol` that answer from files."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sbatch", "scontrol"):
        (programs / name).write_text(
            f'#!/bin/sh\ncat "{tmp_path}/{name}.answer"; exit "$(cat "{tmp_path}/{name}.code")"\n'
        )
        (programs / name).chmod(0o755)
        (tmp_path / f"{name}.code").write_text("0")
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setattr(jobs, "FIRST_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "SILENT_SECONDS", 0.2)
    return tmp_path


def answer(folder: Path, program: str, text: str, code: int = 0) -> None:
    (folder / f"{program}.answer").write_text(text)
    (folder / f"{program}.code").write_text(str(code))


def test_a_job_is_found_again_until_it_has_ended(made_up: Path) -> None:
    answer(made_up, "sbatch", "17\n")
    assert submitted_before(SLURM, made_up) is None
    assert submit(SLURM, JOB, made_up) == "17"
    assert json.loads((made_up / "job.json").read_text()) == {"system": "slurm", "id": "17"}
    answer(made_up, "scontrol", SHOWN.format("RUNNING", "None", "0:0"))
    assert submitted_before(SLURM, made_up) == "17"
    assert submitted_before(PBS, made_up) is None
    answer(made_up, "scontrol", "Unable to contact slurm controller", 1)
    assert submitted_before(SLURM, made_up) == "17", "a second job is worse than waiting"
    answer(made_up, "scontrol", SHOWN.format("TIMEOUT", "TimeLimit", "0:0"))
    assert submitted_before(SLURM, made_up) is None
    for text in ("", "[]", '{"system": "slurm", "id": "$(touch x)"}', '{"system": "slurm", "id": 17}'):
        (made_up / "job.json").write_text(text)
        assert submitted_before(SLURM, made_up) is None


def test_a_refused_job_is_said_in_the_systems_words(made_up: Path) -> None:
    answer(made_up, "sbatch", "sbatch: error: Batch job submission failed: Invalid account\n", 1)
    with pytest.raises(WorkalikeError, match="Invalid account"):
        submit(SLURM, JOB, made_up)
    assert not (made_up / "job.json").exists()


@pytest.mark.parametrize("ends_at", [20.0, 31.0, 47.0, 100.0])
def test_an_end_is_noticed_soon(made_up: Path, monkeypatch: pytest.MonkeyPatch, ends_at: float) -> None:
    """Within a twentieth of the time that the job has run, however long that was."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        ended = (SHOWN.format("COMPLETED", "None", "0:0"), 0)
        answer(
            made_up,
            "scontrol",
            *(ended if clock[0] >= ends_at else (SHOWN.format("RUNNING", "None", "0:0"), 0)),
        )

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", sleep)
    answer(made_up, "scontrol", SHOWN.format("RUNNING", "None", "0:0"))
    wait(SLURM, "17", lambda _: None)
    assert ends_at <= clock[0] <= 1.05 * ends_at


def test_waiting(made_up: Path) -> None:
    """It tells why a job does not start, bears a silent controller for a while, and returns the end."""
    lines: list[str] = []

    def report(line: str) -> None:
        lines.append(line)
        answer(made_up, "scontrol", *script.pop(0))

    script = [
        (SHOWN.format("PENDING", "PartitionTimeLimit", "0:0"), 0),
        (SHOWN.format("RUNNING", "None", "0:0"), 0),
        (SHOWN.format("FAILED", "NonZeroExitCode", "3:0"), 0),
    ]
    answer(made_up, "scontrol", SHOWN.format("PENDING", "None", "0:0"))
    assert wait(SLURM, "17", report) == State(Phase.ENDED, "FAILED", 3)
    assert lines == ["job 17 waiting", "job 17 waiting (PartitionTimeLimit)", "job 17 running"]
    answer(made_up, "scontrol", "Unable to contact slurm controller", 1)
    with pytest.raises(WorkalikeError, match="has not reported the state of job 17"):
        wait(SLURM, "17", lines.append)
