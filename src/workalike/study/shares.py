"""A study in shares: each task of a job array runs some of the blocks, and their results are joined.

A block stays within one task, since ratios are taken within blocks. A task has a journal of its own, in
`DIR/shares/I-of-N`; what it finished is added to the results of the study, where each trial is once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, read_text, write_text
from workalike.study.journal import (
    MANIFEST,
    SHARES,
    Finished,
    Journal,
    now,
    opened,
    read_finished,
    read_manifest,
)
from workalike.study.machine_file import MAX_BYTES, PATTERN
from workalike.study.study_file import StudyFile, bad
from workalike.study.tables import write_tables

DONE = "done"
MOST_TASKS = 10_000
SHARE = re.compile(r"(\d{1,5})/(\d{1,5})")


@dataclass(frozen=True)
class Share:
    """Task `number` of `tasks`, from 0: it runs every block whose number leaves `number` when divided by `tasks`."""

    number: int
    tasks: int

    def has(self, block: int) -> bool:
        return block % self.tasks == self.number

    def folder(self, out: Path) -> Path:
        """Where its results go."""
        return out / SHARES / f"{self.number}-of-{self.tasks}"


def share_of(text: str) -> Share:
    """The share that `I/N` names.

    Raises:
        WorkalikeError: USAGE.
    """
    found = SHARE.fullmatch(text)
    if found is None or not int(found[1]) < int(found[2]) <= MOST_TASKS:
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"--share {text[:40]!r} is not a share",
            hint="for instance 0/4, 1/4, 2/4 and 3/4",
        )
    return Share(int(found[1]), int(found[2]))


def refuse_dependent_blocks(file: StudyFile) -> None:
    """Refuse to share a study whose later blocks depend on the results of earlier ones.

    Raises:
        WorkalikeError: BAD_STUDY.
    """
    for name in ("stop", "search"):
        if getattr(file.study, name) is not None:
            raise bad(
                file.path,
                "its blocks depend on earlier ones, and cannot be shared among tasks",
                name,
                f"leave out --array, or `{name}`",
            )


def finished_in_shares(out: Path) -> list[Finished]:
    """The finished trials of all shares, in the order of the study; each once."""
    found: dict[tuple[int, str, str], Finished] = {}
    for folder in _folders(out):
        for finished in read_finished(folder):
            found.setdefault(finished.key, finished)
    return sorted(found.values(), key=lambda each: (each.trial["block"], each.trial.get("position", 0)))


def refuse_working_tasks(out: Path) -> None:
    """Refuse to go on beside tasks of an array, which would run the same trials.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    for folder in _folders(out):
        with alone_in(folder, "a task of a job array is at work there"):
            pass


def take_shares(journal: Journal) -> None:
    """Add what the shares have finished, and what they measured of the machine, to the results of the study.

    Raises:
        WorkalikeError: BAD_STUDY for damaged results of a share; CANNOT_WRITE.
    """
    have = {finished.key for finished in journal.finished}
    for finished in finished_in_shares(journal.folder):
        if finished.key not in have:
            journal.append(finished)
    for folder in _folders(journal.folder):
        for machine in sorted(folder.glob(PATTERN)):
            if not (own := journal.folder / machine.name).exists():
                write_text(own, read_text(machine, ErrorKind.BAD_STUDY, MAX_BYTES))


def _folders(out: Path, tasks: int | str = "*") -> list[Path]:
    """The folders of shares, or of those of an array of so many tasks."""
    return sorted((out / SHARES).glob(f"*-of-{tasks}"))


def core_hours(finished: Iterable[Finished]) -> float:
    """What trials have cost this study."""
    return sum(
        float(row.trial.get("core_hours") or 0.0) for row in finished if row.trial.get("reused_from") is None
    )


def join_shares(
    file: StudyFile, out: Path, about: dict[str, object], planned: int, tasks: int
) -> Sequence[Finished]:
    """Add what the shares have finished to the results of the study, which become those of one driver.

    Args:
        file: the study.
        out: the folder of its results.
        about: what the manifest says of the study.
        planned: the number of its trials.
        tasks: of the array whose end is the study's; shares of earlier arrays say nothing about it.

    Raises:
        WorkalikeError: as `journal.opened`.
    """
    manifests = [read_manifest(folder) for folder in _folders(out) if (folder / MANIFEST).exists()]
    own = [read_manifest(folder) for folder in _folders(out, tasks) if (folder / MANIFEST).exists()]
    with opened(out, file.identities, about) as journal:
        take_shares(journal)
        write_tables(journal.finished, out)
        system = next((m["system"] for m in manifests if "system" in m), None)
        journal.save_manifest(
            state=_state(len(journal.finished), planned, [str(m.get("state")) for m in own]),
            updated=now(),
            trials=len(journal.finished),
            **({} if system is None else {"system": system}),
        )
        return journal.finished


def _state(finished: int, planned: int, states: Sequence[str]) -> str:
    if finished >= planned:
        return DONE
    return next((state for state in states if state not in (DONE, "running")), "interrupted")
