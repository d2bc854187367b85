"""The command line without the engine: exit codes, one-line errors, files written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from workalike.commands.check import DISCLOSURES
from workalike.darshan import LogBuilder
from workalike.launch.engines import engine_if_built

SMALL = """\
workalike: 2
ranks: 4
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {count: 3, first: 1 s, every: 10 s}
  content:
    streams:
    - {direction: write, sizes: [8/rank x 64 KiB]}
"""


def workalike(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from workalike.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two checkpoints of 4 MiB by four ranks, through MPI-IO."""
    builder = LogBuilder(nprocs=4, run_time=100.0)
    for i in range(2):
        builder.mpiio(
            f"/scratch/alice/secret-project/chk_{i:03}.dat",
            rank=-1,
            COLL_OPENS=4,
            COLL_WRITES=4,
            BYTES_WRITTEN=4 << 20,
            SIZE_WRITE_AGG_100K_1M=4,
            ACCESS1_ACCESS=1 << 20,
            ACCESS1_COUNT=4,
            F_OPEN_START_TIMESTAMP=10.0 + 40 * i,
            F_WRITE_START_TIMESTAMP=10.1 + 40 * i,
            F_WRITE_END_TIMESTAMP=11.0 + 40 * i,
            F_CLOSE_END_TIMESTAMP=11.1 + 40 * i,
        )
    path = tmp_path / "app.darshan"
    builder.write(path)
    return path


def one_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line]
    assert len(lines) == 1, text
    return lines[0]


