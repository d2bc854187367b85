"""Files of every version of every format that was ever released or is now: each is read (docs/formats.md).

tests/data/formats has them as programs of their time wrote them. A format whose version is raised needs a file of the
version before.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from workalike.bundle.rules import VERSION as BUNDLE_VERSION
from workalike.bundle.rules import rules_of
from workalike.compare.fidelity import read_fidelity
from workalike.compare.fidelity_schema import FIDELITY_VERSION
from workalike.conformance.cases import first_difference, operations_of
from workalike.conformance.reader import without_dump
from workalike.errors import WorkalikeError
from workalike.evidence.document import VERSION as EVIDENCE_VERSION
from workalike.evidence.document import read_evidence
from workalike.fleet.schema import VERSION as FLEET_VERSION
from workalike.plan.core import core_plan
from workalike.plan.plan_file import read_plan
from workalike.plan.plan_schema import PLAN_VERSION
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import RECORD_VERSION, read_record
from workalike.study.document import SCHEMA_VERSION as STUDY_VERSION
from workalike.study.journal import VERSION as RESULTS_VERSION
from workalike.study.journal import read_manifest
from workalike.study.mix.document import MIX_VERSION, read_mix
from workalike.workload.model import SCHEMA_VERSION
from workalike.workload.workload_file import parse_workload, read_workload, workload_text

DATA = Path(__file__).parent / "data" / "formats"
VERSIONS = {
    "workload": SCHEMA_VERSION,
    "plan": PLAN_VERSION,
    "record": RECORD_VERSION,
    "fidelity": FIDELITY_VERSION,
    "study": RESULTS_VERSION,
    "mix": MIX_VERSION,
    "bundle": BUNDLE_VERSION,
    "fleet": FLEET_VERSION,
    "evidence": EVIDENCE_VERSION,
}


def files_of(name: str) -> list[Path]:
    return sorted(DATA.glob(f"{name}-*"))


def run(*words: object, cwd: Path) -> str:
    command = [sys.executable, "-m", "workalike", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "version"), VERSIONS.items())
def test_there_is_a_file_of_every_version(name: str, version: int) -> None:
    found = {path.name.removeprefix(f"{name}-").partition(".")[0] for path in files_of(name)}
    assert found == {str(number) for number in range(1, version + 1)}


@pytest.mark.parametrize("path", files_of("workload"), ids=lambda path: path.name)
def test_workloads_are_read_and_written_in_the_present_version(path: Path) -> None:
    workload = read_workload(path)
    text = workload_text(workload)
    assert f"workalike: {SCHEMA_VERSION}" in text and parse_workload(text) == workload
    assert resolve(workload, Options(ranks=2)).dumps


@pytest.mark.parametrize("path", files_of("plan"), ids=lambda path: path.name)
def test_plans_are_read_by_python_and_the_core(path: Path) -> None:
    plan = read_plan(path)
    assert plan.version == PLAN_VERSION and plan.dumps
    core_plan(plan)


@pytest.mark.parametrize("path", files_of("plan"), ids=lambda path: path.name)
def test_a_plan_gives_the_operations_that_it_gave(path: Path, tmp_path: Path) -> None:
    core_plan(read_plan(path)).write_operations(str(tmp_path / "operations"))
    found = operations_of(without_dump((tmp_path / "operations").read_text().splitlines()))
    stored = DATA / "operations" / f"{path.stem}.operations"
    assert first_difference(operations_of(stored.read_text().splitlines()), found) is None


def test_the_plan_of_an_older_program_is_that_of_its_workload() -> None:
    """The plan and the workload of version 1 belong together."""
    now, then = (
        resolve(read_workload(DATA / "workload-1.yaml"), Options(ranks=2)),
        read_plan(DATA / "plan-1.json"),
    )
    assert [d.start_s for d in now.dumps] == [d.start_s for d in then.dumps]
    assert [f.backend for f in now.families] == [f.backend for f in then.families]


@pytest.mark.parametrize("path", files_of("record"), ids=lambda path: path.name)
def test_records_are_read(path: Path) -> None:
    assert read_record(path).dumps


@pytest.mark.parametrize("path", files_of("fidelity"), ids=lambda path: path.name)
def test_fidelities_are_read(path: Path) -> None:
    assert read_fidelity(path).families


@pytest.mark.parametrize("path", files_of("evidence"), ids=lambda path: path.name)
def test_evidence_is_read(path: Path) -> None:
    assert len(read_evidence(path).transfers) == 6


def test_a_fidelity_without_a_version_is_read(tmp_path: Path) -> None:
    document = json.loads((DATA / "fidelity-1.json").read_text())
    del document["format"], document["version"]
    (tmp_path / "fidelity.json").write_text(json.dumps(document))
    assert read_fidelity(tmp_path / "fidelity.json") == read_fidelity(DATA / "fidelity-1.json")


@pytest.mark.parametrize("path", files_of("study"), ids=lambda path: path.name)
def test_results_of_studies_are_read(path: Path, tmp_path: Path) -> None:
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    assert read_manifest(tmp_path / "study")["trials"] == 10
    again = run("study", "run", "study.yaml", "-o", "study", "--dir", ".", cwd=tmp_path)
    assert "10 trials" in again  # it goes on where it stood: all are there


@pytest.mark.parametrize("path", files_of("mix"), ids=lambda path: path.name)
def test_mixes_are_read(path: Path) -> None:
    assert len(read_mix(path).workloads) == 2


@pytest.mark.parametrize("path", files_of("bundle"), ids=lambda path: path.name)
def test_rules_of_bundles_are_read(path: Path) -> None:
    assert rules_of(path.read_text(), path.name).plans


@pytest.mark.parametrize("path", files_of("fleet"), ids=lambda path: path.name)
def test_databases_are_brought_to_the_present_version(path: Path, tmp_path: Path) -> None:
    """By the first ingestion, and no log is lost. The logs are those of tests/data, so nothing is new."""
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "db", filter="data")
    (tmp_path / "logs").mkdir()
    for name in ("checkpoints-4.darshan", "stdio-output-1.darshan"):
        shutil.copy(DATA.parent / name, tmp_path / "logs")
    run("fleet", "ingest", "logs", "--db", "db", cwd=tmp_path)
    assert json.loads((tmp_path / "db" / "fleet.json").read_text())["workalike_fleet"] == FLEET_VERSION
    with duckdb.connect(str(tmp_path / "db" / "fleet.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM log").fetchone() == (2,)


def newer(text: str, before: str, after: str) -> str:
    assert before in text
    return text.replace(before, after, 1)


def test_a_newer_study_or_database_is_refused(tmp_path: Path) -> None:
    with tarfile.open(DATA / "study-1.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert STUDY_VERSION == 1
    for name in ("study.yaml", "study/manifest.json"):
        path = tmp_path / name
        kept = path.read_text()
        before, after = ("study: 1", "study: 2") if name == "study.yaml" else ('"version": 1', '"version": 2')
        path.write_text(newer(kept, before, after))
        command = [
            sys.executable,
            "-m",
            "workalike",
            "study",
            "run",
            "study.yaml",
            "-o",
            "study",
            "--dir",
            ".",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        path.write_text(kept)
    with tarfile.open(DATA / f"fleet-{FLEET_VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path / "db", filter="data")
    about = tmp_path / "db" / "fleet.json"
    about.write_text(about.read_text().replace(str(FLEET_VERSION), str(FLEET_VERSION + 1), 1))
    command = [sys.executable, "-m", "workalike", "fleet", "report", "--db", "db"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "version" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("name", "before", "after", "read"),
    [
        ("workload-2.yaml", "workalike: 2", "workalike: 3", read_workload),
        ("plan-2.json", '"version":2', '"version":3', read_plan),
        ("record-1.json", '"version": 1', '"version": 2', read_record),
        ("fidelity-1.json", '"version": 1', '"version": 2', read_fidelity),
        ("mix-1.yaml", "mix: 1", "mix: 2", read_mix),
        ("evidence-1.json", '"version": 1', '"version": 2', read_evidence),
        ("bundle-3.json", '"version": 3', '"version": 4', lambda path: rules_of(path.read_text(), path.name)),
    ],
)
def test_a_newer_version_is_refused_with_the_remedy(
    name: str, before: str, after: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(newer((DATA / name).read_text(), before, after))
    with pytest.raises(WorkalikeError) as refused:
        read(tmp_path / name)
    line = refused.value.one_line()
    assert name in line and "(" in line and "\n" not in line, line
    assert "newer" in line or "version" in line or "mix: 1" in line, line
