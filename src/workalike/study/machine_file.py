"""Machine files of a study's results, read again: what one process gets on each file system under test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.study.ceiling import FORMAT

PATTERN = "MACHINE*.json"
MAX_BYTES = 2**20
NAME = re.compile(r"MACHINE[-0-9]*\.json")
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Read(BaseModel):
    """Fields that are not needed are passed over: the file has more than the page shows."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Ceiling(_Read):
    """One measured kind: its unit (`B/s`, `operations/s`, `files/s`, `s`), repeats, and their median."""

    unit: Annotated[str, Field(max_length=40)]
    median: Positive
    values: Annotated[list[Positive], Field(min_length=1, max_length=1000)]


class Machine(_Read):
    """A machine file.

    `system_id` is that of the trials on this file system; empty in files of earlier versions. Up to `beside_tasks`
    other tasks of a job array ran trials while it was measured.
    """

    format: Annotated[str, Field(pattern=f"^{FORMAT}$")]
    system_id: Annotated[str, Field(max_length=64)] = ""
    beside_tasks: Annotated[int, Field(ge=0)] = 0
    ceilings: Annotated[dict[str, Ceiling], Field(max_length=100)]


def read_machines(folder: Path) -> list[Machine]:
    """The machine files of a study's results; none if it was run without measuring them.

    Raises:
        WorkalikeError: BAD_STUDY for a file that is none.
    """
    return [read_machine(path) for path in sorted(folder.glob(PATTERN))]


def machine_names(source: Mapping[str, Any]) -> list[str]:
    """The machine files of one of joined studies, as its manifest names them; none where earlier versions joined it."""
    names = source.get("machines")
    known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [name for name in known if NAME.fullmatch(name)]


def read_machine(path: Path) -> Machine:
    """One machine file.

    Raises:
        WorkalikeError: MISSING; BAD_STUDY for a file that is none.
    """
    text: Any = read_text(path, ErrorKind.BAD_STUDY, MAX_BYTES)
    try:
        return Machine.model_validate_json(text)
    except ValidationError as error:
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            "is not a machine file",
            file=path,
            hint="remove it, then give the same command again: it is measured anew",
        ) from error
