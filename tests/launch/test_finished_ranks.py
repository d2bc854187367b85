"""A launcher that ends with an error after all ranks have finished, as Open MPI 4 does at times under a heavy load."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from needed import needs_engine, needs_mpiexec

from workalike.errors import ErrorKind, WorkalikeError
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import read_workload

pytestmark = [needs_engine, needs_mpiexec]

WORKLOAD = """
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: posix
  sharing: shared
  schedule: {count: 2, first: 0 s, every: 0.1 s}
  content:
    streams: [{direction: write, sizes: ["2/rank x 1 KiB"]}]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "w.yaml"
    path.write_text(WORKLOAD)
    return resolve(read_workload(path), Options())


def install_launcher(folder: Path, monkeypatch: pytest.MonkeyPatch, afterwards: str) -> None:
    """An mpiexec that runs the real one, then something else, and ends with code 1."""
    real = shutil.which("mpiexec")
    folder.mkdir()
    launcher = folder / "mpiexec"
    launcher.write_text(f'#!/bin/sh\n{real} "$@"\n{afterwards}\nexit 1\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_a_run_counts_if_its_ranks_have_finished(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    install_launcher(tmp_path / "bin", monkeypatch, "true")
    record = run_plan(plan, RunOptions(tmp_path / "data", tmp_path / "out", verify=True, quiet=True))
    assert len(record.dumps) == len(plan.dumps) and not record.incomplete
    assert "the launcher ended with code 1, but all ranks have finished" in capfd.readouterr().err


WRONG_BYTES = """sed -i 's/"errors":0/"errors":5/' RECORD"""


@pytest.mark.parametrize(
    "change", ["sed -i '$d' RECORD", WRONG_BYTES, "rm RECORD"], ids=["cut", "wrong bytes", "none"]
)
def test_a_run_fails_if_its_record_is_cut_wrong_or_missing(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    install_launcher(
        tmp_path / "bin", monkeypatch, change.replace("RECORD", str(tmp_path / "out" / "run.jsonl"))
    )
    with pytest.raises(WorkalikeError) as failed:
        run_plan(plan, RunOptions(tmp_path / "data", tmp_path / "out", verify=True, quiet=True))
    assert failed.value.kind is ErrorKind.RUN_FAILED
