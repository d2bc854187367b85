"""Ranks that stand for processes: each makes its calls while its process lived, and idles before and after."""

from __future__ import annotations

import json
import resource
from typing import Any

import numpy as np
import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, make_plan, sharing, stream

MOST = 10_000


def group(rank: int, start: float = 0.0, end: float | None = None) -> dict[str, Any]:
    return {"ranks": [[rank, rank, 1]], "start_s": start} | ({} if end is None else {"end_s": end})


def plan_of(
    *groups: dict[str, Any], item: dict[str, Any] | None = None, ranks: int = 3, **times: Any
) -> dict[str, Any]:
    """One dump from 0 s to 10 s, five writes of each rank."""
    item = item or family("posix", sharing=sharing("per-rank"))
    item_times = {"start_s": 0.0, "end_s": 10.0} | times
    contents = [content(stream([[5 * ranks, 1024]]))]
    return make_plan(ranks, [item], contents, [dump(**item_times)], processes=list(groups))


def writes(plan: dict[str, Any], rank: int) -> list[float]:
    """When a rank writes."""
    timeline = _core.Plan(json.dumps(plan)).timeline(rank, MOST)
    return np.asarray(timeline["start_s"])[timeline["kind"] == _core.kinds.index("write")].tolist()


def test_a_rank_makes_its_calls_while_it_lives() -> None:
    plan = plan_of(group(0, 1.0, 3.0), group(1, 5.0), writes=[0.5, 9.5, 0.0])
    assert writes(plan, 0) == pytest.approx([1.1, 1.55, 2.0, 2.45, 2.9])
    assert writes(plan, 1) == pytest.approx([5.25, 6.375, 7.5, 8.625, 9.75])
    assert writes(plan, 2) == pytest.approx([0.5, 2.75, 5.0, 7.25, 9.5])


def test_without_windows_the_life_is_filled() -> None:
    plan = plan_of(group(0, 4.0, 8.0), compute_s=10.0)
    assert writes(plan, 0) == pytest.approx([4.0, 5.0, 6.0, 7.0, 8.0])


def test_the_same_calls_with_and_without_lives() -> None:
    with_lives, without = plan_of(group(0, 1.0, 3.0), group(1, 5.0)), plan_of()
    for rank in range(3):
        first, other = (_core.Plan(json.dumps(p)).operations(rank, MOST) for p in (with_lives, without))
        for name in ("kind", "offset", "length"):
            assert first[name].tolist() == other[name].tolist()


def test_calls_that_ranks_make_together_stay_together() -> None:
    """A collective file, ranks that take turns, and reads of what others have written: all ranks have one moment."""
    moments = [0.0, 2.5, 5.0, 7.5, 10.0]
    for item, lives in ((family("mpiio"), True), (family("posix"), False)):
        plan = plan_of(group(0, 4.0, 8.0), item=item, compute_s=10.0)
        plan["contents"][0]["streams"][0]["collective"] = item["backend"] == "mpiio"
        if not lives:
            plan["contents"][0]["streams"].append(stream([[15, 1024]], direction="read"))
            assert writes(plan, 0) == writes(plan, 1)
        else:
            assert writes(plan, 0) == pytest.approx(moments)


def test_dumps_outside_a_life_are_made_at_their_time() -> None:
    plan = plan_of(group(0, 20.0, 30.0), compute_s=10.0)
    assert writes(plan, 0) == pytest.approx([0.0, 2.5, 5.0, 7.5, 10.0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([group(0, -1.0)], "start_s"),
        ([group(0, 0.0, -1.0)], "end_s"),
        ([group(0, 5.0, 4.0)], "before start_s"),
        ([group(0, 0.0, 1e30)], "end_s"),
        ([group(0, float("nan"))], ""),
        ([group(3)], "ranks"),
        ([group(0), group(0, 1.0)], "in another group"),
        ([{"ranks": [[0, 2, 2]]}, {"ranks": [[1, 2, 1]]}], "rank 2 is in another group"),
        ([{"ranks": "all"}, group(2)], "in another group"),
        ([{"ranks": []}], "at least one rank"),
        ([{"start_s": 1.0}], "ranks"),
        ([group(0) | {"name": "x"}], "name"),
        ([7], ""),
        ({}, ""),
        ([group(0)] * 70_000, "more than 65536 groups"),
    ],
)
def test_impossible_processes_are_refused(groups: Any, message: str) -> None:
    plan = plan_of() | {"processes": groups}
    with pytest.raises(_core.PlanError) as refused:
        _core.Plan(json.dumps(plan))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def cpu_s(engine: Engine, plan: dict[str, Any]) -> float:
    """Seconds of CPU time of a run's process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = engine(plan, "--verify")
    assert result.end["verified"].items() >= {"bytes": 5 * 1024, "errors": 0}.items()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("life", [group(0, 1.5), group(0, 0.0, 0.1)], ids=["before", "after"])
def test_a_rank_sleeps_where_it_does_not_live(engine: Engine, life: dict[str, Any]) -> None:
    """Else it computes for 1.5 s without a pause, as the plan says; on a busy machine it gets a part of that."""
    times = {"start_s": 1.6, "end_s": 1.7} if life["start_s"] else {"writes": [0.0, 1.6, 0.0], "end_s": 1.6}
    plan = plan_of(ranks=1, **times) | {"time_scale": 1.0, "gap_fill": "busy", "cpu_share": 1.0}
    if not life["start_s"]:  # calls of a collective file stay where they are, also after the end
        plan["families"], plan["contents"] = [family("mpiio")], [content(stream([[5, 1024]]))]
    assert cpu_s(engine, plan | {"processes": [life]}) < cpu_s(engine, plan) / 2


def test_a_run_with_lives_ends(engine: Engine) -> None:
    """Ranks wait for each other at a barrier, and at the end, also outside their lives."""
    groups = [group(0, 0.2), group(1, 0.0, 0.1), group(2, 0.05, 0.15)]
    for item in (family("mpiio"), family("posix", sharing=sharing("per-rank"))):
        plan = plan_of(*groups, item=item, end_s=0.3, barrier=True) | {"time_scale": 1.0, "gap_fill": "mpi"}
        assert engine(plan, "--verify").end["verified"].items() >= {"bytes": 15 * 1024, "errors": 0}.items()


def test_a_refusal_has_its_place_its_reason_and_its_fix_as_fields() -> None:
    with pytest.raises(_core.PlanError) as refused:
        _core.Plan(json.dumps(plan_of(group(0, 5.0, 4.0))))
    error = refused.value
    assert error.place == "processes[0].end_s"
    assert error.reason == "is before start_s"
    assert error.hint == "state an end after the start"
    assert str(error) == "processes[0].end_s: is before start_s; state an end after the start"
