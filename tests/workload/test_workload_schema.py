"""The committed schemas are those of the code, and the code's output satisfies them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from known_logs import JOBS, characterized_or_skip, job_name
from workload_strategies import workloads

from workalike.exchange.schemas import main, plan_schema, schema_text, schemas, workload_schema
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload
from workalike.workload.workload_file import workload_text

FOLDER = Path(__file__).parents[2] / "schema"
SOME = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def workload_check() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(workload_schema())


@pytest.mark.parametrize("name", ["workload.schema.json", "plan.schema.json", "record.schema.json"])
def test_no_drift(name: str) -> None:
    checked_in = json.loads((FOLDER / name).read_text())
    assert checked_in == schemas()[name], "run `make schema` and look at what has changed"


def test_it_writes_all_of_them(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(schemas())
    for name, schema in schemas().items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert (tmp_path / name).read_text() == schema_text(schema)
    assert main([]) == 2


@SOME
@given(workloads())
def test_what_is_written_keeps_to_it(workload: Workload) -> None:
    check = jsonschema.Draft202012Validator(workload_schema())
    check.validate(yaml.safe_load(workload_text(workload)))


@SOME
@given(workloads())
def test_plans_keep_to_theirs(workload: Workload) -> None:
    plan = resolve(workload, Options())
    jsonschema.Draft202012Validator(plan_schema()).validate(json.loads(plan_text(plan)))


@pytest.mark.parametrize("logs", JOBS, ids=job_name)
def test_real_ones(logs: tuple[Path, ...], workload_check: jsonschema.Draft202012Validator) -> None:
    text = workload_text(characterized_or_skip(logs).workload)
    workload_check.validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "bad",
    [
        {"workalike": 2, "ranks": 4},
        {"workalike": 2, "ranks": 0, "families": []},
        {"workalike": 2, "ranks": 4, "families": [], "owner": "jane"},
        {"workalike": 2, "ranks": 4, "families": [], "runtime": "a while"},
    ],
)
def test_it_refuses(bad: dict[str, Any], workload_check: jsonschema.Draft202012Validator) -> None:
    with pytest.raises(jsonschema.ValidationError):
        workload_check.validate(bad)


def test_no_text_is_free() -> None:
    """Every text in a workload is a word of a closed list or has the form of a quantity."""
    free = [part for part in _parts(workload_schema()) if part.get("type") == "string"]
    assert free
    for part in free:
        assert "enum" in part or "const" in part or "pattern" in part, part


def test_every_field_is_marked() -> None:
    schema = workload_schema()
    marks = {}
    for name, part in {"Workload": schema, **schema["$defs"]}.items():
        for field, of_field in part.get("properties", {}).items():
            marks[f"{name}.{field}"] = of_field["x-workalike"]
    tunable = {name for name, mark in marks.items() if mark == "tunable"}
    assert set(marks.values()) == {"fixed", "tunable"}
    assert tunable == {"Family.tunable"} | {name for name in marks if name.startswith("Tunable.")}
    assert {"Tunable.cb_nodes", "Tunable.layout", "Tunable.alignment"} <= tunable


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
