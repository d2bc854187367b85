"""The log of a row of the database, where it is still to be had, and its anonymous workload."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workalike.characterize import characterize
from workalike.characterize.options import CharacterizeOptions
from workalike.darshan import Log, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.archive import restore
from workalike.fleet.log_paths import located
from workalike.fleet.rows import identity
from workalike.fleet.store import Store
from workalike.workload.audit import audit
from workalike.workload.workload_file import workload_text

MOST_PATHS = 100
"""Places where a log was read; copies of one log may lie in many."""


def paths_of(store: Store, connection: Any, log_id: int, archives: Path | None = None) -> list[Path]:
    """Where a log was when it was read; nowhere, where only archives can tell.

    Raises:
        WorkalikeError: MISSING as `located`, without archives.
    """
    rows = connection.execute(
        f"SELECT DISTINCT path FROM source WHERE log_id = ? ORDER BY path LIMIT {MOST_PATHS}", [log_id]
    )
    try:
        return list(located(store, [path for (path,) in rows.fetchall()]).values())
    except WorkalikeError:
        if archives is None:
            raise
        return []


@contextlib.contextmanager
def original(paths: list[Path], sha256: str, archives: Path | None = None) -> Iterator[Log]:
    """The opened log with this SHA-256: from one of its paths, if it has its bytes still, or from archives.

    Raises:
        WorkalikeError: MISSING where neither has it; as the log's reader.
    """
    for path in paths:
        with contextlib.suppress(WorkalikeError):
            if identity(path)[0] == sha256:
                yield open_log(path)
                return
    if archives is None:
        raise WorkalikeError(
            ErrorKind.MISSING,
            f"log {sha256[:12]} is no longer where it was read",
            hint="name the folder of archives, if it was archived",
        )
    with tempfile.TemporaryDirectory(prefix="workalike-") as folder:
        path = Path(folder) / "log.darshan"
        restore(archives, sha256, path)
        yield open_log(path)


def anonymous_workload(logs: Sequence[Log]) -> str:
    """The workload of the logs of one job as text, with no name of the log in it.

    Raises:
        WorkalikeError: as `characterize`; NOTHING_TO_REPLICATE without data; BAD_WORKLOAD where a name of the log is in it.
    """
    text = workload_text(characterize(logs, CharacterizeOptions(tables=False)).workload)
    report = audit(text, logs)
    if not report.clean:
        raise WorkalikeError(
            ErrorKind.BAD_WORKLOAD,
            "a word of the workload is also a name of the log",
            hint="characterize the log, and see workalike check --audit",
        )
    return text
