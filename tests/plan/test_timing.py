"""Times of dumps in a plan: windows are clipped to their dumps, and what is not known is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from workload_strategies import workloads

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.plan_file import plan_text, read_plan
from workalike.plan.plan_schema import PlanDump
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload
from workalike.workload.workload_file import parse_workload

JOB = """\
workalike: 2
ranks: 2
families:
- role: output
  interface: posix
  schedule: {{start: [2 s, 12 s], duration: [5 s, 4 s]{fields}}}
  contents:
  - streams: [{{direction: write, sizes: [4 x 1 MiB]}}, {{direction: read, sizes: [2 x 1 MiB]}}]
  - streams: [{{direction: write, sizes: [4 x 1 MiB]}}]
"""


def dumps_of(fields: str) -> list[PlanDump]:
    return resolve(parse_workload(JOB.format(fields=f", {fields}" if fields else "")), Options()).dumps


@pytest.mark.parametrize(
    ("fields", "writes"),
    [
        ("writes: {first: 1 s, last: 3 s, busy: 0.5 s}", [(1, 3, 0.5), (1, 3, 0.5)]),
        (
            "writes: {first: [1 s, 2 s], last: [3 s, 4 s], busy: [0.5 s, 0.25 s]}",
            [(1, 3, 0.5), (2, 4, 0.25)],
        ),
        ("writes: {first: 1 s}", [(1, 5, 4), (1, 4, 3)]),  # to the end, all of it inside calls
        ("writes: {busy: 1 s}", [(0, 5, 1), (0, 4, 1)]),
        ("writes: {last: 4.5 s, busy: 4.25 s}", [(0, 4.5, 4.25), (0, 4, 4)]),  # a dump ends its window
        ("writes: {first: 4.5 s}", [(4.5, 5, 0.5), (4, 4, 0)]),
        ("", [None, None]),
        ("reads: {first: 1 s}", [None, None]),
    ],
)
def test_windows(fields: str, writes: list[tuple[float, float, float] | None]) -> None:
    assert [dump.writes for dump in dumps_of(fields)] == writes


def test_a_dump_without_such_operations_has_no_window() -> None:
    assert [dump.reads for dump in dumps_of("reads: {first: 1 s}")] == [(1, 5, 4), None]


def test_metadata() -> None:
    assert [dump.metadata_s for dump in dumps_of("metadata: 2 ms")] == [0.002, 0.002]
    assert [dump.metadata_s for dump in dumps_of("metadata: [2 ms, 0 s]")] == [0.002, 0]
    assert [dump.metadata_s for dump in dumps_of("")] == [None, None]


def test_what_is_not_known_is_not_in_the_text() -> None:
    (first, second) = json.loads(plan_text(resolve(parse_workload(JOB.format(fields="")), Options())))[
        "dumps"
    ]
    assert not {"writes", "reads", "metadata_s"} & (first.keys() | second.keys())


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads())
def test_windows_lie_in_their_dumps(workload: Workload) -> None:
    for dump in resolve(workload, Options()).dumps:
        for window in (dump.writes, dump.reads):
            if window is not None:
                first, last, busy = window
                assert 0 <= first <= last <= dump.end_s - dump.start_s
                assert 0 <= busy <= last - first


@pytest.mark.parametrize("window", [[3, 2, 0], [1, 6, 1], [1, 3, 2.5], [-1, 2, 1], [1, 2]])
def test_a_plan_with_an_impossible_window_is_refused(window: list[float], tmp_path: Any) -> None:
    plan = json.loads(
        plan_text(resolve(parse_workload(JOB.format(fields=", writes: {busy: 1 s}")), Options()))
    )
    plan["dumps"][0]["writes"] = window
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(WorkalikeError) as caught:
        read_plan(tmp_path / "plan.json")
    assert caught.value.kind is ErrorKind.BAD_PLAN
    assert (caught.value.place or "").startswith("dumps[0]")


def test_a_plan_with_windows_is_read_back(tmp_path: Any) -> None:
    plan = resolve(parse_workload(JOB.format(fields=", writes: {busy: 1 s}, metadata: 1 ms")), Options())
    (tmp_path / "plan.json").write_text(plan_text(plan))
    assert read_plan(tmp_path / "plan.json") == plan
