"""Which kind a file is, by its content: commands do not rely on names."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from workalike.errors import ErrorKind
from workalike.files import open_file

HEAD_BYTES = 4096
SIDE_FILE_SUFFIX = ".extra.json"
"""What capture adds to the name of a log for the file that it writes beside it."""


class FileKind(StrEnum):
    """What a file holds by its first bytes; the reader of that kind then checks it."""

    LOG = "log"
    WORKLOAD = "workload"
    PLAN = "plan"
    RECORD = "record"
    EVIDENCE = "evidence file"


def kind_of(path: Path) -> FileKind:
    """The kind of a file, by its first bytes; a folder stands for the logs in it.

    Raises:
        WorkalikeError: USAGE when it cannot be read.
    """
    if path.is_dir():
        return FileKind.LOG
    with open_file(path, ErrorKind.USAGE) as file:
        head = file.read(HEAD_BYTES)
    if not head and path.suffix in (".json", ".jsonl"):
        return FileKind.RECORD  # of a run that ended before its first line
    if b'"workalike-plan"' in head:
        return FileKind.PLAN
    if b'"workalike-record"' in head:
        return FileKind.RECORD
    if b'"workalike-evidence"' in head:
        return FileKind.EVIDENCE
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A multi-byte character may be cut at the end of the head.
        text = head[: error.start].decode("utf-8") if error.start > len(head) - 4 else ""
    is_text = bool(text) and all(c.isprintable() or c in "\n\r\t" for c in text)
    return FileKind.WORKLOAD if is_text else FileKind.LOG


def side_file_of(log: Path) -> Path:
    """Where capture puts what it knows beside a log."""
    return log.with_name(f"{log.name}{SIDE_FILE_SUFFIX}")
