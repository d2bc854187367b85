"""Studies from end to end: rows and files, resuming, other people's folders, and what was not taken."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from studies import BYTES, command, trials_in, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.study.driver import DriverOptions, load, run_study
from workalike.study.measured import plan_deviations
from workalike.study.study_file import read_study

POSIX = {"time_scale": 0, "backend": "posix"}


def test_every_setting_once_in_each_block(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = workalike("study", write_study(tmp_path, blocks=3), "-o", out)
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(out / "trials.parquet").to_pylist()
    names = {f"ranks={r} bytes_scale={b}" for r in (1, 2) for b in ("1", "1/2")}
    for block in range(3):
        own = [row for row in rows if row["block"] == block]
        assert {row["setting"] for row in own if not row["arm"]} == names
        assert [row["setting"] for row in own if row["arm"] == "a-a"] == ["ranks=1 bytes_scale=1 (a-a)"]
        assert sorted(row["position"] for row in own) == list(range(5))
    orders = {tuple(r["setting"] for r in rows if r["block"] == block) for block in range(3)}
    assert len(orders) > 1, "blocks are in random order, not all in the same"
    for row in rows:
        assert row["bytes_written"] == BYTES * (1 if row["bytes_scale"] == "1" else 0.5)
        assert row["counted"] and row["record_matches_plan"] and row["state"] == "ok"
    dumps = pq.read_table(out / "dumps.parquet").to_pylist()
    assert len(dumps) == len(rows) * 2
    assert {d["trial"] for d in dumps} == {r["trial"] for r in rows}
    manifest = json.loads((out / "manifest.json").read_text())
    assert (
        manifest["state"] == "done"
        and manifest["trials"] == 15
        and manifest["factors"] == ["ranks", "bytes_scale"]
    )


@pytest.mark.mpi
def test_real_trials_leave_nothing_behind(tmp_path: Path) -> None:
    data = tmp_path / "scratch"
    data.mkdir()
    (data / "mine").write_text("keep")
    path = write_study(
        tmp_path, fixed=POSIX, factors={"sharing": ["shared", "per-rank"]}, blocks=1, a_a=False
    )
    done = workalike("study", path, "-o", tmp_path / "out", "--dir", data, "--json", "--no-ceiling")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert [line["counted"] for line in shown["settings"]] == [1, 1]
    for row in trials_in(tmp_path / "out"):
        assert row["bytes_written"] == BYTES and row["processes"] == 2
        assert row["bandwidth"] == pytest.approx(BYTES / row["io_time_s"])
        assert 0 < row["slowest_dump_s"] <= row["io_time_s"] <= row["wall_s"]
        assert row["found"]["file_system"] and row["free_before"] > 0
    assert [p.name for p in data.iterdir()] == ["mine"]


def kill_and_resume(folder: Path, seed: int, trials: int) -> int:
    """Kill the driver at random moments, each after some more trials; returns the number of kills."""
    generator = random.Random(seed)
    out = folder / "out"
    lines, kills, code = b"", 0, None
    while code != 0:
        process = subprocess.Popen(
            command("study", folder / "study.yaml", "-o", out, "-q", "--no-ceiling"), stderr=subprocess.PIPE
        )
        wanted = lines.count(b"\n") + generator.randint(0, 3)
        while process.poll() is None and finished_in(out).count(b"\n") < wanted:
            time.sleep(0.01)
        try:
            process.wait(generator.uniform(0, 1.0))
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
        _, errors = process.communicate()
        code = process.returncode
        assert code in (0, -signal.SIGKILL), errors
        now = finished_in(out)
        whole = lines[: lines.rfind(b"\n") + 1]
        assert now.startswith(whole), "a finished trial was lost or run again"
        lines = now
    rows = trials_in(out)
    keys = [(row["block"], row["setting"]) for row in rows]
    assert len(keys) == len(set(keys)) == trials
    assert pq.read_table(out / "trials.parquet").num_rows == trials
    kept = (".json", ".jsonl", ".parquet", ".html", ".svg", ".csv")
    assert not [p for p in out.rglob("*") if p.is_file() and p.suffix not in kept]
    return kills


def finished_in(out: Path) -> bytes:
    path = out / "trials.jsonl"
    return path.read_bytes() if path.exists() else b""


@pytest.mark.mpi
def test_kill_and_resume(tmp_path: Path) -> None:
    write_study(tmp_path, fixed=POSIX | {"ranks": 1}, factors={"bytes_scale": ["1", "1/2"]}, blocks=4)
    assert kill_and_resume(tmp_path, seed=3, trials=12) >= 1


@pytest.mark.mpi
@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_kill_and_resume_often(tmp_path: Path, seed: int) -> None:
    write_study(tmp_path, fixed=POSIX, factors={"ranks": [1, 2]}, blocks=5)
    kill_and_resume(tmp_path, seed=seed, trials=15)


def test_a_torn_line_is_an_unfinished_trial(tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = write_study(tmp_path)
    assert workalike("study", path, "-o", out, "-q").returncode == 0
    text = (out / "trials.jsonl").read_bytes()
    (out / "trials.jsonl").write_bytes(text[:-40])
    assert workalike("study", path, "-o", out, "-q").returncode == 0
    again = (out / "trials.jsonl").read_bytes()
    assert again.startswith(text[: text[:-1].rfind(b"\n") + 1])
    assert len(again.splitlines()) == len(text.splitlines())


def test_more_blocks_may_be_added(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert workalike("study", write_study(tmp_path), "-o", out, "-q").returncode == 0
    first = (out / "trials.jsonl").read_bytes()
    assert workalike("study", write_study(tmp_path, blocks=3), "-o", out, "-q").returncode == 0
    assert (out / "trials.jsonl").read_bytes().startswith(first)
    assert len(trials_in(out)) == 15


def heed_interrupts() -> None:
    """In the child: what runs in the background ignores SIGINT, and its processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_keeps_what_has_finished(tmp_path: Path) -> None:
    """A study of many quick trials is interrupted after the first; those that have finished are kept."""
    factors = {"time_scale": [0, 1]}
    path = write_study(tmp_path, fixed={"backend": "null"}, factors=factors, blocks=2000, a_a=False, seed=1)
    process = subprocess.Popen(
        command("study", path, "-o", tmp_path / "out"),
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    until = time.monotonic() + 60
    lines = tmp_path / "out" / "trials.jsonl"
    while time.monotonic() < until and not (lines.exists() and lines.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in errors
    assert "the same command resumes" in errors
    finished = len(trials_in(tmp_path / "out"))
    assert 1 <= finished < 4000
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["state"] == "interrupted"
    assert pq.read_table(tmp_path / "out" / "trials.parquet").num_rows == finished


def test_a_signal_after_the_line_of_a_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial is in the table, too, when a signal arrives between its line's last byte and what follows."""
    sync = os.fsync

    def sync_and_interrupt(descriptor: int) -> None:
        sync(descriptor)
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "trials.jsonl":
            raise KeyboardInterrupt

    path = write_study(tmp_path, fixed={"backend": "null"})
    monkeypatch.setattr(os, "fsync", sync_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_study(read_study(path), DriverOptions(out=tmp_path / "out"))
    assert len(trials_in(tmp_path / "out")) == 1
    assert pq.read_table(tmp_path / "out" / "trials.parquet").num_rows == 1


def refused(path: Path, out: Path, **more: object) -> str:
    with pytest.raises(WorkalikeError) as error:
        run_study(read_study(path), DriverOptions(out=out, **more))  # type: ignore[arg-type]
    return error.value.one_line()


def test_a_folder_with_something_else(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    assert "holds 'thesis.tex' and no study" in refused(path, other)
    assert [p.name for p in other.iterdir()] == ["thesis.tex"]


def test_a_folder_with_another_study(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_study(read_study(write_study(tmp_path)), DriverOptions(out=out))
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    changed = write_study(tmp_path, factors={"ranks": [1, 2, 3]})
    assert "another study" in refused(changed, out)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before


def test_a_changed_workload_is_another_study(tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = write_study(tmp_path)
    run_study(read_study(path), DriverOptions(out=out))
    (tmp_path / "w.yaml").write_text((tmp_path / "w.yaml").read_text().replace("4/rank", "5/rank"))
    assert "another study" in refused(path, out)


def test_two_drivers(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    descriptor = os.open(out, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        assert "another driver is running a study there" in refused(path, out)
    finally:
        os.close(descriptor)
    assert list(out.iterdir()) == []


@pytest.mark.mpi
def test_the_directory_must_exist(tmp_path: Path) -> None:
    path = write_study(tmp_path, fixed=POSIX)
    assert "does not exist" in refused(path, tmp_path / "out", directory=tmp_path / "sratch")
    (tmp_path / "file").write_text("x")
    assert "is not a directory" in refused(path, tmp_path / "out", directory=tmp_path / "file")


@pytest.mark.mpi
def test_a_layout_that_the_file_system_does_not_have(tmp_path: Path) -> None:
    path = write_study(
        tmp_path, fixed=POSIX, factors={"stripes": {"set": "layout.stripe_count", "levels": [1, 2]}}
    )
    line = refused(path, tmp_path / "out", directory=tmp_path)
    assert "setting stripes=1" in line and "no layout that can be set" in line and "skip" in line
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("workalike-study")]


def test_too_long_trials_are_ended_and_left_out(tmp_path: Path) -> None:
    fields = {"fixed": {"backend": "null"}, "factors": {"time_scale": [0, 1]}, "timeout": "0.5 s"}
    done = workalike("study", write_study(tmp_path, blocks=1, a_a=False, **fields), "-o", tmp_path / "out")
    assert done.returncode == 1
    states = {row["time_scale"]: row["state"] for row in trials_in(tmp_path / "out")}
    assert states == {0: "ok", 1: "timed-out"}
    assert "took longer than 0.5 s" in done.stdout


def test_the_budget_ends_before_a_block(tmp_path: Path) -> None:
    """A trial waits 0.5 s with one rank, by its plan: 0.000139 core-hours; the budget holds two and a half."""
    fields = {"fixed": {"backend": "null", "time_scale": 0.05, "ranks": 1}, "factors": {"seed": [1]}}
    path = write_study(tmp_path, blocks=4, a_a=False, **fields)
    outcome = run_study(read_study(path), DriverOptions(out=tmp_path / "out", budget=2.5 * 0.5 / 3600))
    assert (outcome.state, len(outcome.finished)) == ("budget", 2)
    assert "less than one block" in refused(path, tmp_path / "other", budget=0.4 / 3600)


def test_trials_of_another_study_are_reused(tmp_path: Path) -> None:
    first = tmp_path / "a"
    run_study(read_study(write_study(tmp_path, blocks=1)), DriverOptions(out=first))
    wider = write_study(tmp_path, factors={"ranks": [1, 2, 3], "bytes_scale": ["1", "1/2"]})
    outcome = run_study(read_study(wider), DriverOptions(out=tmp_path / "b", reuse=[first]))
    assert outcome.reused == 5, "four settings and the a/a arm of the first block"
    rows = trials_in(tmp_path / "b")
    known = json.loads((first / "manifest.json").read_text())["id"]
    assert {row["setting"] for row in rows if row["reused_from"] == f"{known} block 0"} == {
        row["setting"] for row in trials_in(first)
    }
    assert len(rows) == 14


@pytest.mark.mpi
def test_a_payload_fitted_to_the_bytes_below_a_library(tmp_path: Path) -> None:
    """HDF5 writes metadata, too: the payload is below the 1 MiB of a dump, and the file's bytes are the plan's."""
    path = write_study(tmp_path, fixed={"time_scale": 0}, factors={"ranks": [1]}, blocks=1, a_a=False)
    text = (tmp_path / "w.yaml").read_text().replace("posix", "hdf5\n  level: mpiio\n  sizes: 1 MiB")
    (tmp_path / "w.yaml").write_text(text[: text.index("    streams")] + "    fit: {datasets: 2}\n")
    outcome = run_study(read_study(path), DriverOptions(out=tmp_path / "out"))
    row = outcome.finished[0].trial
    assert (row["state"], row["bytes_written"]) == ("ok", 2 * 2**20), row["reasons"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"payload_bytes": BYTES // 2 - 1},
            "checkpoint 1, dump 1: 524,288 bytes of payload planned, 524,287 found",
        ),
        ({"index": 7}, "2 dumps planned, 2 found"),
        ({"kinds": {}}, "8 writes planned, 0 found"),
    ],
)
def test_a_record_that_is_not_its_plans(tmp_path: Path, change: dict[str, object], words: str) -> None:
    loaded = load(read_study(write_study(tmp_path)))
    prepared = loaded.settings[2]  # two ranks, all bytes
    record = run_plan(prepared.plan, RunOptions(tmp_path, tmp_path / "out", backend="null"))
    assert plan_deviations(prepared, record) == []
    record.dumps[1] = record.dumps[1].model_copy(update=change)
    assert words in plan_deviations(prepared, record)[0]


@pytest.mark.mpi
@pytest.mark.parametrize("of_study", [False, True])
def test_capture_is_a_factor(tmp_path: Path, of_study: bool) -> None:
    """A setting's own word counts. Only a captured trial has a log, which shows the ranks that wrote to a file."""
    study = write_study(
        tmp_path,
        fixed={"time_scale": 0, "ranks": 2},
        factors={"captured": {"set": "capture", "levels": {"yes": True, "no": False}}},
        capture=of_study,
        blocks=1,
        a_a=False,
    )
    done = workalike("study", study, "-o", tmp_path / "out", "--no-ceiling", "-q")
    assert done.returncode == 0, done.stderr
    writers = {
        row["captured"]: row["found"].get("ranks_that_write_to_a_file") for row in trials_in(tmp_path / "out")
    }
    assert writers == {"yes": 2, "no": None}


@pytest.mark.mpi
def test_the_page_of_real_trials(tmp_path: Path) -> None:
    """It compares the settings, checks the a/a arm, and acts on no markup of the study."""
    data = tmp_path / "scratch"
    data.mkdir()
    path = write_study(
        tmp_path,
        title="<script>1</script>",
        fixed=POSIX,
        factors={"sharing": ["shared", "per-rank"]},
        blocks=3,
    )
    out = tmp_path / "out"
    done = workalike("study", path, "-o", out, "--dir", data, "--no-ceiling")
    assert done.returncode == 0, done.stderr
    assert f"page: {out / 'report.html'}" in done.stdout
    page = (out / "report.html").read_text()
    assert "9 trials of 2 settings in 3 blocks" in " ".join(page.split())
    assert "sharing=per-rank" in page and "A/A check" in page
    assert "&lt;script&gt;1" in page and "<script>1" not in page
    rows = (out / "figures/means.csv").read_text().splitlines()
    measured = [row["bandwidth"] for row in trials_in(out) if row["setting"] == "sharing=per-rank"]
    (mean,) = [float(row.split(",")[1]) for row in rows if row.startswith("sharing=per-rank")]
    assert mean == pytest.approx(sum(measured) / 3, rel=1e-3)
