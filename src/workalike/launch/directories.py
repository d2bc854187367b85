"""Where the data of a run goes: a folder for families that name no directory, and one for each name of a plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.choices import TRAITS
from workalike.plan.plan_schema import Plan
from workalike.workload.quantities import DIRECTORY_NAME

PLAIN = ""
"""The name of the folder of families that name no directory."""
_NAMED = re.compile(rf"({DIRECTORY_NAME})=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Directories:
    """The folders that `--dir DIR` and `--dir NAME=DIR` give: `plain` is that of families without a directory."""

    plain: Path | None = None
    named: Mapping[str, Path] = field(default_factory=dict)

    def of_plan(self, plan: Plan, backend: str | None = None) -> dict[str, Path]:
        """The folder of each name that families of a plan have, as far as they touch files.

        Raises:
            WorkalikeError: USAGE where a folder is not given.
        """
        given = {PLAIN: self.plain} if self.plain is not None else {}
        given |= dict(self.named)
        needed = names_of(plan, backend)
        missing = [name for name in needed if name not in given]
        if missing:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--dir {_form(missing[0])} is missing: where the data of {_whose(missing[0])} go",
                hint=f"the plan needs {_listed(needed)}; given are {_listed(given)}",
            )
        return {name: given[name] for name in needed}

    def below(self, folder: str) -> Directories:
        """A folder of this name in each of them."""
        plain = None if self.plain is None else self.plain / folder
        return Directories(plain, {name: path / folder for name, path in self.named.items()})

    def all(self) -> list[Path]:
        """Every folder that is given."""
        return [*([] if self.plain is None else [self.plain]), *self.named.values()]

    def absolute(self) -> Directories:
        """The same folders for a command that runs elsewhere."""
        plain = None if self.plain is None else self.plain.absolute()
        return Directories(plain, {name: path.absolute() for name, path in self.named.items()})

    def texts(self) -> list[str]:
        """These folders as values of `--dir`."""
        plain = [] if self.plain is None else [plain_text(self.plain)]
        return [*plain, *(f"{name}={path}" for name, path in self.named.items())]

    def arguments(self) -> list[str]:
        """The options of a command line that give these folders."""
        return [word for text in self.texts() for word in ("--dir", text)]


def directories_of(texts: Sequence[str]) -> Directories:
    """The folders of `--dir` options: `DIR` or `NAME=DIR`; `./a=b` is a folder.

    Raises:
        WorkalikeError: USAGE for a folder without a name that is given twice, or a name that is.
    """
    found: dict[str, Path] = {}
    for text in texts:
        match = _NAMED.fullmatch(text)
        name, path = (match[1], match[2]) if match else (PLAIN, text)
        if not path:
            raise WorkalikeError(ErrorKind.USAGE, f"--dir {text}: names no directory")
        if name in found:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"--dir {_form(name)} is given twice",
                hint="name one directory; NAME=DIR is that of families with `directory`",
            )
        found[name] = Path(path)
    plain = found.pop(PLAIN, None)
    return Directories(plain, found)


def names_of(plan: Plan, backend: str | None = None) -> list[str]:
    """The directories that a plan's families name, as far as they touch files; `PLAIN` is the first."""
    performing = (family for family in plan.families if TRAITS[backend or family.backend]["performs"])
    return sorted({family.directory or PLAIN for family in performing})


def plain_text(path: Path) -> str:
    """A folder without a name as text of the command line, where `a=b` would be a name and a folder."""
    return f"./{path}" if _NAMED.fullmatch(str(path)) else str(path)


def each_once(folders: Iterable[Path]) -> list[Path]:
    """Folders without those that are another one by another path."""
    found: dict[Path, Path] = {}
    for folder in folders:
        found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _form(name: str) -> str:
    return f"{name}=DIR" if name else "DIR"


def _whose(name: str) -> str:
    return f"families with the directory {name}" if name else "families without a directory"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(_form, names)) or "none"
