"""The paper's five workloads have the paper's numbers (from its text and its published decks)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Assumption, Lifetime, Role, Workload
from workalike.workload.workload_file import read_workload

FOLDER = Path(__file__).parents[2] / "workloads"
MIB, GIB = 2**20, 2**30
#        ranks, run time, checkpoints, first and last checkpoint, states, their total
PAPER = {
    "a": (16, 119 * 60, 49, 213 * MIB, 213 * MIB, 50, 1.75 * GIB),
    "b": (80, 131 * 60, 27, 259 * MIB, 1.9 * GIB, 28, 285 * MIB),
    "c": (80, 131 * 60, 27, 259 * MIB, 1.9 * GIB, 28, 20.2 * GIB),
    "d": (80, 753.6205, 3, 7.3 * GIB, 7.3 * GIB, 116, 1.8e9),
    "e": (80, 753.6205, 3, 7.7 * GIB, 7.7 * GIB, 88, 1.4e9),
}


def load(letter: str) -> Workload:
    return read_workload(FOLDER / f"mphys-{letter}.yaml")


@pytest.mark.parametrize("letter", PAPER)
def test_numbers(letter: str) -> None:
    ranks, runtime, dumps, first, last, states, total = PAPER[letter]
    workload = load(letter)
    checkpoint, visualization = workload.families
    assert (workload.ranks, workload.runtime) == (ranks, pytest.approx(runtime))
    assert (checkpoint.role, checkpoint.schedule.dumps) == (Role.CHECKPOINT, dumps)
    sizes = checkpoint.dump_sizes() or []
    assert sizes[0] == pytest.approx(first, rel=1e-9)
    assert sizes[-1] == pytest.approx(last, rel=2e-3)
    assert (visualization.role, visualization.schedule.dumps) == (Role.VISUALIZATION, states)
    assert visualization.lifetime is Lifetime.APPENDED
    assert sum(visualization.dump_sizes() or []) == pytest.approx(total, rel=1e-7)
    for family in workload.families:
        assert family.content is not None and family.content.fit is not None
        assert family.content.fit.datasets == 43
        assert family.schedule.starts()[-1] <= workload.runtime + 1e-6
    assert visualization.content is not None and visualization.content.flushes == ranks


@pytest.mark.parametrize(
    ("letter", "borrowed"), [("a", False), ("b", True), ("c", False), ("d", True), ("e", False)]
)
def test_what_is_borrowed_is_said(letter: str, borrowed: bool) -> None:
    checkpoint, visualization = load(letter).families
    for family in (checkpoint, visualization):
        assert (Assumption.DECK in family.assumed) == borrowed
    assert Assumption.SCHEDULE in visualization.assumed
    assert Assumption.STATE_SIZES in visualization.assumed
    text = (FOLDER / f"mphys-{letter}.yaml").read_text()
    assert "Dickson" in text and ("No deck was published" in text) == borrowed


def test_growth_is_the_decks() -> None:
    sizes = load("c").families[0].dump_sizes() or []
    assert len(sizes) == 27
    assert sizes[5] / sizes[4] == pytest.approx(1.573227842, rel=1e-8)
    states = load("c").families[1].dump_sizes() or []
    assert states == sorted(states) and states[-1] / states[0] == pytest.approx(7.502, rel=1e-3)
    assert sum(states) == 21689584845


@pytest.mark.parametrize("letter", PAPER)
def test_they_resolve(letter: str) -> None:
    workload = load(letter)
    plan = resolve(workload, Options())
    assert len(plan.dumps) == sum(f.schedule.dumps for f in workload.families)
    assert len(plan_text(plan)) < 100_000


def _maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_mphys", FOLDER / "make_mphys.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are made.
    import sys

    sys.modules["make_mphys"] = module
    spec.loader.exec_module(module)
    return module


def test_the_script_writes_what_is_checked_in(tmp_path: Path) -> None:
    _maker().main(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert path.read_text() == (FOLDER / path.name).read_text(), path.name
    assert len(list(tmp_path.iterdir())) == 5
