"""What kind of file is it? Commands take logs, workloads, plans and records by content, not by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import Log, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file
from workalike.plan.files import read_plan
from workalike.plan.model import Plan
from workalike.record.run_record import Record, assemble, read_record
from workalike.workload.files import read_workload
from workalike.workload.model import Workload

HEAD_BYTES = 4096


def kind_of(path: Path) -> str:
    """log, workload, plan or record, by the first bytes.

    Raises:
        WorkalikeError: MISSING when it cannot be read.
    """
    with open_file(path, ErrorKind.USAGE) as file:
        head = file.read(HEAD_BYTES)
    if not head and path.suffix in (".json", ".jsonl"):
        return "record"  # of a run that broke off at once
    if b'"workalike-plan"' in head:
        return "plan"
    if b'"workalike-record"' in head:
        return "record"
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A multi-byte character may be cut at the end of the head.
        text = head[: error.start].decode("utf-8") if error.start > len(head) - 4 else ""
    is_text = bool(text) and all(c.isprintable() or c in "\n\r\t" for c in text)
    return "workload" if is_text else "log"


def open_logs(paths: Sequence[Path]) -> list[Log]:
    """Logs of one job; a folder stands for the logs in it."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob("*.darshan")) if path.is_dir() else [path]
    if not found:
        raise WorkalikeError(
            ErrorKind.MISSING,
            "no log (*.darshan) in it",
            file=paths[0],
            mend="name a Darshan log or a folder of logs",
        )
    return [open_log(path) for path in found]


def read_original(path: Path, options: CharacterizeOptions | None = None) -> Characterization | Workload:
    """An original: a log (or a folder of one job's logs) or a workload."""
    if path.is_dir() or kind_of(path) == "log":
        return characterize(open_logs([path]), options)
    return read_workload(path)


def read_replica(path: Path) -> Record | Characterization:
    """A replica: a record (run.json, run.jsonl) or a log of the replica's run."""
    if path.is_dir() or kind_of(path) == "log":
        return characterize(open_logs([path]))
    return assemble(path) if path.suffix == ".jsonl" else read_record(path)


def read_workload_or_plan(path: Path) -> Workload | Plan:
    """What `run` takes."""
    kind = kind_of(path)
    if kind == "log":
        raise WorkalikeError(
            ErrorKind.USAGE,
            "is a log, not a workload",
            file=path,
            mend="use `workalike replicate`, or characterize it first",
        )
    return read_plan(path) if kind == "plan" else read_workload(path)
