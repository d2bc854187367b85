"""The two sides of a comparison, read from files of any suitable kind."""

from __future__ import annotations

from pathlib import Path

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.result import Characterization
from workalike.compare.families import key_of_name
from workalike.darshan import Log, open_logs
from workalike.file_kind import FileKind, kind_of
from workalike.record.run_record import Record, assemble, read_record
from workalike.workload.model import Workload
from workalike.workload.workload_file import read_workload


def read_original(path: Path, options: CharacterizeOptions | None = None) -> Characterization | Workload:
    """The original: a log (or a folder with one job's logs) or a workload.

    Raises:
        WorkalikeError: as `open_logs`, `characterize` and `read_workload`.
    """
    if kind_of(path) is FileKind.LOG:
        return characterize(open_logs([path]), options)
    return read_workload(path)


def read_replica(path: Path) -> Record | Characterization:
    """The replica: a record (run.json, run.jsonl) or a log of the replica's run.

    Raises:
        WorkalikeError: as `open_logs`, `characterize` and `read_record`.
    """
    if kind_of(path) is FileKind.LOG:
        return characterized_replica(open_logs([path]))
    return assemble(path) if path.suffix == ".jsonl" else read_record(path)


def characterized_replica(logs: list[Log]) -> Characterization:
    """A replica's log. Every file of the engine counts, however small; in a log of another program noise stays noise.

    Raises:
        WorkalikeError: as `characterize`.
    """
    ours = any(key_of_name(name) is not None for log in logs for name in log.names.values())
    return characterize(logs, CharacterizeOptions(include_program_start=ours, refine=not ours))
