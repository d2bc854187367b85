"""The contract between Python and the engine: it accepts every plan that is resolved here, and counts its bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from engine_counts import engine_or_skip, lines_counted
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from plan_sums import bytes_of
from workload_strategies import workloads

from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Direction
from workalike.workload.workload_file import read_workload

MOST_OPERATIONS = 200_000  # of a plan that is worth counting in a test
WORKLOADS = sorted((Path(__file__).parents[2] / "workloads").glob("*.yaml"))


@pytest.fixture(scope="module")
def engine() -> Path:
    return engine_or_skip()


def dumps_counted(engine: Path, plan: Plan, folder: Path) -> Iterator[dict[str, Any]]:
    for line in lines_counted(engine, plan, folder).read_text().splitlines():
        part = json.loads(line)
        if part["type"] == "dump":
            yield part


def check(engine: Path, plan: Plan, folder: Path) -> None:
    planned = {(d.family, d.index): plan.contents[d.content] for d in plan.dumps}
    counted = list(dumps_counted(engine, plan, folder))
    assert len(counted) == len(planned)
    for dump in counted:
        content = planned[dump["family"], dump["index"]]
        assert dump["bytes_written"] == bytes_of(content, Direction.WRITE)
        assert dump["bytes_read"] == bytes_of(content, Direction.READ)


@pytest.mark.mpi
@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
@given(
    workload=workloads(kinds=("streams", "arrays", "fit")),  # of meshes: tests/engine/test_mesh.py
    ranks=st.integers(1, 24),
    factor=st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(1, 10_000)]),
    scaling=st.sampled_from(["strong", "weak"]),
    by=st.sampled_from(["count", "size"]),
)
def test_any_plan(
    engine: Path,
    tmp_path_factory: pytest.TempPathFactory,
    workload: Any,
    ranks: int,
    factor: Fraction,
    scaling: Any,
    by: Any,
) -> None:
    plan = resolve(workload, Options(ranks=ranks, bytes_scale=factor, scaling=scaling, scale_by=by))
    operations = sum(count for c in plan.contents for s in c.streams for count, _ in s.entries)
    operations += sum(n for c in plan.contents for a in c.arrays for x in a.access for n, _, _ in x.entries)
    if operations <= MOST_OPERATIONS:
        check(engine, plan, tmp_path_factory.mktemp("plan"))


@pytest.mark.mpi
@pytest.mark.parametrize("path", WORKLOADS, ids=lambda p: p.stem)
def test_shipped_workloads(engine: Path, path: Path, tmp_path: Path) -> None:
    check(engine, resolve(read_workload(path), Options()), tmp_path)
