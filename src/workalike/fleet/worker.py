"""The process that reads logs for `ingest`: it may die at any log, and its parent goes on.

Lines of JSON come on stdin, each a chunk of paths; lines on stdout say which log is being read, and what was written.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.part_writer import Gathered
from workalike.fleet.rows import ChangedError, Filtered, rows_of
from workalike.fleet.schema import DUPLICATE, FILTERED, INGESTED, QUARANTINED
from workalike.fleet.site import Site, read_site

MEMORY = 8 << 30
"""Address space of a worker, bytes: a log that needs more ends its worker, not the machine."""
DIE_VARIABLE = "WORKALIKE_TEST_DIE_AT"
"""For tests: the worker kills itself at a log whose path contains this text."""

Source = dict[str, Any]


def main() -> None:
    site_file, since = json.loads(sys.argv[1])
    site = read_site(Path(site_file) if site_file else None).since(since)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with contextlib.suppress(OSError):
        os.nice(5)
    for line in sys.stdin:
        asked = json.loads(line)
        _tell(**_chunk(asked["paths"], Path(asked["to"]), site, asked["mark"]))


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def _chunk(paths: list[str], folder: Path, site: Site, mark: str) -> dict[str, Any]:
    """Read logs until the chunk ends or the part is full; what was written."""
    gathered = Gathered()
    counts = {INGESTED: 0, QUARANTINED: 0, FILTERED: 0, DUPLICATE: 0, "unreadable": 0}
    problems: list[tuple[str, str]] = []
    done = 0
    for number, path in enumerate(paths):
        _tell(at=number)
        source, why = _one(path, site, mark, gathered)
        counts[source["outcome"]] += 1
        if why:
            problems.append((path, why))
        if source["outcome"] != "unreadable":
            gathered.add_source(source)
        done = number + 1
        if gathered.is_full:
            break
    if not gathered.rows:
        return {"done": done, "part": None, "counts": counts, "problems": problems}
    try:
        part = gathered.write(folder)
    except WorkalikeError as error:
        return {"failed": error.message, "file": error.file, "hint": error.hint}
    return {"done": done, "part": vars(part), "counts": counts, "problems": problems}


def _one(path: str, site: Site, mark: str, gathered: Gathered) -> tuple[Source, str]:
    """Read one log; its row of `source`, with what became of it, and why, which the row may not have."""
    source: Source = {
        "path": site.shown_path(path),
        "size": None,
        "changed_ns": None,
        "log_id": None,
        "reason": "",
    }
    if os.environ.get(DIE_VARIABLE) and os.environ[DIE_VARIABLE] in path:
        os.kill(os.getpid(), 9)
    try:
        status = os.stat(path)  # noqa: PTH116
        source |= {"size": status.st_size, "changed_ns": status.st_mtime_ns}
        found = rows_of(Path(path), site)
    except WorkalikeError as error:
        again = isinstance(error, ChangedError) or error.kind is ErrorKind.MISSING
        why = (f"{error.place}: " if error.place else "") + error.message
        shown = error.kind.title if site.hides else why  # the message may quote the log
        return source | {"outcome": "unreadable" if again else QUARANTINED, "reason": shown}, why
    except OSError as error:
        return source | {"outcome": "unreadable"}, error.strerror or "cannot be read"
    except Exception as error:  # a damaged log that no check has foreseen must not stop the others
        kind = f"cannot be read: {type(error).__name__}"
        why = f"{kind}: {error}"[:300]
        return source | {"outcome": QUARANTINED, "reason": kind if site.hides else why}, why
    source["log_id"] = found.log_id
    if isinstance(found, Filtered):
        return source | {"outcome": FILTERED, "reason": f"{mark}: {found.reason}"}, ""
    if found.log_id in gathered.ids:
        return source | {"outcome": DUPLICATE}, ""
    gathered.add(found)
    return source | {"outcome": INGESTED}, ""


if __name__ == "__main__":
    main()
