"""The sample tender of examples/acceptance, with three bidders: one honest, one sloppy, one who cheats.

The plans are far smaller than a tender's, so that the rule about memory is, too: its factor is that of this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.engine_counts import engine_or_skip

from workalike.bundle.acceptance import Verdict, judge, read_criteria, refuse_other_workloads
from workalike.bundle.collect import Collected, collect
from workalike.bundle.record_checks import contradictions
from workalike.errors import WorkalikeError
from workalike.launch.launchers import Mpiexec
from workalike.record.run_record import read_record

SAMPLE = Path(__file__).parents[2] / "examples" / "acceptance"
NAMES = ("checkpoint", "training", "small-files")
SCALE = ("--ranks", "2", "--scaling", "weak", "--bytes-scale", "1/1024", "--time-scale", "0")

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def tender(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tender")
    files = [str(SAMPLE / f"{name}.yaml") for name in NAMES]
    rules = ["--repeats", "3", "--tunable", "cb_nodes,stripe_count", "--memory-factor", "1e-5"]
    rules += ["--memory-factor", "small-files=1e-7"]
    workalike("bundle", *files, *SCALE, *rules, "-o", "tender.tar.gz", cwd=folder)
    return folder / "tender.tar.gz"


def workalike(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workalike", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=300)


@pytest.fixture(scope="module")
def honest(tender: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an honest bidder has after run.sh, who took this machine's engine in place of build.sh."""
    bidder = tmp_path_factory.mktemp("honest")
    unpacked(tender, bidder)
    perform(bidder, bidder / "data")
    return bidder


def unpacked(tender: Path, bidder: Path) -> None:
    with tarfile.open(tender) as archive:
        archive.extractall(bidder, filter="data")
    (bidder / "tender" / "build").mkdir()
    (bidder / "tender" / "build" / "workalike-engine").symlink_to(engine_or_skip())


def perform(bidder: Path, data: Path) -> None:
    data.mkdir(exist_ok=True)
    environment = os.environ | Mpiexec().environment() | {"LAUNCH": "mpiexec --oversubscribe -n"}
    command = ["./run.sh", str(data)]
    subprocess.run(
        command, cwd=bidder / "tender", env=environment, capture_output=True, check=True, timeout=300
    )


def copy_of(honest: Path, tmp_path: Path) -> Path:
    return shutil.copytree(honest / "tender", tmp_path / "tender", symlinks=True).parent


def sent_back(tender: Path, bidder: Path) -> Collected:
    """Collect what the bidder sends back, packed as run.sh does."""
    with tarfile.open(bidder / "results.tar.gz", "w:gz") as archive:
        archive.add(bidder / "tender" / "results", "results")
    return collect(tender, bidder / "results.tar.gz", "bidder", bidder / "out")


