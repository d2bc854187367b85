"""Whether two files are two logs to compare, or a replica beside its original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workalike import _core
from workalike.darshan import Log, open_logs
from workalike.errors import ErrorKind, WorkalikeError
from workalike.file_kind import FileKind, kind_of


def two_logs(original: Path, replica: Path) -> tuple[list[Log], list[Log]] | None:
    """The logs of both, opened; None where the second is a replica of the first, or one of them is not a log.

    A log of the engine's run is a replica, but beside another log of the engine it is a log like any other.

    Raises:
        WorkalikeError: as `kind_of` and `open_logs`.
    """
    if kind_of(original) is not FileKind.LOG or kind_of(replica) is not FileKind.LOG:
        return None
    first, second = open_logs([original]), open_logs([replica])
    return (first, second) if not is_of_engine(second) or is_of_engine(first) else None


def is_of_engine(logs: Sequence[Log]) -> bool:
    """Whether a log names data files of the engine."""
    return any(_core.parse_name(name.rpartition("/")[2]) for log in logs for name in log.names.values())


def logs_at(path: Path) -> list[Log]:
    """The log, or the logs of one job in a folder.

    Raises:
        WorkalikeError: USAGE where it is not a log; as `open_logs`.
    """
    if kind_of(path) is not FileKind.LOG:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "is not a log: only logs have a baseline",
            file=path,
            hint="name a Darshan log or a folder of logs",
        )
    return open_logs([path])