def test_characterize_writes_a_workload_without_names(log: Path, tmp_path: Path) -> None:
    done = workalike("characterize", log, "-o", "app.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "app.yaml").read_text()
    assert "role: checkpoint" in text
    assert "alice" not in text and "secret" not in text


def test_side_files_among_the_logs_are_passed_over(log: Path, tmp_path: Path) -> None:
    """`x.darshan*` names what `profile` wrote beside the log, too."""
    side = tmp_path / "app.darshan.extra.json"
    side.write_text('{"version": 1, "stdio_sizes": []}')
    alone = workalike("characterize", log, cwd=tmp_path)
    (tmp_path / "app.darshan.1.extra.json").write_text("{}")  # of a second process
    both = workalike("characterize", *sorted(tmp_path.iterdir()), cwd=tmp_path)
    assert (both.returncode, both.stdout, both.stderr) == (0, alone.stdout, alone.stderr)
    only = workalike("characterize", side, cwd=tmp_path)
    assert only.returncode == 2
    assert "app.darshan.extra.json: no log" in one_line(only.stderr)


def test_an_audit_takes_several_logs(log: Path, tmp_path: Path) -> None:
    """All that a pattern of the shell names, and a folder."""
    (tmp_path / "job").mkdir()
    log.rename(tmp_path / "job" / "a.darshan")
    LogBuilder().posix("/data/quasar/f", rank=0, OPENS=1).write(tmp_path / "job" / "b.darshan")
    (tmp_path / "w.yaml").write_text(SMALL + "# quasar\n")
    logs = sorted((tmp_path / "job").iterdir())
    for audited in ([*logs], [tmp_path / "job"], [logs[0], "--audit", logs[1]]):
        done = workalike("check", "w.yaml", "--audit", *audited, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert "line 11: path component 'quasar'" in done.stdout
    clean = workalike("check", "w.yaml", "--audit", logs[0], cwd=tmp_path)
    lines = clean.stdout.splitlines()
    assert lines[lines.index(DISCLOSURES.strip()) + 1].startswith("  privacy: ")
    assert clean.returncode == 0, clean.stderr
    several = workalike("check", "w.yaml", logs[0], cwd=tmp_path)
    assert several.returncode == 2
    assert "--audit" in one_line(several.stderr)


def test_lines_of_a_check_are_whole_in_a_pipe(tmp_path: Path) -> None:
    """As many lines as the summary has, however long."""
    (tmp_path / "w.yaml").write_text(SMALL.replace("8/rank x 64 KiB", "3/rank x 1234567 B, 5/rank x 64 KiB"))
    summary = json.loads(workalike("check", "w.yaml", "--json", cwd=tmp_path).stdout)["summary"]
    assert max(map(len, summary)) > 80
    assert workalike("check", "w.yaml", cwd=tmp_path).stdout.splitlines() == summary


def test_json_is_one_object_and_nothing_else(log: Path, tmp_path: Path) -> None:
    done = workalike("characterize", log, "-o", "app.yaml", "--json", cwd=tmp_path)
    figures = json.loads(done.stdout)
    assert figures["families"][0]["bytes_written"] == 8 << 20
    assert figures["complete"] is True


def test_a_missing_log_is_bad_input(tmp_path: Path) -> None:
    done = workalike("characterize", "nowhere.darshan", cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere.darshan" in one_line(done.stderr)


def test_text_is_not_a_log(tmp_path: Path) -> None:
    (tmp_path / "x.darshan").write_text("hello\n")
    done = workalike("characterize", "x.darshan", cwd=tmp_path)
    assert done.returncode == 2
    assert "x.darshan" in one_line(done.stderr)


def test_a_bad_workload_names_file_place_and_hint(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(SMALL.replace("8/rank x 64 KiB", "8/rank x 64 QiB"))
    done = workalike("plan", "bad.yaml", cwd=tmp_path)
    assert done.returncode == 2
    line = one_line(done.stderr)
    assert "bad.yaml" in line and "families[0].content.streams[0].sizes[0]" in line and "QiB" in line


def test_the_timeline_of_a_rank(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(
        SMALL.replace("every: 10 s}", "every: 10 s, duration: 7 s, compute_time: 7 s}")
    )
    done = workalike("plan", "app.yaml", "--timeline", 3, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)["calls"]
    writes = [call for call in calls if call["call"] == "write"]
    assert [call["start_s"] for call in writes] == pytest.approx(
        [1 + 10 * d + k for d in range(3) for k in range(8)]
    )
    assert [call["offset"] for call in writes] == 3 * [k * 64 * 1024 for k in range(8)]
    assert [call["start_s"] for call in calls if call["call"] == "close"] == [8, 18, 28]
    text = workalike("plan", "app.yaml", "--timeline", 3, cwd=tmp_path).stdout.splitlines()
    assert len(text) == 1 + len(calls)
    assert (
        " ".join(text[2].split()) == f"1.000000 0.000000 write 0 65536 checkpoint 1, 0: {writes[0]['file']}"
    )
    beyond = workalike("plan", "app.yaml", "--timeline", 4, cwd=tmp_path)
    assert beyond.returncode == 2
    assert "--timeline 4: the plan has 4 ranks" in beyond.stderr


def test_processes_that_live_a_part_of_the_run(tmp_path: Path) -> None:
    """Where a rank idles is in its timeline, and one line says how many ranks do."""
    lives = "processes: [{ranks: 1, start: 3 s, end: 8 s}, {ranks: 2-3, start: 5 s}]\nfamilies:"
    text = SMALL.replace("families:", lives).replace(
        "count: 3, first: 1 s, every: 10 s", "start: [1], duration: 9 s"
    )
    (tmp_path / "app.yaml").write_text(text)
    lines = workalike("plan", "app.yaml", "--timeline", 1, cwd=tmp_path).stdout.splitlines()[1:]
    assert [line.split()[2] for line in lines] == ["begins", "open", *["write"] * 8, "close", "ends"]
    assert [float(line.split()[0]) for line in (lines[0], lines[-1])] == [3.0, 8.0]
    found = json.loads(workalike("plan", "app.yaml", "--timeline", 1, "--json", cwd=tmp_path).stdout)
    assert found["life"] == {"start_s": 3.0, "end_s": 8.0}
    written = workalike("plan", "app.yaml", "-o", "plan.json", cwd=tmp_path)
    assert "3 of 4 ranks idle for a part of the run" in written.stdout
    counted = workalike("run", "plan.json", "--dir", ".", "--backend", "null", cwd=tmp_path)
    assert counted.returncode == 0, counted.stderr
    assert "idle" not in counted.stdout + counted.stderr  # nothing waits


def test_plan_scales(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    done = workalike(
        "plan", "small.yaml", "--ranks", "2", "--bytes-scale", "1/2", "-o", "plan.json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["ranks"] == 2 and len(plan["dumps"]) == 3
    (stream,) = plan["contents"][0]["streams"]
    assert sum(count * size for count, size in stream["entries"]) == 4 * 8 * 65536 // 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--scaling", "sideways"),
        ("--bytes-scale", "0"),
        ("--bytes-scale", "x"),
        ("--clock", "noon"),
        ("--backend", "tape"),
        ("--bytes-scale", "1e999999999"),
        ("--bytes-scale", "1e-400"),
        ("--ranks", "0"),
        ("--ranks", "1e9"),
        ("--time-scale", "inf"),
        ("--seed", str(2**63)),
        ("--nonsense", "1"),
    ],
)
def test_bad_options_are_bad_usage(tmp_path: Path, option: str, value: str) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    done = workalike("plan", "small.yaml", option, value, cwd=tmp_path)
    assert done.returncode == 2
    assert option in one_line(done.stderr)


def test_a_log_for_run_says_what_to_do(log: Path, tmp_path: Path) -> None:
    done = workalike("run", log, "--dir", "data", cwd=tmp_path)
    assert done.returncode == 2
    assert "replicate" in one_line(done.stderr)


def test_a_partial_module_is_exit_code_3(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=2, run_time=10.0)
    builder.posix("/d/out.1", rank=0, OPENS=1, WRITES=4, BYTES_WRITTEN=4096, SIZE_WRITE_100_1K=4)
    builder.partial("POSIX").write(tmp_path / "p.darshan")
    done = workalike("characterize", "p.darshan", "-o", "p.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "POSIX" in done.stderr


def test_logs_of_several_jobs_are_one_workflow_with_a_warning(tmp_path: Path) -> None:
    for job in (1, 2):
        builder = LogBuilder(nprocs=1, run_time=10.0, job_id=job, start_time=1e9 + 7200.0 * job)
        builder.posix(f"/d/out.{job}", rank=0, OPENS=1, WRITES=4, BYTES_WRITTEN=4096, SIZE_WRITE_100_1K=4)
        builder.write(tmp_path / f"{job}.darshan")
    done = workalike("characterize", ".", "-o", "w.yaml", cwd=tmp_path)
    assert "2 logs of 2 jobs, begun within 2 h, are taken as one workflow" in done.stderr
    done = workalike("characterize", "1.darshan", "-o", "w.yaml", cwd=tmp_path)
    assert "jobs" not in done.stderr


def test_nothing_to_replicate_is_exit_code_2(tmp_path: Path) -> None:
    LogBuilder(nprocs=2, run_time=10.0).write(tmp_path / "e.darshan")
    done = workalike("characterize", "e.darshan", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing to replicate" in one_line(done.stderr)


def test_an_output_folder_that_is_not_there(log: Path, tmp_path: Path) -> None:
    done = workalike("characterize", log, "-o", "no/such/folder/app.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "app.yaml" in one_line(done.stderr)


def test_help_has_examples(tmp_path: Path) -> None:
    for command in ("characterize", "check", "plan", "run", "compare", "replicate"):
        done = workalike(command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert f"workalike {command}" in done.stdout
        assert "Exit codes: 0 done" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "pipe"),
        ("plan", "pipe"),
        ("run", "pipe", "--dir", "data"),
        ("compare", "pipe", "small.yaml"),
        ("compare", "small.yaml", "pipe"),
        ("compare", "small.yaml", "small.yaml", "--plan", "pipe"),
        ("check", "small.yaml", "--audit", "pipe"),
        ("characterize", "pipe"),
        ("check", "/dev/zero"),
    ],
)
def test_pipes_and_devices_are_no_documents(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    os.mkfifo(tmp_path / "pipe")
    done = workalike(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "not a regular file" in one_line(done.stderr) or arguments[0] == "compare"


def test_a_pipe_as_output_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = workalike("plan", "small.yaml", "-o", "pipe", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert os.read(reader, 1 << 16).startswith(b"{")
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_as_output_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / "link.json").symlink_to("plan.json")
    assert workalike("plan", "small.yaml", "-o", "link.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "plan.json").read_text())["ranks"] == 4


@pytest.mark.parametrize("output", ["", "x" * 300, ".", "none/plan.json"])
def test_an_output_that_cannot_be(tmp_path: Path, output: str) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    done = workalike("plan", "small.yaml", "-o", output, cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot write" in one_line(done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("check", "small.yaml"), ("plan", "small.yaml"), ("--help",)])
def test_a_full_standard_output(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from workalike.cli import main; main()", *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert "No space left" in one_line(done.stderr)


def test_names_are_printed_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / "a[").mkdir()
    name = f"a[/b][red]{'long' * 30}.json"
    done = workalike("plan", "small.yaml", "-o", name, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"3 dumps of 1 family, 4 ranks: {name}\n"


def test_options_that_a_plan_has_settled_are_refused(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    assert workalike("plan", "small.yaml", "-o", "plan.json", cwd=tmp_path).returncode == 0
    done = workalike("run", "plan.json", "--dir", "data", "--ranks", "2", "--clock", "gap", cwd=tmp_path)
    assert done.returncode == 2
    line = one_line(done.stderr)
    assert "plan.json" in line and "--ranks, --clock" in line


@pytest.mark.parametrize("name", ["run.json", "run.jsonl"])
def test_an_empty_record_is_a_bad_record(tmp_path: Path, name: str) -> None:
    (tmp_path / "small.yaml").write_text(SMALL)
    (tmp_path / name).touch()
    done = workalike("compare", "small.yaml", name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"bad record: {name}" in one_line(done.stderr)


LONG = "x" * 5000
MUCH_TEXT = {
    "a command": (LONG,),
    "a file": ("check", LONG),
    "an option": ("plan", "app.yaml", "--" + LONG),
    "a word of a closed list": ("run", "app.yaml", "--dir", "data", "--backend", LONG),
    "a pattern": ("profile", "--include", "(" + LONG, "--", "true"),
    "a program": ("profile", "--", LONG),
    "a field of a plan": ("run", "plan.json", "--dir", "data"),
    "a number": ("plan", "app.yaml", "--ranks", LONG),
}


@pytest.mark.parametrize("case", MUCH_TEXT)
def test_errors_quote_a_little_of_long_input(case: str, tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(SMALL)
    plan = workalike("plan", "app.yaml", cwd=tmp_path).stdout
    (tmp_path / "plan.json").write_text(plan.replace('"seed"', f'"{LONG}"'))
    done = workalike(*MUCH_TEXT[case], cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert "xxx...xxx" in one_line(done.stderr) or len(done.stderr) < 400
    assert len(done.stderr) < 1500


@pytest.mark.parametrize("backend", ["null", "record"])
def test_counting_waits_only_if_it_is_asked_to(backend: str, tmp_path: Path) -> None:
    """The workload lasts 21 s; what only counts has nothing to wait for."""
    if engine_if_built() is None:
        pytest.skip("the engine is not built (make build)")
    (tmp_path / "app.yaml").write_text(SMALL)
    run = ("run", "app.yaml", "--dir", "data", "-o", "out", "--backend", backend, "--quiet")
    done = workalike(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["time_scale"] == 0 and record["wall_s"] < 10
    done = workalike(*run, "--time-scale", "0.05", cwd=tmp_path)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["time_scale"] == 0.05 and record["wall_s"] > 1
    for given, scale in (((), 0), (("--time-scale", "0.05"), 0.05)):
        done = workalike("plan", "app.yaml", "--backend", backend, *given, cwd=tmp_path)
        assert json.loads(done.stdout)["time_scale"] == scale


def test_counting_a_plan_made_for_posix_does_not_wait(tmp_path: Path) -> None:
    """The plan waits 21 s when it is performed; its own time scale must not delay a count."""
    (tmp_path / "app.yaml").write_text(SMALL)
    assert workalike("plan", "app.yaml", "-o", "plan.json", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "plan.json").read_text())["time_scale"] == 1
    run = ("run", "plan.json", "--dir", "data", "-o", "out", "--backend", "null", "--quiet")
    for given, scale in (((), 0), (("--time-scale", "0.01"), 0.01)):
        done = workalike(*run, *given, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        record = json.loads((tmp_path / "out" / "run.json").read_text())
        assert record["time_scale"] == record["scale"]["time"] == scale
        assert record["dumps"][-1]["due_s"] == pytest.approx(21 * scale, abs=1)
    done = workalike(*run, "--ranks", "2", cwd=tmp_path)
    assert done.returncode == 2 and "--ranks is settled" in one_line(done.stderr)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--ranks", "1"), "give --ranks at least two numbers"),
        (("--ranks", "2,2"), "give --ranks at least two numbers"),
        (("--least", "128 B", "--most", "129 B"), "fewer than 3 different part sizes"),
    ],
)
def test_calibrations_that_determine_nothing_are_refused(
    options: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    done = workalike("calibrate", "--points", "3", *options, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in one_line(done.stderr)
    assert not list(tmp_path.glob("*.json"))