def edit(bidder: Path, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the lines of each record of a workload."""
    for path in (bidder / "tender" / "results" / name).glob("*/run.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            change(line)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def states(collected: Collected, name: str) -> set[str]:
    return {row.trial["state"] for row in collected.finished if row.trial["workload"] == name}


def noted(collected: Collected, name: str) -> str:
    return " ".join(" ".join(lines) for place, lines in collected.disclosed.items() if place.startswith(name))


def test_an_honest_bidder_counts(tender: Path, honest: Path, tmp_path: Path) -> None:
    collected = sent_back(tender, copy_of(honest, tmp_path))
    assert collected.all_count, collected.disclosed
    assert [merit.runs for merit in collected.merits] == [3, 3, 3]


def test_a_sloppy_bidder_ran_fewer_bytes(tender: Path, honest: Path, tmp_path: Path) -> None:
    bidder = copy_of(honest, tmp_path)
    path = bidder / "tender" / "plans" / "checkpoint" / "plan.json"
    plan = json.loads(path.read_text())
    plan["dumps"] = plan["dumps"][:2]
    path.write_text(json.dumps(plan))
    shutil.rmtree(bidder / "tender" / "results" / "checkpoint")
    perform(bidder, bidder / "data")
    collected = sent_back(tender, bidder)
    assert states(collected, "checkpoint") == {"deviates"} and states(collected, "training") == {"ok"}
    assert "the plan was changed: dumps" in noted(collected, "checkpoint")


def test_a_cheat_puts_the_plan_back(tender: Path, honest: Path, tmp_path: Path) -> None:
    bidder = copy_of(honest, tmp_path)
    path = bidder / "tender" / "plans" / "checkpoint" / "plan.json"
    asked = path.read_text()
    plan = json.loads(asked)
    plan["dumps"] = plan["dumps"][:2]
    path.write_text(json.dumps(plan))
    shutil.rmtree(bidder / "tender" / "results" / "checkpoint")
    perform(bidder, bidder / "data")
    for sent in (bidder / "tender" / "results" / "checkpoint").glob("*/plan.json"):
        sent.write_text(asked)
    collected = sent_back(tender, bidder)
    assert states(collected, "checkpoint") == {"deviates"}
    assert "dumps" in noted(collected, "checkpoint")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no file system in memory")
def test_a_cheat_runs_in_memory(tender: Path, tmp_path: Path) -> None:
    unpacked(tender, tmp_path)
    data = Path("/dev/shm") / f"workalike-{os.getpid()}-bidder"
    try:
        perform(tmp_path, data)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    collected = sent_back(tender, tmp_path)
    for name in NAMES:
        assert states(collected, name) == {"deviates"}
        assert "excluded_file_systems: the run was on tmpfs" in noted(collected, name)


def test_a_cheat_has_more_memory_than_the_files(tender: Path, honest: Path, tmp_path: Path) -> None:
    bidder = copy_of(honest, tmp_path)

    def larger(line: dict[str, Any]) -> None:
        if line["type"] == "run":
            line["environment"]["memory_bytes"] = 2**50

    edit(bidder, "small-files", larger)
    collected = sent_back(tender, bidder)
    assert states(collected, "small-files") == {"deviates"}
    assert "memory_factor 1e-07: the working set is" in noted(collected, "small-files")


def quarter_of(field: str) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        if line["type"] == "dump":
            line[field] /= 4

    return change


def shorter(line: dict[str, Any]) -> None:
    """A dump that ends earlier, with the time that it was open."""
    if line["type"] == "dump":
        line["io_s"] /= 4
        line["end_s"] = line["start_s"] + line["io_s"]


def at_one_time(line: dict[str, Any]) -> None:
    """All dumps as if they had been open at the same time, so that files are open for a sixth of it."""
    if line["type"] == "dump":
        line["end_s"] = 1e3
    elif line["type"] == "end":
        line["wall_s"] = 1e3


def smaller_memory(line: dict[str, Any]) -> None:
    if line["type"] == "run":
        line["environment"]["memory_bytes"] = 1


def larger_files(line: dict[str, Any]) -> None:
    if line["type"] == "end":
        for file in line["files"]:
            file["size"] *= 1000


def without_syncs(line: dict[str, Any]) -> None:
    if line["type"] == "dump":
        line["kinds"].pop("fsync")


def more_bytes(line: dict[str, Any]) -> None:
    if line["type"] == "dump":
        line["bytes_written"] *= 2


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (quarter_of("io_s"), "the record contradicts itself"),
        (quarter_of("end_s"), "the record contradicts itself"),
        (shorter, "the record contradicts itself"),
        (without_syncs, "writes_end_with_sync"),
        (more_bytes, "bytes"),
        (at_one_time, "calls on open files take"),
        (smaller_memory, "bytes of memory, and"),
        (larger_files, "its operations reach"),
    ],
    ids=[
        *("io time", "end", "open and end", "no sync", "more bytes"),
        *("at one time", "smaller memory", "larger files"),
    ],
)
def test_a_cheat_edits_the_record(
    tender: Path, honest: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], rule: str
) -> None:
    bidder = copy_of(honest, tmp_path)
    edit(bidder, "checkpoint", change)
    collected = sent_back(tender, bidder)
    assert states(collected, "checkpoint") == {"deviates"}, collected.disclosed
    assert rule in noted(collected, "checkpoint")
    assert states(collected, "training") == {"ok"}


def test_a_cheat_changes_the_type_of_file_system(tender: Path, honest: Path, tmp_path: Path) -> None:
    bidder = copy_of(honest, tmp_path)
    system = bidder / "tender" / "results" / "system"
    system.write_text(
        re.sub(r"^(\S+\s+)\S+(\s+\d+\s+\d+\s+\d+\s+\d+%)", r"\1tmpfs\2", system.read_text(), flags=re.M)
    )
    collected = sent_back(tender, bidder)
    assert "results/system has tmpfs" in noted(collected, "checkpoint")


def test_absurd_records_are_judged(tender: Path, honest: Path, tmp_path: Path) -> None:
    collected = sent_back(tender, copy_of(honest, tmp_path))
    rows = [row.trial for row in collected.finished if row.trial["workload"] == "checkpoint"]
    for row, rate in zip(rows, (1.0, 1e300, 1.0), strict=True):
        row["bandwidth"] = rate
    criteria = read_criteria(SAMPLE / "acceptance.yaml")
    assert judge(criteria, collected).workloads[0].verdict is Verdict.UNDECIDED
    json.dumps(judge(criteria, collected).document(), allow_nan=False)


def test_the_sample_s_criteria_are_judged(tender: Path, honest: Path, tmp_path: Path) -> None:
    collected = sent_back(tender, copy_of(honest, tmp_path))
    criteria = read_criteria(SAMPLE / "acceptance.yaml")
    assert set(criteria.workloads) == set(NAMES)
    required = {merit.workload: merit.bandwidth for merit in collected.merits}
    for share, verdict in ((1e-3, Verdict.PASSED), (1.0, Verdict.UNDECIDED), (1e3, Verdict.FAILED)):
        for name, rate in required.items():
            criteria.workloads[name].at_least = round(share * rate)
        judged = judge(criteria, collected)
        assert judged.verdict is verdict
        assert judged.score == pytest.approx(1 / share, rel=1e-3)
    with pytest.raises(WorkalikeError, match="differ in workloads: small-files"):
        refuse_other_workloads(criteria, NAMES[:2], SAMPLE)


def test_a_run_that_is_left_out_fails_its_workload(tender: Path, honest: Path, tmp_path: Path) -> None:
    bidder = copy_of(honest, tmp_path)
    (bidder / "tender" / "results" / "training" / "2" / "run.jsonl").unlink()
    criteria = read_criteria(SAMPLE / "acceptance.yaml")
    for requirement in criteria.workloads.values():
        requirement.at_least = 1
    judged = judge(criteria, sent_back(tender, bidder))
    assert {judgement.workload: judgement.verdict.value for judgement in judged.workloads} == {
        "checkpoint": "pass",
        "training": "fail",
        "small-files": "pass",
    }
    assert judged.workloads[1].reason == "1 of 3 runs are left out"


def test_the_command_judges(tender: Path, honest: Path, tmp_path: Path) -> None:
    (tmp_path / "easy.yaml").write_text(
        "acceptance: 1\nworkloads: {checkpoint: {at_least: 1 B/s}, training: {at_least: 1 B/s}, "
        "small-files: {at_least: 1 B/s}}\n"
    )
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        archive.add(honest / "tender" / "results", "results")
    words = ["bundle", str(tender), "--collect", "r.tar.gz"]
    shown = workalike(*words, "--accept", "easy.yaml", "-o", "a", cwd=tmp_path).stdout
    assert "acceptance: pass" in shown and "the whole interval reaches the requirement" in shown
    command = [
        sys.executable,
        "-m",
        "workalike",
        *words,
        "--accept",
        str(SAMPLE / "acceptance.yaml"),
        "--json",
    ]
    failed = subprocess.run([*command, "-o", "b"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1 and json.loads(failed.stdout)["acceptance"]["verdict"] == "fail"
    assert json.loads(failed.stdout)["acceptance"]["workloads"][0]["weight"] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("acceptance: 1\nworkloads: {}\n", "workloads"),
        ("acceptance: 2\nworkloads: {a: {at_least: 1 GB/s}}\n", "acceptance"),
        ("acceptance: 1\nworkloads: {a: {at_least: 1 GB}}\n", "a size per second"),
        ("acceptance: 1\nworkloads: {a: {at_least: 0 B/s}}\n", "at_least"),
        ("acceptance: 1\nworkloads: {a: {at_least: 1 GB/s, weight: .nan}}\n", "weight"),
        ("acceptance: 1\nconfidence: 1\nworkloads: {a: {at_least: 1 GB/s}}\n", "confidence"),
        ("acceptance: [\n", "not YAML"),
        ("[]\n", ""),
    ],
)
def test_criteria_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "criteria.yaml"
    path.write_text(text)
    with pytest.raises(WorkalikeError, match="criteria") as refused:
        read_criteria(path)
    assert message in str(refused.value)


def test_an_honest_record_does_not_contradict_itself(honest: Path) -> None:
    records = list(honest.glob("tender/results/*/*/run.jsonl"))
    assert len(records) == 9 and not any(contradictions(read_record(path)) for path in records)
