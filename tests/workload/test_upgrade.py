"""Files of version 1 keep their meaning; their words in files of version 2 are errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from workload_strategies import workloads

from workalike import _core
from workalike.errors import WorkalikeError
from workalike.plan.plan_file import plan_text, read_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload
from workalike.workload.workload_file import parse_workload, workload_text

OLD_NAMES = {"compute_time": "think", "barrier": "together", "fill_values": "filled"}
VERSION_1 = """\
workalike: 1
ranks: 4
families:
- role: checkpoint
  interface: hdf5
  sharing: shared
  schedule: {count: 2, first: 1 s, every: 1 min, think: [1 s, 2 s], together: true}
  use: [0, 1]
  contents:
  - arrays: [{dims: [64], chunk: [16], filled: true, access: [{direction: write, slabs: [{count: 4, shape: [16]}]}]}]
  - arrays: [{dims: [64], chunk: [16], access: [{direction: write, slabs: [{count: 4, shape: [16]}]}]}]
"""


def of_version_1(text: str) -> str:
    """A file of version 2 in the words of version 1."""
    for new, old in OLD_NAMES.items():
        text = re.sub(rf"\b{new}:", f"{old}:", text)
    return text.replace("workalike: 2", "workalike: 1", 1)


def test_fields_of_version_1() -> None:
    family = parse_workload(VERSION_1).families[0]
    assert family.schedule.compute_times() == [1.0, 2.0]
    assert family.schedule.barrier
    assert [family.content_of(i).arrays[0].fill_values for i in (0, 1)] == [True, False]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads())
def test_any_workload_of_version_1(workload: Workload) -> None:
    assert parse_workload(of_version_1(workload_text(workload))) == workload


def test_the_line_of_an_error_in_a_file_of_version_1() -> None:
    with pytest.raises(WorkalikeError, match=r"line 7, families\[0\].schedule.compute_time"):
        parse_workload(VERSION_1.replace("2 s]", "a while]"))


@pytest.mark.parametrize("version", [0, 3, "one", -1, [1]])
def test_unknown_versions(version: object) -> None:
    with pytest.raises(WorkalikeError, match="line 1, workalike"):
        parse_workload(VERSION_1.replace("workalike: 1", f"workalike: {version}"))


def test_names_of_version_1_are_errors_in_version_2() -> None:
    with pytest.raises(WorkalikeError, match=r"schedule.think: there is no such field"):
        parse_workload(VERSION_1.replace("workalike: 1", "workalike: 2"))


def test_plans_of_version_1(tmp_path: Path) -> None:
    plan = resolve(parse_workload(VERSION_1), Options())
    document = json.loads(plan_text(plan))
    assert document["dumps"][1]["compute_s"] == 2.0 and document["dumps"][1]["barrier"]
    old = document | {"version": 1}
    for dump in old["dumps"]:
        dump["think_s"], dump["together"] = dump.pop("compute_s"), dump.pop("barrier")
    for content in old["contents"]:
        for arrays in content["arrays"]:
            arrays["filled"] = arrays.pop("fill_values")
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(old))
    assert read_plan(path) == plan
    assert _core.Plan(json.dumps(old)).id == _core.Plan(plan_text(plan)).id


@pytest.mark.parametrize("version", [0, 3, "1", None])
def test_plans_of_unknown_versions(tmp_path: Path, version: object) -> None:
    document = json.loads(plan_text(resolve(parse_workload(VERSION_1), Options()))) | {"version": version}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document))
    with pytest.raises(WorkalikeError, match="version"):
        read_plan(path)
    with pytest.raises(_core.PlanError, match="version"):
        _core.Plan(json.dumps(document))
