"""The folder of a study's results: its manifest, and one line for each finished trial.

A line is complete once it is written and synced; a kill in the middle of a line leaves that trial unfinished. Nothing
else is needed to resume: the Parquet tables are made from the lines.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import alone_in, make_folder, open_file, read_text, write_text
from workalike.leftovers import remove_leftovers
from workalike.study.json_numbers import out_of_range
from workalike.study.row_checks import fault_of_line

FORMAT = "workalike-study"
VERSION = 1
MANIFEST, LINES = "manifest.json", "trials.jsonl"
SEARCH, BATCH = "search", "batch"
"""Folders of a search's rungs, and of a submitted study's job; they may be there before the manifest."""
SHARES = "shares"
"""Results of the tasks of a job array."""
MAX_LINE_BYTES = 256 * 2**20
MAX_MANIFEST_BYTES = 256 * 2**20

Row = dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """A finished trial: its row, and a row for each of its dumps."""

    trial: Row
    dumps: list[Row]

    @property
    def key(self) -> tuple[int, str, str]:
        """What makes it this trial: block, setting and arm."""
        return int(self.trial["block"]), str(self.trial["setting"]), str(self.trial["arm"])


@dataclass
class Journal:
    """An opened folder of results, locked against other drivers until it is closed."""

    folder: Path
    manifest: dict[str, Any]
    finished: list[Finished] = field(default_factory=list)
    _lines: int = -1

    def append(self, finished: Finished) -> None:
        """Add a trial, safely on disk when this returns.

        Raises:
            WorkalikeError: CANNOT_WRITE; the folder holds what it held before.
        """
        line = json.dumps({"trial": finished.trial, "dumps": finished.dumps}).encode() + b"\n"
        before = os.lseek(self._lines, 0, os.SEEK_END)
        try:
            written = 0
            while written < len(line):
                written += os.write(self._lines, line[written:])
            os.fsync(self._lines)
            self.finished.append(finished)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._lines, before)
            raise WorkalikeError(
                ErrorKind.CANNOT_WRITE,
                f"{error.strerror or 'failed'}: the trial is lost, and {len(self.finished)} before it are kept",
                file=self.folder / LINES,
                hint="free space, then give the same command again: it resumes",
            ) from error
        except BaseException:  # a signal, which may arrive when the line is already complete
            self.finished = _recovered(self.folder / LINES)
            raise

    def save_manifest(self, **changes: Any) -> None:
        """Write the manifest with changed fields.

        Raises:
            WorkalikeError: CANNOT_WRITE.
        """
        self.manifest |= changes
        write_text(self.folder / MANIFEST, json.dumps(self.manifest, indent=1) + "\n")


def now() -> str:
    """The time of day, for people; durations are measured with a clock that does not jump."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@contextlib.contextmanager
def opened(folder: Path, identities: Sequence[str], about: dict[str, Any]) -> Iterator[Journal]:
    """The results of a study in a folder, new or to be resumed.

    Args:
        folder: made if it does not exist.
        identities: of the study, as this version and earlier ones compute it; results of another are refused.
        about: the other fields of the manifest.

    Raises:
        WorkalikeError: CANNOT_WRITE if another driver is at work there; USAGE if the folder holds something else;
            BAD_STUDY for a damaged line.
    """
    make_folder(folder)
    with alone_in(folder, "another driver is running a study there"):
        remove_leftovers(folder)
        manifest = _manifest_of(folder, identities)
        created = {"id": secrets.token_hex(6), "created": now()}
        kept = {name: manifest[name] for name in ("id", "created")} if manifest else created
        journal = Journal(
            folder, {"format": FORMAT, "version": VERSION, **about, "identity": identities[0], **kept}
        )
        journal.save_manifest(state="running", updated=now())
        journal.finished = _recovered(folder / LINES)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        journal._lines = os.open(folder / LINES, flags, 0o666)
        try:
            _sync_folder(folder)
            yield journal
        finally:
            os.close(journal._lines)


def refuse_foreign(folder: Path, identities: Sequence[str]) -> None:
    """Refuse a folder that holds something else than this study's results.

    Raises:
        WorkalikeError: USAGE.
    """
    _manifest_of(folder, identities)


