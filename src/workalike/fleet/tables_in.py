"""Accounting and server load from CSV files, which other programs wrote."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file
from workalike.fleet.extras import arrow
from workalike.fleet.part_writer import write_tables
from workalike.fleet.schema import arrow_schema
from workalike.fleet.site import Site
from workalike.fleet.store import STAGING, Part, Store
from workalike.leftovers import scratch_folder

LONGEST_FIELD = 200
Row = dict[str, Any]


def read_accounting(store: Store, file: Path, site: Site) -> int:
    """Add the jobs of a CSV file with the columns job_id, user, start, end and nodes; returns the number of rows.

    Times are seconds since 1970 or ISO 8601 (UTC where no zone is given), as `sacct --parsable2 --delimiter=,` prints.
    A file that was read before is not read again; later rows of a job replace earlier ones in reports.

    Raises:
        WorkalikeError: MISSING, BAD_FILE naming the line, CANNOT_WRITE.
    """

    def row_of(row: Row) -> Row:
        start, end = _time(row["start"]), _time(row["end"])
        nodes = _whole(row["nodes"])
        return {
            "site": site.name,
            "job_id": _whole(row["job_id"].partition(".")[0]),
            "user": site.shown_user(row["user"][:LONGEST_FIELD]),
            "start": start,
            "end": end,
            "nodes": nodes,
            "node_hours": nodes * max(0.0, end - start) / 3600,
        }

    return _add(store, file, "accounting", ("job_id", "user", "start", "end", "nodes"), row_of)


def read_server_load(store: Store, file: Path, site: Site) -> int:
    """Add a CSV file with the columns mount, minute, bytes_read, bytes_written, operations and fullness (0 to 1).

    Raises:
        WorkalikeError: as `read_accounting`.
    """

    def row_of(row: Row) -> Row:
        return {
            "mount": row["mount"][:LONGEST_FIELD],
            "minute": math.floor(_time(row["minute"]) / 60) * 60.0,
            "bytes_read": _whole(row["bytes_read"]),
            "bytes_written": _whole(row["bytes_written"]),
            "operations": _whole(row["operations"]),
            "fullness": float(row["fullness"]) if row["fullness"] else None,
        }

    names = ("mount", "minute", "bytes_read", "bytes_written", "operations", "fullness")
    return _add(store, file, "server_load", names, row_of)


def _add(store: Store, file: Path, table: str, names: tuple[str, ...], row_of: Callable[[Row], Row]) -> int:
    with open_file(file, ErrorKind.BAD_FILE) as opened:
        data = opened.read()
    name = f"{table}/{hashlib.sha256(data).hexdigest()[:20]}"
    if any(part.part == name for part in store.parts):
        return 0
    rows = list(_rows(file, data, names, row_of))
    pa, _ = arrow()
    parent = store.folder / STAGING
    parent.mkdir(exist_ok=True)
    with scratch_folder(parent) as staging:
        write_tables(staging / "part", {table: pa.Table.from_pylist(rows, arrow_schema(table))})
        with store.locked():
            if not any(part.part == name for part in store.parts):
                store.commit(Part(name, {table: len(rows)}), staging / "part")
    store.update_views()
    return len(rows)


def _rows(file: Path, data: bytes, names: tuple[str, ...], row_of: Callable[[Row], Row]) -> Iterator[Row]:
    reader = csv.DictReader(data.decode("utf-8", "replace").splitlines())
    heads = {(head or "").strip().lower(): head for head in reader.fieldnames or []}
    missing = [name for name in names if name not in heads]
    if missing:
        raise _bad(
            file, f"has no column {', '.join(missing)}", "line 1", f"its columns must be {', '.join(names)}"
        )
    try:
        for row in reader:
            try:
                yield row_of({name: (row[heads[name]] or "").strip() for name in names})
            except (ValueError, OverflowError) as error:
                raise _bad(
                    file, str(error)[:100], f"line {reader.line_num}", "correct or remove it"
                ) from error
    except csv.Error as error:
        raise _bad(file, str(error), f"line {reader.line_num}", "is it CSV?") from error


def _bad(file: Path, message: str, place: str, hint: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.BAD_FILE, message, file=file, place=place, hint=hint)


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"{text[:20]!r}... is no count")
    number = int(text or "0")
    if not 0 <= number < 2**62:
        raise ValueError(f"{text!r} is no count")
    return number


def _time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        when = datetime.fromisoformat(text)
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError(f"{text!r} is no time")
    return seconds
