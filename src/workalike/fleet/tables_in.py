"""Accounting and server load from tables that other programs wrote, such as Slurm's `sacct`."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.files import open_file
from workalike.fleet.extras import arrow
from workalike.fleet.part_writer import write_tables
from workalike.fleet.schema import arrow_schema
from workalike.fleet.site import Site
from workalike.fleet.store import Part, Store, staging_folder
from workalike.text import plural

LONGEST_FIELD = 200
PARQUET = b"PAR1"
"""The first bytes of a Parquet file."""
Row = dict[str, Any]
Names = dict[str, tuple[str, ...]]
"""The columns of a table, and the headers that each may have in lower case, the best one first."""

ACCOUNTING: Names = {
    "job_id": ("jobidraw", "job_id", "jobid"),
    "user": ("user",),
    "start": ("start",),
    "end": ("end",),
    "nodes": ("nodes", "nnodes"),
}
NO_TIME = {"", "unknown", "none", "n/a"}
"""What `sacct` prints for a time that has not come."""
STEPS, TASKS, WAITING, RUNNING = (
    "steps of jobs",
    "tasks of arrays without the column JobIDRaw",
    "jobs that have not begun",
    "jobs that run still",
)
"""Rows of `sacct` that are no ended job."""


@dataclass
class Added:
    """How many rows of a file were added, and how many were left out for which reason."""

    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def text(self) -> str:
        """As a sentence without a full stop."""
        said = plural(self.rows, "row")
        if self.left_out:
            said += "; left out: " + ", ".join(f"{n:,} {why}" for why, n in self.left_out.items())
        return said


class _LeftOutError(Exception):
    """A row that does not belong into the table; the argument says why."""


def read_accounting(store: Store, file: Path, site: Site) -> Added:
    """Add the jobs of a table with the columns job_id, user, start, end and nodes, separated by commas or `|`.

    The headers of `sacct -P -o JobID,JobIDRaw,User,Start,End,NNodes` are known, too. Times are seconds since 1970 or
    ISO 8601 (UTC where no zone is given). Steps, and jobs that have not ended, are left out and counted. The number
    that logs have is JobIDRaw: without that column, tasks of arrays (`123_4`) cannot be matched, and are left out.
    A file that was read before is not read again; later rows of a job replace earlier ones in reports.

    Raises:
        WorkalikeError: MISSING, BAD_FILE naming the line, CANNOT_WRITE.
    """

    def row_of(row: Row) -> Row:
        job_id = _job_id(row["job_id"])
        for name, why in (("start", WAITING), ("end", RUNNING)):
            if row[name].lower() in NO_TIME:
                raise _LeftOutError(why)
        start, end = _time(row["start"]), _time(row["end"])
        nodes = _whole(row["nodes"])
        return {
            "site": site.name,
            "job_id": job_id,
            "user": site.shown_user(row["user"][:LONGEST_FIELD]),
            "start": start,
            "end": end,
            "nodes": nodes,
            "node_hours": nodes * max(0.0, end - start) / 3600,
        }

    return _add(store, file, "accounting", ACCOUNTING, row_of)


def _job_id(text: str) -> int:
    """The number of a job. Other forms of `sacct` are no number, though Python reads `123_4` as 1234."""
    if re.fullmatch(r"\d+", text, re.ASCII):
        return _whole(text)
    if re.fullmatch(r"\d+([_+][^.]*)?\.[^.]+", text, re.ASCII):
        raise _LeftOutError(STEPS)
    if re.fullmatch(r"\d+[_+][^.]*", text, re.ASCII):
        raise _LeftOutError(TASKS)
    raise ValueError(f"{text[:20]!r} is not a number of a job")


def read_server_load(store: Store, file: Path, site: Site) -> Added:
    """Add a file with the columns mount, minute, bytes_read, bytes_written, operations and fullness (0 to 1).

    It is CSV or Parquet.

    Raises:
        WorkalikeError: as `read_accounting`.
    """

    def row_of(row: Row) -> Row:
        return {
            "mount": site.shown_mount(row["mount"][:LONGEST_FIELD]),
            "minute": math.floor(_time(row["minute"]) / 60) * 60.0,
            "bytes_read": _whole(row["bytes_read"]),
            "bytes_written": _whole(row["bytes_written"]),
            "operations": _whole(row["operations"]),
            "fullness": float(row["fullness"]) if row["fullness"] else None,
        }

    names = ("mount", "minute", "bytes_read", "bytes_written", "operations", "fullness")
    return _add(store, file, "server_load", {name: (name,) for name in names}, row_of)


def _add(store: Store, file: Path, table: str, names: Names, row_of: Callable[[Row], Row]) -> Added:
    with open_file(file, ErrorKind.BAD_FILE) as opened:
        data = opened.read()
    added = Added()
    name = f"{table}/{hashlib.sha256(data).hexdigest()[:20]}"
    if _is_there(store, name):
        return added
    rows = list(_rows(file, data, names, row_of, added.left_out))
    pa, _ = arrow()
    with staging_folder(store) as staging:
        write_tables(staging / "part", {table: pa.Table.from_pylist(rows, arrow_schema(table))})
        with store.locked():
            if not _is_there(store, name):
                store.commit(Part(name, {table: len(rows)}), staging / "part")
    store.update_views()
    added.rows = len(rows)
    return added


def _is_there(store: Store, name: str) -> bool:
    """Whether a part counts, or another one in its place."""
    return name in store.replaced or any(part.part == name for part in store.parts)


def _rows(
    file: Path, data: bytes, names: Names, row_of: Callable[[Row], Row], left_out: Counter[str]
) -> Iterator[Row]:
    texts = _of_parquet if data.startswith(PARQUET) else _of_csv
    for place, row in texts(file, data, names):
        try:
            yield row_of(row)
        except _LeftOutError as why:
            left_out[str(why)] += 1
        except (ValueError, OverflowError) as error:
            raise _bad(file, str(error)[:100], place, "correct or remove it") from error


def _of_csv(file: Path, data: bytes, names: Names) -> Iterator[tuple[str, Row]]:
    """The place and the texts of each row."""
    lines = data.decode("utf-8", "replace").splitlines()
    reader = csv.DictReader(lines, delimiter="|" if lines and "|" in lines[0] else ",")
    heads = _heads(file, names, list(reader.fieldnames or []))
    try:
        for row in reader:
            yield (
                f"line {reader.line_num}",
                {name: (row[head] or "").strip() for name, head in heads.items()},
            )
    except csv.Error as error:
        raise _bad(file, str(error), f"line {reader.line_num}", "is it CSV?") from error


def _of_parquet(file: Path, data: bytes, names: Names) -> Iterator[tuple[str, Row]]:
    """As `_of_csv`: values become texts, so that they are checked as those of CSV are."""
    pa, parquet = arrow()
    try:
        opened = parquet.ParquetFile(pa.BufferReader(data))
        heads = _heads(file, names, opened.schema_arrow.names)
        number = 0
        for batch in opened.iter_batches(columns=list(heads.values())):
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", {name: _text(row[head]) for name, head in heads.items()}
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0][:100]
        raise _bad(file, f"is damaged: {reason}", None, "write it again") from error


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN, as some programs write what is missing
        return ""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip()


def _heads(file: Path, names: Names, found: list[str]) -> dict[str, str]:
    """The header of each column in the file."""
    known = {(head or "").strip().lower(): head for head in found}
    heads = {name: known[word] for name, words in names.items() for word in words[::-1] if word in known}
    missing = [name for name in names if name not in heads]
    if missing:
        raise _bad(
            file, f"has no column {', '.join(missing)}", "line 1", f"its columns must be {', '.join(names)}"
        )
    return heads


def _bad(file: Path, message: str, place: str | None, hint: str) -> WorkalikeError:
    return WorkalikeError(ErrorKind.BAD_FILE, message, file=file, place=place, hint=hint)


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"{text[:20]!r}... is not a count")
    number = int(text or "0")
    if "_" in text or not 0 <= number < 2**62:  # Python reads `1_0` as 10
        raise ValueError(f"{text!r} is not a count")
    return number


def _time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        when = datetime.fromisoformat(text)
        seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if not math.isfinite(seconds):
        raise ValueError(f"{text!r} is not a time")
    return seconds
