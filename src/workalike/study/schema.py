"""JSON schema of STUDY.yaml, for editors.

    python -m workalike.study.schema DIR

writes it to DIR (the repository keeps it in `schema/`, and a test compares them).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from workalike.exchange.schemas import DRAFT, plain, schema_text
from workalike.files import write_text
from workalike.study.document import Study
from workalike.study.field_names import WORDS, field_schema, fields_schema

FILE = "study.schema.json"


def study_schema() -> dict[str, Any]:
    """JSON schema of a study file."""
    schema = plain(Study.model_json_schema(mode="validation"))
    # Blocks may be their number alone.
    blocks = schema["properties"]["blocks"]
    schema["properties"]["blocks"] = {"anyOf": [schema["$defs"]["Blocks"]["properties"]["count"], blocks]}
    factor = schema["$defs"]["Factor"]
    # A factor may also be its levels alone, as in `ranks: [1, 2]`.
    levels = next(kind for kind in factor["properties"]["levels"]["anyOf"] if kind.get("type") == "array")
    factors = schema["properties"]["factors"]
    factors["patternProperties"] = {
        name: {"anyOf": [levels, kind]} for name, kind in factors["patternProperties"].items()
    }
    factors["additionalProperties"] = False
    # What editors offer: names of fields as names of factors, in `set`, and in `fixed`.
    (kinds,) = factors["patternProperties"].values()
    factors["properties"] = {name: {"description": text, **kinds} for name, text in WORDS.items()}
    schema["$defs"]["Field"] = field_schema()
    factor["properties"]["set"] = {"anyOf": [{"$ref": "#/$defs/Field"}, {"type": "null"}], "default": None}
    schema["properties"]["fixed"] |= fields_schema()
    return {"$schema": DRAFT, "title": "workalike study", **schema}


def main(arguments: list[str]) -> int:
    """Write the schema into a folder."""
    if len(arguments) != 1:
        print("usage: python -m workalike.study.schema DIR", file=sys.stderr)
        return 2
    write_text(Path(arguments[0]) / FILE, schema_text(study_schema()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
