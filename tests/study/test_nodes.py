"""How many nodes a study's trials are on."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.study.system import node_count


@pytest.fixture(autouse=True)
def no_batch_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_NUM_NODES", "FLUX_JOB_NNODES", "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)


def test_outside_of_a_job_it_is_this_node() -> None:
    assert node_count() == 1


@pytest.mark.parametrize("name", ["SLURM_JOB_NUM_NODES", "FLUX_JOB_NNODES"])
def test_a_job_says_how_many(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "3")
    assert node_count() == 3
    monkeypatch.setenv(name, "many")
    assert node_count() == 1


def test_a_file_of_pbs_has_a_line_for_each_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    assert node_count() == 1
    (tmp_path / "nodes").write_text("a\na\nb\nb\n")
    assert node_count() == 2
