"""MIX.yaml: which workloads run side by side, from when on, how many copies of each, and on how many ranks.

    python -m workalike.study.mix.document DIR

writes the JSON schema to DIR; the repository keeps it in `schema/`, and a test compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text, write_text
from workalike.workload.quantities import MAX_RANKS, Seconds, Strict
from workalike.workload.workload_file import describe_location, first_finding, line_of, load_yaml

MIX_VERSION = 1
MOST_COPIES = 1000
MOST_REPEATS = 1000
DEFAULT_REPEATS = 3
MOST_BYTES = 2**20
SCHEMA_FILE = "mix.schema.json"
_HINT = "see docs/mix.md"


def _file_name(path: str) -> str:
    if "\0" in path:
        raise ValueError("a file name has no NUL")
    return path


class Part(Strict):
    """One workload of a mix.

    `file` is relative to the mix. `weight` is the number of copies, which all begin at `start`, seconds of the
    original run from the beginning of the mix. Without `ranks` a copy has those of the workload.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$")]
    file: Annotated[str, Field(min_length=1, max_length=4096), AfterValidator(_file_name)]
    start: Seconds = 0.0
    weight: Annotated[int, Field(ge=1, le=MOST_COPIES)] = 1
    ranks: Annotated[int, Field(ge=1, le=MAX_RANKS)] | None = None
    what_if: Annotated[list[str], Field(max_length=100)] = Field(default_factory=list)


class Mix(Strict):
    """A mix file, version 1. The factors hold for all of its workloads.

    `repeats` is the number of rounds. Each runs every workload alone, and all copies side by side.
    """

    mix: Annotated[int, Field(ge=MIX_VERSION, le=MIX_VERSION)] = MIX_VERSION
    bytes_scale: Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)] = 1.0
    time_scale: Annotated[float, Field(ge=0, le=10**6, allow_inf_nan=False)] = 1.0
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = DEFAULT_REPEATS
    workloads: Annotated[list[Part], Field(min_length=1, max_length=MOST_COPIES)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [part.name for part in self.workloads]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two workloads are called {twice}: name them differently, or set `weight`")
        if sum(part.weight for part in self.workloads) > MOST_COPIES:
            raise ValueError(f"more than {MOST_COPIES} copies in all")
        return self


def read_mix(path: Path) -> Mix:
    """Read and check a mix.

    Raises:
        WorkalikeError: MISSING, or BAD_WORKLOAD naming the line and the place.
    """
    node, document = load_yaml(read_text(path, ErrorKind.BAD_WORKLOAD, MOST_BYTES), path, _HINT)
    if not isinstance(document, dict) or "mix" not in document:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD, "not a mix: it does not begin with `mix: 1`", file=path, hint=_HINT
        )
    try:
        return Mix.model_validate(document)
    except ValidationError as error:
        location, message = first_finding(error)
        place = f"line {line_of(node, location)}, {describe_location(location)}".removesuffix(", ")
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, message, file=path, place=place, hint=_HINT) from error
    except RecursionError as error:
        raise WorkalikeError(ErrorKind.BAD_WORKLOAD, "nested too deeply", file=path, hint=_HINT) from error


def mix_schema() -> dict[str, Any]:
    """JSON schema of a mix."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Mix.model_json_schema(),
        "title": "workalike mix",
    }


def schema_text() -> str:
    return json.dumps(mix_schema(), indent=2) + "\n"


if __name__ == "__main__":
    write_text(Path(sys.argv[1]) / SCHEMA_FILE, schema_text())
