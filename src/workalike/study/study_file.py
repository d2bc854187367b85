"""Reads study files (YAML); input is untrusted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import read_text
from workalike.study.document import Study
from workalike.study.objective import DEFAULT
from workalike.workload.model import Workload
from workalike.workload.workload_file import (
    describe_location,
    first_finding,
    line_of,
    load_yaml,
    read_workload,
)

MAX_BYTES = 4 * 2**20
HINT = "see docs/study.md"
ONE = "workload"
"""The name of the only workload of a study that has no choice of them."""
YOUNGER = (
    '"sparse":false,',
    '"removed":false,',
    ',"skew":[]',
    ',"coverage":null',
    ',"calls":0,"seconds":0.0',
    ',"buffer_alignment":null',
    '"directory":null,',
    '"driver":null,',
    '"direct":false,',
    '"folders":null,',
    '"rehearsed":null,',
    '"maps":0,',
    '"renames":0,',
    '"reopen":false,',
    '"nonblocking":false,',  # of streams and tables, where other fields follow
    '"buffered":[],',
    ',"privacy":"names"',
)
"""Fields of workloads that `earlier_identity` does not have; a new field of the model belongs here, too."""


@dataclass(frozen=True)
class StudyFile:
    """A checked study with its workloads: `identity` changes with anything that changes what a trial is.

    Blocks may be added to a study that runs all of them, and what ends a trial may change; its title, too. So may what
    settings are compared by, unless results end the study or choose its settings.
    """

    path: Path
    study: Study
    workloads: dict[str, Workload]
    hashes: dict[str, str]
    only: frozenset[str] | None = None
    """The names of the settings that are left after a search; None: all of the design."""

    @property
    def identity(self) -> str:
        """Sixteen hexadecimal digits. Fields at their defaults do not count, so a new field changes nothing."""
        return self._digest(self.hashes, without_defaults=True)

    @property
    def earlier_identity(self) -> str:
        """What versions computed that hashed defaults, too; their results are resumed."""
        hashes = {name: _digest(_earlier_text(workload)) for name, workload in self.workloads.items()}
        return self._digest(hashes, without_defaults=False)

    @property
    def identities(self) -> tuple[str, str]:
        """Those that results of this study may have; new results get the first."""
        return self.identity, self.earlier_identity

    def _digest(self, hashes: Mapping[str, str], *, without_defaults: bool) -> str:
        free = {"title", "timeout", "assume", "directory", "launcher", "objective", "interval"}
        if self.study.stop is None:  # else the rule depends on the most blocks that it may run
            free |= {"blocks", "stop"}
        free |= {name for name in ("search",) if self.study.search is None}
        text = self.study.model_dump_json(exclude=free, exclude_defaults=without_defaults)
        text += str(sorted(hashes.items()))
        decides = self.study.objectives[0]
        if (self.study.stop or self.study.search) and decides is not DEFAULT[0]:
            text += decides
        if self.only is not None:
            text += str(sorted(self.only))
        return _digest(text)[:16]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _earlier_text(workload: Workload) -> str:
    """A workload with its defaults, but for fields that are younger than `earlier_identity`."""
    text = workload.model_dump_json()
    for default in YOUNGER:  # quotes within texts are escaped, so these are fields
        text = text.replace(default, "")
    return text


def bad(path: Path, message: str, place: str | None = None, hint: str = HINT) -> WorkalikeError:
    """An error of a study file."""
    return WorkalikeError(ErrorKind.BAD_STUDY, message, file=path, place=place, hint=hint)


def read_study(path: Path) -> StudyFile:
    """Read and check a study file and the workloads that it names, relative to its folder.

    Raises:
        WorkalikeError: MISSING, BAD_STUDY or BAD_WORKLOAD, naming the line and the place.
    """
    study = _parsed(read_text(path, ErrorKind.BAD_STUDY, MAX_BYTES), path)
    files = study.workloads or {ONE: study.workload or ""}
    workloads, hashes = {}, {}
    for name, file in files.items():
        place = path.parent / file
        workloads[name] = read_workload(place)
        # Not the file's bytes: comments in a workload change nothing.
        hashes[name] = _digest(workloads[name].model_dump_json(exclude_defaults=True))
    return StudyFile(path, study, workloads, hashes)


def _parsed(text: str, path: Path) -> Study:
    try:
        node, document = load_yaml(text, path, hint=HINT)
    except WorkalikeError as error:
        raise bad(path, error.message, error.place) from error
    if not isinstance(document, dict) or "study" not in document:
        raise bad(path, "not a study: it does not begin with `study: 1`")
    try:
        return Study.model_validate(_with_texts(document))
    except ValidationError as error:
        location, message = first_finding(error)
        raise bad(path, message, f"line {line_of(node, location)}, {describe_location(location)}") from error
    except RecursionError as error:
        raise bad(path, "nested too deeply") from error


def _with_texts(document: dict[Any, Any]) -> dict[str, Any]:
    """The document with words as the keys of its fields: YAML reads some names as numbers or dates."""
    return {str(key): value for key, value in document.items()}
