"""JSON schemas of the files that people and programs exchange: workload, plan, record.

    python -m workalike.exchange.schemas DIR

writes them to DIR (the repository keeps them in `schema/`, and a test compares them). They check the form; only the
model checks rules across fields, such as `27 sizes for 28 dumps`. In the workload's schema, `x-workalike` marks each
field as `fixed` (part of the pattern) or `tunable` (a tender lets a bidder change it).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from workalike.files import write_text
from workalike.plan.plan_schema import Plan
from workalike.record.run_record import record_schema
from workalike.workload import long_lists
from workalike.workload.model import SharingMode, Workload
from workalike.workload.per_dump import OF_CONTENT, OF_STREAM, OF_TABLE
from workalike.workload.per_dump_arrays import OF_ARRAY, OF_SLAB

DRAFT = "https://json-schema.org/draft/2020-12/schema"
MARK = "x-workalike"
TUNABLE_PART = "Tunable"
REPEATED = {"type": "string", "pattern": r"^[1-9][0-9]{0,6} x \S.*$"}
"""Several equal values of a list with one for each dump."""


def workload_schema() -> dict[str, Any]:
    """JSON schema of a workload file, with every field marked fixed or tunable."""
    schema = plain(Workload.model_json_schema(mode="validation"))
    for name, part in {"Workload": schema, **schema["$defs"]}.items():
        mark = "tunable" if name == TUNABLE_PART else "fixed"
        for name_of_field, field in part.get("properties", {}).items():
            field[MARK] = "tunable" if name_of_field == "tunable" else mark
    # Sharing may also be one word, as in `sharing: per-rank`.
    shared = schema["$defs"]["Family"]["properties"]["sharing"]
    word = {"enum": [mode.value for mode in SharingMode], "type": "string"}
    schema["$defs"]["Family"]["properties"]["sharing"] = {
        MARK: shared[MARK],
        "anyOf": [word, {"$ref": shared["$ref"]}],
    }
    of_each_dump = {
        "Content": OF_CONTENT, "Stream": OF_STREAM, "Rows": OF_TABLE, "Arrays": OF_ARRAY, "Slab": OF_SLAB
    }  # fmt: skip
    for part, fields in of_each_dump.items():
        properties = schema["$defs"][part]["properties"]
        for name in fields:
            properties[name] = _or_of_each_dump(properties[name])
    use = schema["$defs"]["Family"]["properties"]["use"]["anyOf"][0]
    use["items"] = {"anyOf": [use["items"], REPEATED]}
    _add_long_lists(schema)
    return {"$schema": DRAFT, "title": "workalike workload", **schema}


def _or_of_each_dump(field: dict[str, Any]) -> dict[str, Any]:
    """The field, or a list with its value in each dump."""
    about = {key: field[key] for key in ("default", MARK) if key in field}
    plain = {key: value for key, value in field.items() if key not in about}
    own = plain
    if plain.get("type") == "array":  # with no entries a dump does not have the stream
        own = {key: value for key, value in plain.items() if key != "minItems"}
    return {**about, "anyOf": [plain, {"type": "array", "minItems": 1, "items": {"anyOf": [own, REPEATED]}}]}


def _add_long_lists(schema: dict[str, Any]) -> None:
    """Lists may be in a file beside the workload, which its head names."""
    schema["$defs"]["Listed"] = {
        "description": "A list of this many values, in the file beside the workload.",
        "type": "object",
        "properties": {long_lists.MARK: {"type": "integer", "minimum": 1, MARK: "fixed"}},
        "required": [long_lists.MARK],
        "additionalProperties": False,
    }
    for part, names in long_lists.FIELDS.items():
        properties = schema["$defs"][part]["properties"]
        for name in names:
            about = {key: properties[name][key] for key in ("default", MARK) if key in properties[name]}
            own = {key: value for key, value in properties[name].items() if key not in about}
            forms = own["anyOf"] if own.keys() == {"anyOf"} else [own]
            properties[name] = {**about, "anyOf": [*forms, {"$ref": "#/$defs/Listed"}]}
    schema["properties"][long_lists.KEY] = {
        "description": "The file with the long lists: its SHA-256, and how many there are.",
        "type": "object",
        "properties": {
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$", MARK: "fixed"},
            "number": {"type": "integer", "minimum": 1, MARK: "fixed"},
        },
        "required": ["sha256", "number"],
        "additionalProperties": False,
        MARK: "fixed",
    }


def plan_schema() -> dict[str, Any]:
    """JSON schema of a plan."""
    return {"$schema": DRAFT, "title": "workalike plan", **plain(Plan.model_json_schema(mode="validation"))}


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> schema."""
    return {
        "workload.schema.json": workload_schema(),
        "plan.schema.json": plan_schema(),
        "record.schema.json": record_schema(),
    }


def schema_text(schema: dict[str, Any]) -> str:
    """A schema as indented JSON in the order of the model, the same on every machine."""
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that pydantic generates for each field."""
    return {key: value for key, value in _untitled(schema).items() if key != "title"}


def _untitled(value: Any, names: bool = False) -> Any:
    """A part of a schema without titles; with `names`, its keys are names of fields, which may include `title`."""
    if isinstance(value, list):
        return [_untitled(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _untitled(item, names=key in ("properties", "$defs") and not names)
        for key, item in value.items()
        if names or key != "title"
    }


def main(arguments: list[str]) -> int:
    """Write the schemas into a folder."""
    if len(arguments) != 1:
        print("usage: python -m workalike.exchange.schemas DIR", file=sys.stderr)
        return 2
    for name, schema in schemas().items():
        write_text(Path(arguments[0]) / name, schema_text(schema))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
