"""What an entry of the catalogue is: a name, the command that makes the result, and the sources that it depends on.

A result is *stale* when one of its sources has changed since the commit it was measured at. Sources are therefore what
the figure is about, not everything that runs. `docs/results/NAME.json` holds the figures; `results.py` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "results"


class Kind(Enum):
    SCRIPT = "script"
    """A script in this folder, which writes its figures itself."""
    TESTS = "tests"
    """A command that succeeds or fails; what success means stands in `passing`, or in the JSON file and is kept."""
    PEOPLE = "people"
    """What somebody did and wrote down; the command says what was to be done. No program does it again."""


@dataclass(frozen=True)
class Entry:
    name: str
    command: str
    """As typed in the root of the repository, inside its virtual environment."""
    sources: tuple[str, ...]
    """Files and folders, relative to the root."""
    kind: Kind = Kind.SCRIPT
    is_long: bool = False
    """More than ten minutes, root rights or a whole machine: run only by name or with --long."""
    passing: tuple[str, str] | None = None
    """Of tests: what was measured, and what it means that they pass, without numbers of tests. None: as the JSON file has it."""

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.json"


CHARACTERIZE = ("src/workalike/characterize", "src/workalike/facts")
PLAN = ("src/workalike/plan", "engine/core")
COMPARE = ("src/workalike/compare",)
ENGINE = ("engine",)
CAPTURE = ("capture", "counting")


def tests(
    name: str,
    paths: str,
    *sources: str,
    prefix: str = "",
    is_long: bool = False,
    passing: tuple[str, str] | None = None,
) -> Entry:
    command = f"{prefix}python -m pytest -q {paths}"
    files = [path.split("::")[0] for path in paths.split() if "/" in path]
    return Entry(name, command, (*files, *sources), Kind.TESTS, is_long, passing)
