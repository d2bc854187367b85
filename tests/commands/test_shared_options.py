"""Options that commands share: nodes and ranks, and one object per group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from test_commands import SMALL, workalike

from workalike.commands import options as opt
from workalike.errors import ErrorKind, WorkalikeError


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("arguments", "ranks"),
    [
        ((), 4),
        (("--nodes", 3, "--ranks-per-node", 99), 297),
        (("--ranks", 10, "--nodes", 3, "--ranks-per-node", 4), 10),  # the last node has two
    ],
)
def test_a_plan_has_the_ranks_of_its_nodes(workload: Path, arguments: tuple[Any, ...], ranks: int) -> None:
    made = workalike("plan", workload, *arguments, "-o", "plan.json", cwd=workload.parent)
    assert made.returncode == 0, made.stderr
    assert json.loads((workload.parent / "plan.json").read_text())["ranks"] == ranks


@pytest.mark.parametrize(
    "arguments",
    [
        ("--nodes", 3),
        ("--ranks-per-node", 3),
        ("--ranks", 13, "--nodes", 3, "--ranks-per-node", 4),
        ("--ranks", 8, "--nodes", 3, "--ranks-per-node", 4),
    ],
)
def test_nodes_that_change_nothing_or_contradict_are_refused(
    workload: Path, arguments: tuple[Any, ...]
) -> None:
    made = workalike("plan", workload, *arguments, cwd=workload.parent)
    assert (made.returncode, made.stdout) == (2, "")
    assert "--ranks-per-node" in made.stderr
    assert made.stderr.count("\n") == 1


def test_a_plan_is_not_run_on_nodes_that_its_ranks_do_not_fill(workload: Path) -> None:
    here = workload.parent
    assert workalike("plan", workload, "-o", "plan.json", cwd=here).returncode == 0
    arguments = ("--dir", here / "data", "--nodes", 3, "--ranks-per-node", 99)
    made = workalike("run", "plan.json", *arguments, cwd=here)
    assert made.returncode == 2
    assert "4 ranks do not fill" in made.stderr


def test_factors_that_are_not_given_are_for_replicate_to_choose() -> None:
    assert opt.FittedScale().bytes_scale is None
    assert opt.FittedScale().options() == opt.Scale(time_scale=0.0).options()


def test_variables_without_a_mesh_are_refused() -> None:
    with pytest.raises(WorkalikeError) as caught:
        opt.Modelling(variables=3).options()
    assert caught.value.kind is ErrorKind.USAGE


def test_a_group_is_one_parameter_of_the_command_and_many_options() -> None:
    got: list[Any] = []

    def command(file: Annotated[str, typer.Argument()], modelling: opt.Modelling, loud: bool = False) -> None:
        got.extend([file, modelling, loud])

    opt.with_options(command)(file="a", states=3, model="mesh", variables=None, loud=True)
    assert got == ["a", opt.Modelling(states=3, model="mesh"), True]
