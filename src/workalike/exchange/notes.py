"""Notes on what a translation loses or assumes, one line each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workalike.workload.model import Workload
from workalike.workload.phrases import compute_words


@dataclass(frozen=True)
class Note:
    """One note; `essential` if bytes, operations or files differ from those of the source."""

    text: str
    essential: bool = False


@dataclass
class Notes:
    """Notes in the order in which they were made, without duplicates."""

    all: list[Note] = field(default_factory=list)

    def say(self, text: str) -> None:
        self._add(Note(text))

    def lost(self, text: str) -> None:
        self._add(Note(text, essential=True))

    def _add(self, note: Note) -> None:
        if note not in self.all:
            self.all.append(note)

    @property
    def essential(self) -> bool:
        return any(note.essential for note in self.all)

    def as_list(self) -> list[dict[str, Any]]:
        return [{"text": note.text, "essential": note.essential} for note in self.all]


HAVE_DIRECT = ("fio", "IOR")
"""Tools that open files with O_DIRECT."""


def say_computing(workload: Workload, tool: str, notes: Notes) -> None:
    """Note computing between dumps, which no other tool has as work; bytes and operations are not affected."""
    if workload.compute is not None:
        notes.say(f"{tool} has nothing like {compute_words(workload.compute)} between dumps: left out")


def say_table(workload: Workload, tool: str, notes: Notes) -> None:
    """Note that the rows of an operation table become equal, contiguous operations."""
    if workload.operations is not None:
        notes.lost(
            f"{tool} has no operation table: its {workload.operations.rows} rows become equal operations, "
            "each rank's contiguous"
        )


def say_names_and_delays(workload: Workload, tool: str, notes: Notes) -> None:
    """Note deletions and renames of files, which no other tool makes between dumps, and ranks that begin late."""
    for family in workload.families:
        name = f"{family.role.value} {family.number}"
        if family.removed or family.keep:
            notes.lost(f"{name}: {tool} deletes no file between dumps: all stay")
        if family.rename or family.backup:
            notes.lost(f"{name}: {tool} renames no file")
        if family.direct and tool not in HAVE_DIRECT:
            notes.say(f"{name}: {tool} opens no files with O_DIRECT, so the page cache has a part in it")
        contents = family.all_contents()
        if any(content.buffered for content in contents):
            notes.say(f"{name}: {tool} makes no streams on open descriptors: their calls are plain ones")
        if any(content.maps for content in contents):
            notes.say(f"{name}: {tool} maps no files into memory: that is left out")
        if any(content.reopen for content in contents):
            notes.say(f"{name}: {tool} opens files once, not amid their operations")
        if family.directory:
            notes.say(f"{name}: its directory {family.directory} is left out: all files lie in one")
        if family.folders:
            notes.say(f"{name}: its folders are left out: all files lie in one")
        if any(window.skew for window in (family.schedule.reads, family.schedule.writes) if window):
            notes.say(f"{name}: ranks that begin late begin with the others")


@dataclass(frozen=True)
class Imported:
    """A workload as the values of its YAML document, and the notes on it."""

    document: dict[str, Any]
    notes: Notes


@dataclass(frozen=True)
class Exported:
    """Text for the other tool, and what it cannot express."""

    text: str
    notes: Notes
