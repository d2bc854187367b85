"""The processes of a plan, at the workload's ranks and at others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workalike import _core
from workalike.plan.plan_file import plan_text
from workalike.plan.processes import idle_lines, idle_words, life_of, scale_processes
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Processes, Workload
from workalike.workload.workload_file import parse_workload

TEXT = """workalike: 2
ranks: 4
runtime: 10 s
processes:
- {ranks: 1, start: 2 s, end: 6 s}
- {ranks: 2-3, start: 5 s}
families:
- role: output
  interface: posix
  sharing: per-rank
  schedule: {count: 1, first: 1 s, duration: 9 s}
  content: {streams: [{direction: write, sizes: [3/rank x 1 KiB]}]}
"""


def workload() -> Workload:
    return parse_workload(TEXT)


def lives(ranks: int) -> list[tuple[float, float | None]]:
    plan = resolve(workload(), Options(ranks=ranks))
    return [life_of(plan, rank) for rank in range(ranks)]


def test_a_plan_has_the_lives() -> None:
    assert lives(4) == [(0.0, None), (2.0, 6.0), (5.0, None), (5.0, None)]


def test_at_other_ranks() -> None:
    """A rank that stands for two lives while one of them does."""
    assert lives(2) == [(0.0, None), (5.0, None)]
    assert lives(1) == [(0.0, None)]
    assert lives(8) == [pair for pair in lives(4) for _ in range(2)]


def test_a_plan_without_processes_says_nothing() -> None:
    plain = workload().model_copy(update={"processes": []})
    assert "processes" not in json.loads(plan_text(resolve(plain, Options())))
    assert idle_words(None, 4) is None


@given(st.data())
def test_scaled_lives_are_valid(data: st.DataObject) -> None:
    """Each rank is in one group at most, whatever the groups; the core takes them."""
    old, new = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 12))
    time = st.integers(0, 9).map(float)
    groups = []
    for rank in data.draw(st.sets(st.integers(0, old - 1))):
        start, length = data.draw(time), data.draw(st.none() | time)
        end = None if length is None else start + length
        groups.append(Processes(ranks=[(rank, rank, 1)], start=start, end=end))
    found = scale_processes(groups, old, new)
    plan = resolve(workload().model_copy(update={"ranks": old, "processes": groups}), Options(ranks=new))
    assert plan.processes == found
    _core.Plan(plan_text(plan))
    if new <= old:
        whole = dict.fromkeys(range(old), (0.0, None))
        whole |= {group.ranks[0][0]: (group.start, group.end) for group in groups if group.ranks}
        for rank in range(new):
            lives = [whole[r] for r in range(old) if r * new // old == rank]
            ends = [end for _, end in lives]
            expected = (
                min(s for s, _ in lives),
                None if None in ends else max(e for e in ends if e is not None),
            )
            assert life_of(plan, rank) == expected


def test_one_line_says_how_many_idle() -> None:
    plan = resolve(workload(), Options())
    words = idle_words(plan.processes, plan.ranks)
    assert words is not None
    assert words.startswith("3 of 4 ranks idle for a part of the run")
    assert words.endswith("3 ranks before their start, 1 rank after their end")
    assert idle_lines(plan) == ["  ranks 1 idle until 2 s and from 6 s on", "  ranks 2-3 idle until 5 s"]


@pytest.mark.parametrize("where", ["start_s", "end_s"])
def test_impossible_lives_of_a_plan_are_refused(where: str) -> None:
    document = json.loads(plan_text(resolve(workload(), Options())))
    document["processes"][0][where] = -1.0
    with pytest.raises(_core.PlanError, match=where):
        _core.Plan(json.dumps(document))
