"""The site file: the numbers by which rules decide, in TOML. Sections are rules; `job` and `storage` are for all."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, ValidationError, create_model, model_validator

from workalike.diagnose.parameters import Parameters
from workalike.diagnose.registry import all_rules
from workalike.diagnose.storage import Storage
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text

MOST_BYTES = 2**20
LONG_NUMBER = re.compile(r"[0-9][0-9_]{1000,}")
"""Python refuses to read whole numbers of more than 4,300 digits."""


class JobLimits(Parameters):
    """Which findings have weight."""

    minimum_run_time_s: float = Field(
        0.1, ge=0, description="Seconds; a shorter run is too short to weigh anything."
    )
    high: float = Field(
        0.05,
        gt=0,
        le=1,
        description="HIGH: share of ranks x run time, or of the run time on the slowest rank.",
    )
    medium: float = Field(0.01, gt=0, le=1, description="MEDIUM: the same; what is below is a NOTE.")
    ranks_per_node: int = Field(
        0,
        ge=0,
        strict=True,
        description="Ranks on a node, where no trace has the hosts of all ranks; 0: not known.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.medium > self.high:
            raise ValueError(f"medium ({self.medium:g}) is above high ({self.high:g})")
        return self


@cache
def site_model() -> type[BaseModel]:
    """The model of a site file: `job`, `storage`, and one section per rule that has parameters."""
    sections: dict[str, Any] = {"job": (JobLimits, JobLimits()), "storage": (Storage, Storage())}
    for rule in all_rules().values():
        if rule.parameters.model_fields:
            section = rule.parameters
            sections[rule.id.replace("-", "_")] = (
                section,
                Field(default_factory=section, alias=rule.id),
            )
    return create_model("Site", __base__=Parameters, **sections)


class Site:
    """A checked site file."""

    def __init__(self, values: dict[str, Any] | None = None) -> None:
        self.document = site_model().model_validate(values or {})
        self.job: JobLimits = self.document.job  # type: ignore[attr-defined]
        self.storage: Storage = self.document.storage  # type: ignore[attr-defined]

    def parameters(self, rule: str) -> Parameters:
        """The parameters of a rule."""
        found = getattr(self.document, rule.replace("-", "_"), None)
        return found if found is not None else Parameters()


def read_site(path: Path | None) -> Site:
    """The site file, or the defaults where there is none.

    Raises:
        WorkalikeError: MISSING, USAGE with the place and what is wrong.
    """
    if path is None:
        return Site()
    text = read_text(path, ErrorKind.USAGE, MOST_BYTES)
    if found := LONG_NUMBER.search(text):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"has a number of {len(found[0]):,} digits",
            file=path,
            place=f"line {text.count(chr(10), 0, found.start()) + 1}",
            hint="see `workalike diagnose --show-site`",
        )
    try:
        return Site(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WorkalikeError(
            ErrorKind.USAGE, f"is not TOML: {error}", file=path, hint="see `workalike diagnose --show-site`"
        ) from error
    except RecursionError as error:
        raise WorkalikeError(
            ErrorKind.USAGE, "is nested too deeply", file=path, hint="see `workalike diagnose --show-site`"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise WorkalikeError(
            ErrorKind.USAGE,
            _refusal(first["type"], first["loc"], first["msg"]),
            file=path,
            place=".".join(str(part) for part in first["loc"]),
            hint="`workalike diagnose --show-site` prints all sections and parameters",
        ) from error


def _refusal(kind: str, place: tuple[int | str, ...], message: str) -> str:
    """What is wrong with a value; a name that a rule had, and that is one of all rules now, tells its new place."""
    if kind != "extra_forbidden":
        return message.lower()
    if len(place) == 2 and place[0] in all_rules() and place[1] in JobLimits.model_fields:
        return f"is not a parameter of a rule: set {place[1]} in [job]"
    return "is not a parameter"


def default_text() -> str:
    """The documented site file with every default."""
    lines = [
        "# The numbers by which `workalike diagnose` decides. Copy what you change, and pass it with --site FILE.",
        "# Sections are rules: `workalike diagnose --explain RULE` prints the page of one.",
    ]
    document = site_model()()
    for name, field in site_model().model_fields.items():
        section: BaseModel = getattr(document, name)
        lines += ["", f"[{field.alias or name}]"]
        for key, about in type(section).model_fields.items():
            lines += [f"# {about.description}", f"{key} = {_toml(getattr(section, key))}"]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return "".join(["[", *(f"\n  {_toml(item)}," for item in value), "\n]"])
    if isinstance(value, bool):
        return "true" if value else "false"
    return (
        repr(value) if isinstance(value, float) else f"{value:_}" if isinstance(value, int) else f'"{value}"'
    )
