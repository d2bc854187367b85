"""docs/mphys.md: the figures that can be recomputed here are those of the page, and the model of the paper's rule holds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from workalike.compare.fidelity import compare
from workalike.plan.resolve import Options, resolve

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mphys.md").read_text()


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mphys_fidelity", ROOT / "benchmarks" / "mphys_fidelity.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mphys_fidelity"] = module  # dataclasses look their module up while they are made
    spec.loader.exec_module(module)
    return module


def load(bench: ModuleType, letter: str):  # type: ignore[no-untyped-def]
    return bench.read_workload(bench.WORKLOADS / f"mphys-{letter}.yaml")


def test_the_rows_of_the_papers_rule_are_on_the_page(bench: ModuleType) -> None:
    workloads = {letter: load(bench, letter) for letter in bench.LETTERS}
    fitted = {letter: bench.papers_rule(w) for letter, w in workloads.items()}
    published = {letter: bench.papers_rule(workloads[letter], parts) for letter, parts in bench.DECKS.items()}
    sizes = [
        ("the paper, Table II", {a: bench.triple(v) for a, v in bench.TABLE_II.items()}),
        ("its rule, part sizes fitted", {a: bench.triple(bench.errors(f)) for a, f in fitted.items()}),
        ("its rule, published part sizes", {a: bench.triple(bench.errors(f)) for a, f in published.items()}),
        ("the paper, Table II", {a: bench.percent(v) for a, v in bench.TABLE_II_STATES.items()}),
        ("its rule, part sizes fitted", {a: bench.triple(bench.state_errors(f)) for a, f in fitted.items()}),
        (
            "its rule, published part sizes",
            {a: bench.triple(bench.state_errors(f)) for a, f in published.items()},
        ),
        (
            "the paper's rule",
            {a: bench.start_error(f, workloads[a].families[0]) for a, f in fitted.items()},
        ),
    ]
    for name, cells in sizes:
        assert bench.row(name, cells) in PAGE


@pytest.mark.parametrize("letter", "abcde")
def test_our_plan_has_no_error(bench: ModuleType, letter: str) -> None:
    workload = load(bench, letter)
    plan = resolve(workload, Options())
    assert bench.errors(compare(workload, bench.record_from_plan(plan), plan=plan)) == (0, 0, 0)


def test_the_model_gives_the_papers_errors_for_c(bench: ModuleType) -> None:
    """3.05 / 16.27 / 5.72 in Table II."""
    mean, largest, states = bench.errors(bench.papers_rule(load(bench, "c"), bench.DECKS["c"]))
    assert mean == pytest.approx(3.05, abs=0.01)
    assert largest == pytest.approx(16.27, abs=0.1)
    assert states == pytest.approx(5.72, abs=0.2)
    assert bench.state_errors(bench.papers_rule(load(bench, "c"), bench.DECKS["c"]))[0] == pytest.approx(
        bench.TABLE_II_STATES["c"], abs=0.01
    )


@pytest.mark.parametrize(("letter", "states"), [("a", 50), ("b", 28), ("c", 28), ("d", 116), ("e", 88)])
def test_the_fourth_row_is_the_third_over_the_states(bench: ModuleType, letter: str, states: int) -> None:
    """To the two digits that the paper prints, cut or rounded."""
    assert load(bench, letter).families[bench.STATE].schedule.dumps == states
    assert bench.TABLE_II_STATES[letter] == pytest.approx(bench.TABLE_II[letter][2] / states, abs=0.01)


@pytest.mark.parametrize(
    ("nodes", "cut"),
    [
        (9387, (63, 149)),
        (11769, (3, 3923)),
        (12145, (35, 347)),
        (50073, (3, 16691)),
        (12, (3, 4)),
        (13, (1, 13)),
    ],
)
def test_parts_are_cut_as_in_the_branch(bench: ModuleType, nodes: int, cut: tuple[int, int]) -> None:
    """Shapes verified on the branch's own example C (docs/reference/macsio-model.md#part-shapes)."""
    assert bench.cut_by_the_papers_rule(nodes) == cut


def test_a_prime_grows_until_it_can_be_cut(bench: ModuleType) -> None:
    nx, ny = bench.cut_by_the_papers_rule(10007)
    assert nx > 2 and nx * ny > 10007


def test_bytes_of_43_variables(bench: ModuleType) -> None:
    """180 bytes a node and 184 a cell, mesh included (docs/reference/macsio-model.md#part-shapes), beside 8 a part and the metadata."""
    base = bench.file_bytes(1, 2, 2)
    assert bench.file_bytes(1, 3, 2) - base == 2 * 180 + 1 * 184
    assert bench.variable_bytes(0, 1) == 18 * 8 + 5 * 4
    assert bench.variable_bytes(1, 0) == 20 * 8


def test_the_loop_is_the_branches(bench: ModuleType) -> None:
    run = bench.run_by_the_papers_rule(4, 80_000, 8_000, [10.0, 20.0, 7.9], [2.0, 1.0], states=4)
    assert len(run.checkpoints) == 3 and len(run.states) == 4
    # 4 steps an interval, whole seconds: 2 s, 2 s (the first again), then 5 s.
    assert [start for _, start in run.checkpoints] == [8.0, 16.0, 36.0]
    sizes = [size for size, _ in run.states]
    assert sizes[0] == sizes[1] < sizes[2]  # growth comes one state late
