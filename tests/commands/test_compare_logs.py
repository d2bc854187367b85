"""`workalike compare` for two logs and for a baseline: which comparison it is, exit codes, what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from workalike.cli import app
from workalike.darshan import LogBuilder
from workalike.errors import WorkalikeError

ENGINE_FILE = "/data/checkpoint-1.0000.0badcafe.dat"


def log(path: Path, writes: int = 100, name: str = "/data/out", **more: object) -> Path:
    made = LogBuilder(nprocs=2, run_time=5.0, **more)  # type: ignore[arg-type]
    made.posix(
        name,
        0,
        OPENS=1,
        WRITES=writes,
        BYTES_WRITTEN=10 * writes,
        SIZE_WRITE_0_100=writes,
        F_OPEN_START_TIMESTAMP=1.0,
        F_WRITE_START_TIMESTAMP=1.0,
        F_WRITE_END_TIMESTAMP=2.0,
        F_CLOSE_END_TIMESTAMP=2.0,
    )
    return made.write(path)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, an equal one, one that is alike and one that changed."""
    monkeypatch.chdir(tmp_path)
    for name, writes in (("a", 100), ("same", 100), ("alike", 103), ("more", 150)):
        log(tmp_path / f"{name}.darshan", writes)
    return tmp_path


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def refused(result: Result) -> WorkalikeError:
    assert isinstance(result.exception, WorkalikeError), result.output
    assert result.exception.exit_code == 2 and result.exception.hint
    return result.exception


def test_two_logs_need_no_workload_and_write_nothing(logs: Path) -> None:
    result = compare("a.darshan", "same.darshan")
    assert (result.exit_code, result.stdout) == (0, "Equal: all 8 counters of 1 file.\n")
    assert not (logs / "fidelity.json").exists()
    result = compare("a.darshan", "more.darshan")
    assert result.exit_code == 0
    assert result.stdout.startswith("Changed: 3 of 8 counters.\n")
    assert "POSIX WRITES" in result.stdout and "150" in result.stdout


@pytest.mark.parametrize(
    ("name", "required", "code"),
    [
        ("same", "same", 0),
        ("same", "alike", 0),
        ("alike", "same", 1),
        ("alike", "alike", 0),
        ("more", "same", 1),
        ("more", "alike", 1),
    ],
)
def test_what_is_required(logs: Path, name: str, required: str, code: int) -> None:
    result = compare("a.darshan", f"{name}.darshan", "--require", required, "--quiet")
    assert (result.exit_code, result.stdout) == (code, "")
    if code:
        lines = result.stderr.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith(f"workalike: fell short: required {required}: ")


def test_json_output_and_page(logs: Path) -> None:
    result = compare("a.darshan", "more.darshan", "--json", "-o", "out.json", "--report", "out.html")
    found = json.loads(result.stdout)
    assert found == json.loads((logs / "out.json").read_text())
    assert found["format"] == "workalike-log-comparison"
    assert found["word"] == "changed" and found["compared"]["changed"] == 3
    page = (logs / "out.html").read_text()
    assert "<h1>Changed</h1>" in page and "POSIX WRITES" in page and "/data/out" in page


def test_a_baseline_of_several_runs(logs: Path) -> None:
    for number, writes in enumerate((80, 100, 120)):
        log(logs / f"run{number}.darshan", writes)
    earlier = [part for number in range(3) for part in ("--baseline", f"run{number}.darshan")]
    result = compare("same.darshan", *earlier)
    assert result.stdout.startswith("Within the baseline: all 8 counters")
    result = compare("run0.darshan", "same.darshan", *earlier[2:], "--json")
    found = json.loads(result.stdout)
    assert [part["name"] for part in found["baseline"]] == ["run0.darshan", "run1.darshan", "run2.darshan"]
    assert found["new"]["name"] == "same.darshan" and found["word"] == "equal"
    log(logs / "far.darshan", 1000)
    assert compare("far.darshan", *earlier, "--require", "alike").exit_code == 1


def test_folders_are_the_logs_of_one_job(logs: Path) -> None:
    for job in ("first", "second"):
        (logs / job).mkdir()
        for process in range(2):
            log(logs / job / f"{process}.darshan", 10, name=f"/data/part{process}")
    result = compare("first", "second")
    assert result.stdout.startswith("Equal: all ")
    assert "of 2 files." in result.stdout