def _manifest_of(folder: Path, identities: Sequence[str]) -> dict[str, Any] | None:
    """The manifest of this study; None in an empty folder."""
    if not (folder / MANIFEST).exists():
        other = sorted(path.name for path in folder.iterdir() if path.name not in (SEARCH, BATCH, SHARES))
        if other:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"holds {other[0]!r} and no study",
                file=folder,
                hint="choose another -o: results go into a folder of their own",
            )
        return None
    manifest = read_manifest(folder)
    if manifest["identity"] not in identities:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "holds the results of another study, or of this one before it was changed",
            file=folder,
            hint="choose another -o; only `blocks` and what does not change a trial may change",
        )
    return manifest


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a study's results.

    Raises:
        WorkalikeError: MISSING or BAD_STUDY.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_text(path, ErrorKind.BAD_STUDY, MAX_MANIFEST_BYTES))
    except (ValueError, RecursionError) as error:
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, "not JSON", file=path, hint="is it the right folder?"
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, "not the manifest of a study", file=path, hint="is it the right folder?"
        )
    if not all(isinstance(manifest.get(name), str) for name in ("id", "identity", "created")):
        raise WorkalikeError(
            ErrorKind.BAD_STUDY, "lacks id, identity or created", file=path, hint="run it anew"
        )
    if (fault := _fault_of(manifest)) is not None:
        raise WorkalikeError(ErrorKind.BAD_STUDY, fault, file=path, hint="run it anew")
    version = manifest.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise WorkalikeError(
            ErrorKind.BAD_STUDY,
            f"has version {version!r}, and this workalike knows {VERSION}",
            file=path,
            hint="use a newer workalike",
        )
    return manifest


def _fault_of(manifest: dict[str, Any]) -> str | None:
    """What the pages cannot work with; fields that are not there are those of other versions."""
    factors = manifest.get("factors", [])
    if not isinstance(factors, list) or not all(isinstance(name, str) for name in factors):
        return "`factors` is not a list of names"
    if not all(isinstance(manifest.get(name, {}), dict) for name in ("study", "system")):
        return "`study` or `system` has no fields"
    try:
        place = out_of_range(manifest)
    except RecursionError:
        return "nested too deeply"
    return None if place is None else f"{place[:80]} is too large a number"


def read_finished(folder: Path) -> list[Finished]:
    """The finished trials of a study, which may be running; the folder is not changed.

    Raises:
        WorkalikeError: BAD_STUDY for a damaged line.
    """
    path = folder / LINES
    return [finished for finished, _ in _read(path)] if path.exists() else []


def _recovered(path: Path) -> list[Finished]:
    """The finished trials; what a kill has left of a line is cut off."""
    if not path.exists():
        return []
    finished, end = [], 0
    for row, end_of_line in _read(path):
        finished.append(row)
        end = end_of_line
    if path.stat().st_size > end:
        os.truncate(path, end)
    return finished


def _read(path: Path) -> Iterator[tuple[Finished, int]]:
    """(trial, end of its line) of each complete line."""
    keys = set()
    with open_file(path, ErrorKind.BAD_STUDY) as source:
        end = number = 0
        while line := source.readline(MAX_LINE_BYTES + 1):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) > MAX_LINE_BYTES:
                    raise _damaged(path, number, "is too long")
                return
            end += len(line)
            finished = _parsed(path, number, line)
            if finished.key in keys:
                raise _damaged(path, number, "has a trial that an earlier line has")
            keys.add(finished.key)
            yield finished, end


def _parsed(path: Path, number: int, line: bytes) -> Finished:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, number, "is not a trial") from error
    if (fault := fault_of_line(document)) is not None:
        raise _damaged(path, number, f"is not a trial: {fault}")
    return Finished(document["trial"], document["dumps"])


def _damaged(path: Path, number: int, message: str) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_STUDY,
        message,
        file=path,
        place=f"line {number}",
        hint="remove that line: its trial is run again",
    )


def _sync_folder(folder: Path) -> None:
    """Make the names of new files safe, too."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
