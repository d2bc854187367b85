"""RULES.json: what a bundle fixes, and what those who run it may tune."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.quantities import Strict
from workalike.workload.workload_file import first_error

FORMAT: Literal["workalike-bundle"] = "workalike-bundle"
VERSION: Literal[1] = 1
TUNABLE: tuple[str, ...] = ("hints", "hdf5")
"""Fields of a plan's families that a bidder may change: MPI-IO hints, and settings of HDF5."""
MOST_REPEATS = 1000
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$"

Name = Annotated[str, StringConstraints(pattern=NAME)]
Sum = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class PlanRule(Strict):
    """One workload: its plan lies in `plans/NAME/plan.json`. `bytes` are written and read by one run."""

    name: Name
    sha256: Sum
    ranks: Annotated[int, Field(ge=1)]
    bytes: Annotated[int, Field(ge=0)]


class Rules(Strict):
    """The rules of a bundle."""

    format: Literal["workalike-bundle"] = FORMAT
    version: Literal[1] = VERSION
    workalike: Annotated[str, StringConstraints(max_length=40)]
    repeats: Annotated[int, Field(ge=1, le=MOST_REPEATS)]
    tunable: list[Literal["hints", "hdf5"]]
    plans: Annotated[list[PlanRule], Field(min_length=1, max_length=1000)]


def rules_of(text: str, file: str) -> Rules:
    """Read RULES.json.

    Raises:
        WorkalikeError: BAD_STUDY naming the place.
    """
    try:
        return Rules.model_validate_json(text)
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, message, file=file, place=f"RULES.json, {place}", hint="is it a bundle?"
        ) from error


def name_of(stem: str) -> str:
    """The name of a workload in a bundle, which shells and archives take as it is."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:60]
    return name or "workload"