def test_a_partial_module_is_exit_code_3(logs: Path) -> None:
    LogBuilder(nprocs=2).posix("/data/out", 0, OPENS=1).partial("POSIX").write("partial.darshan")
    assert compare("partial.darshan", "partial.darshan").exit_code == 3
    assert compare("partial.darshan", "partial.darshan", "--require", "same").exit_code == 3
    assert compare("partial.darshan", "a.darshan", "--require", "same").exit_code == 1


def test_options_of_the_other_comparison_are_refused(logs: Path) -> None:
    assert (
        "not a limit for two logs"
        in refused(compare("a.darshan", "same.darshan", "--require", "bytes=1%")).message
    )
    assert (
        "--plan is of a replica" in refused(compare("a.darshan", "same.darshan", "--plan", "p.json")).message
    )
    Path("run.json").write_text('{"format": "workalike-record"}')
    assert "of two logs" in refused(compare("a.darshan", "run.json", "--require", "same")).message
    assert "of two logs" in refused(compare("a.darshan", "run.json", "--report", "x.html")).message
    assert "nothing to compare" in refused(compare("a.darshan")).message
    assert "is not a log" in refused(compare("a.darshan", "--baseline", "run.json")).message


def test_a_log_of_the_engine_is_a_replica_unless_both_are(logs: Path) -> None:
    from workalike.compare.logs.inputs import two_logs

    replica = log(logs / "replica.darshan", name=ENGINE_FILE)
    assert two_logs(Path("a.darshan"), replica) is None
    assert two_logs(replica, replica) is not None
    assert two_logs(replica, Path("a.darshan")) is not None
    assert compare(replica, replica).stdout.startswith("Equal: ")


def test_the_plan_beside_a_record_is_taken(logs: Path) -> None:
    """Without it, a scaling rule that the record does not name is assumed."""
    from workalike.commands.compare import _plan_beside
    from workalike.record.run_record import read_record

    Path("w.yaml").write_text(
        "workalike: 2\nranks: 4\nfamilies:\n- role: checkpoint\n  interface: posix\n  sharing: per-rank\n"
        "  schedule: {count: 3, first: 1 s, every: 10 s}\n"
        "  content:\n    streams:\n    - {direction: write, sizes: [8/rank x 64 KiB]}\n"
    )
    runner = CliRunner()
    made = runner.invoke(
        app, ["plan", "w.yaml", "--bytes-scale", "1/4", "--scale-by", "size", "-o", "plan.json"]
    )
    assert made.exit_code == 0, made.output
    Path("out").mkdir()
    run = runner.invoke(
        app, ["run", "plan.json", "--dir", "data", "-o", "out", "--backend", "null"], catch_exceptions=False
    )
    assert run.exit_code == 0, run.output
    record = Path("out/run.json")
    assert _plan_beside(record, read_record(record)) is None
    with_option = compare("w.yaml", record, "--plan", "plan.json", "--json")
    Path("out/plan.json").write_bytes(Path("plan.json").read_bytes())
    assert compare("w.yaml", record, "--json").stdout == with_option.stdout
    other = runner.invoke(app, ["plan", "w.yaml", "--ranks", "2", "-o", "out/plan.json"])
    assert other.exit_code == 0
    assert _plan_beside(record, read_record(record)) is None
    Path("out/plan.json").write_text("{}")
    assert _plan_beside(record, read_record(record)) is None


def test_the_log_beside_a_record_is_the_witness_of_its_run(logs: Path) -> None:
    """As `replicate` and `run --capture` leave it: then storage is judged, and one comparison can require all."""
    from workalike.launch.run import RunOptions, run_plan
    from workalike.plan.resolve import Options, resolve
    from workalike.workload.workload_file import parse_workload

    workload = parse_workload(
        "workalike: 2\nranks: 1\nfamilies:\n- role: checkpoint\n  interface: posix\n"
        "  schedule: {count: 3, first: 1 s, every: 10 s}\n"
        "  content:\n    streams:\n    - {direction: write, sizes: [8 x 64 KiB]}\n"
    )
    plan = resolve(workload, Options())
    for folder in (Path("original"), Path("out")):
        run_plan(plan, RunOptions(Path("data"), folder, quiet=True, capture=True))
    original = Path("app.darshan")
    original.write_bytes(Path("original/replica.darshan").read_bytes())
    required = ("--require", "bytes=0.1%,storage=5%")
    assert compare(original, "out/run.json", *required).exit_code == 0
    Path("out/replica.darshan").unlink()
    alone = compare(original, "out/run.json", *required)
    assert alone.exit_code == 1 and "storage was not judged" in alone.output
