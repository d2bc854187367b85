"""The side file of capture, LOG.extra.json, with new file names: numbers stay, and nothing unknown is taken over."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.file_kind import side_file_of
from workalike.files import read_text
from workalike.fleet.anonymize.paths import Paths

MAX_BYTES = 64 << 20
LATEST = 2
"""The newest version of the file that capture writes."""
_PARTS = ("clocks", "events", "files", "hdf5", "processes", "stdio_sizes")
_WORDS = {
    "module": frozenset(["POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR"]),
    "event": frozenset(["open", "close", "sync"]),
}
"""Fields with words, and the words that they have."""
_NUMERIC = """
rank reads writes truncations removals start end offset error cpu_s waited_s bin_s bins
attributes_created attributes_opened attributes_read attributes_written attributes_closed
groups_created datasets_created
"""
_FIELDS = frozenset(_NUMERIC.split())


def read_side(log: Path) -> dict[str, Any] | None:
    """The side file of a log as JSON; None if it has none.

    Raises:
        WorkalikeError: BAD_FILE if it is damaged or larger than 64 MiB.
    """
    path = side_file_of(log)
    if not path.is_file():
        return None
    try:
        found = json.loads(read_text(path, ErrorKind.BAD_FILE, MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise _bad(path, "is not JSON") from error
    if not isinstance(found, dict):
        raise _bad(path, "is not a JSON object")
    for part in _PARTS:
        rows = found.get(part, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise _bad(path, "is not a list of objects", part)
    return found


def _bad(path: Path, message: str, place: str | None = None) -> WorkalikeError:
    return WorkalikeError(
        ErrorKind.BAD_FILE, message, file=path, place=place, hint="remove it, or copy it again beside its log"
    )


def names_in(side: dict[str, Any] | None) -> Iterator[str]:
    """The file names of a side file."""
    for part in _PARTS if side is not None else ():
        for row in side.get(part, []) if side is not None else ():
            if isinstance(row.get("file"), str):
                yield row["file"]


def anonymous_side(side: dict[str, Any], paths: Paths) -> str:
    """The text of the new side file."""
    version = side.get("version")
    out: dict[str, Any] = {"version": version if type(version) is int and 1 <= version <= LATEST else 1}
    for part in _PARTS:
        rows = [_row(row, paths) for row in side.get(part, [])]
        if rows:
            out[part] = rows
    return json.dumps(out, separators=(", ", ": ")) + "\n"


def unknown_in(side: dict[str, Any]) -> Iterator[str]:
    """Where a side file has more than file names, known words and numbers."""
    yield from (f"{key!r}" for key in side if key not in (*_PARTS, "version"))
    for part in _PARTS:
        for place, row in enumerate(side.get(part, [])):
            for field, value in row.items():
                if field != "file" and not _is_known(field, value):
                    yield f"{part}[{place}]: {field!r}"


def _row(row: dict[str, Any], paths: Paths) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for field, value in row.items():
        if field == "file" and isinstance(value, str):
            out[field] = paths.path(value)
        elif _is_known(field, value):
            out[field] = value
    return out


def _is_known(field: str, value: Any) -> bool:
    if isinstance(value, str):
        return value in _WORDS.get(field, ())
    return field in _FIELDS and _is_numbers(value)


def _is_numbers(value: Any) -> bool:
    """Whether it is a number, a list of numbers, or a list of such lists."""
    if isinstance(value, list):
        return all(
            _is_number(part) or (isinstance(part, list) and all(map(_is_number, part))) for part in value
        )
    return _is_number(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
