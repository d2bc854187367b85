"""Inspects a file in another process, whose crash or delay becomes an error of one line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file
from workalike.typhonio.findings import Finding, Level

SECONDS = 60.0
BYTES_PER_SECOND = 20e6  # by which the time for large files grows
READER = ("-P", "-m", "workalike.typhonio.child")  # -P: no modules from the current folder
DAMAGED = "the file is damaged: write or copy it again"


@dataclass(frozen=True)
class Inspection:
    """The contents of a file; `tree` has nested dicts of kind, name, facts and children."""

    typhonio: bool
    tree: dict[str, Any]
    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        return self.counts[Level.ERROR.value]

    def as_dict(self, file: Path) -> dict[str, Any]:
        return {
            "file": str(file),
            "typhonio": self.typhonio,
            "sound": self.errors == 0,
            "counts": self.counts,
            "findings": [finding.as_dict() for finding in self.findings],
            "tree": self.tree,
        }


def inspect_file(path: Path, seconds: float | None = None) -> Inspection:
    """Read and check a TyphonIO file, or list an ordinary HDF5 file.

    Args:
        path: the file.
        seconds: time limit of the reading; None: a minute, and more for large files.

    Raises:
        WorkalikeError: MISSING; BAD_FILE if the file is not HDF5, of a TyphonIO before version 1, or so damaged that
            HDF5 crashes or does not end.
    """
    with open_file(path, ErrorKind.BAD_FILE):
        pass
    found = _ask(path, seconds or SECONDS + path.stat().st_blocks * 512 / BYTES_PER_SECOND)
    if found["kind"] == "unreadable":
        hint = "is it the right file, closed by the program that wrote it?"
        raise WorkalikeError(
            ErrorKind.BAD_FILE, f"not readable as HDF5: {found['why']}", file=path, hint=hint
        )
    if found["kind"] == "old":
        what = "a TyphonIO file of a version before 1, which the library refuses as well (error -80)"
        raise WorkalikeError(ErrorKind.BAD_FILE, what, file=path, hint="write it again with version 1.6")
    findings = [Finding(Level(f["level"]), f["place"], f["what"], f["hint"]) for f in found["findings"]]
    return Inspection(found["kind"] == "typhonio", found["tree"], findings, found["counts"])


def _ask(path: Path, seconds: float) -> dict[str, Any]:
    """The answer of the other process."""
    command = [sys.executable, *READER, str(path.absolute())]
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        what = f"reading did not end within {seconds:.0f} s"
        raise WorkalikeError(ErrorKind.BAD_FILE, what, file=path, hint=DAMAGED) from error
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    except ValueError as error:
        raise WorkalikeError(ErrorKind.BAD_FILE, _death(done), file=path, hint=DAMAGED) from error


def _death(done: subprocess.CompletedProcess[bytes]) -> str:
    """How the other process ended, in words."""
    if done.returncode < 0:
        return f"HDF5 crashed while reading it ({signal.Signals(-done.returncode).name})"
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
    return f"reading it failed ({last[0][:160]})"
