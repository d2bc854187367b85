"""Housekeeping of a database: what killed ingestions left goes, and many small parts become few.

Ingestion every five minutes makes hundreds of small parts a day, and a query opens each of them.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.extras import arrow
from workalike.fleet.part_writer import write_tables
from workalike.fleet.schema import OF_LOGS, TABLES, arrow_schema
from workalike.fleet.store import PARTS, STAGING, Part, Store, staging_folder
from workalike.leftovers import remove_leftovers

SMALL_LOGS = 2000
"""Logs of a part below which it is merged with others of its month."""
MOST_LOGS, MOST_FILE_ROWS = 20_000, 5_000_000
"""Of a merged part."""
GRACE_S = 3600.0
"""Seconds for which a part that was merged stays on disk, for who is still reading it."""


@dataclass
class Compacted:
    """What a compaction did. `orphans` are parts that a killed ingestion had not committed."""

    merged: int = 0
    into: int = 0
    orphans: int = 0
    removed: int = 0


def compact(store: Store, *, grace_s: float = GRACE_S) -> Compacted:
    """Merge small parts, and remove what no longer counts.

    The database has the same rows before and after, and at any time between, also if this is killed.

    Raises:
        WorkalikeError: CANNOT_WRITE; the parts then stay as they are.
    """
    store.refresh()
    done = Compacted()
    with staging_folder(store) as staging:
        for group in _groups(store):
            part = merged(store, group, staging / "part")
            with store.locked():
                if all(old in store.parts for old in group):  # else another compaction was faster
                    store.commit(part, staging / "part")
                    done.merged += len(group)
                    done.into += 1
            shutil.rmtree(staging / "part", ignore_errors=True)
    done.orphans, done.removed = remove_uncounted(store, grace_s=grace_s)
    if done.into or store.views_are_old():
        store.update_views()
    return done


def remove_uncounted(store: Store, *, grace_s: float | None = None) -> tuple[int, int]:
    """Remove scratch files of killed processes, and folders of parts that do not count.

    Returns (folders that were never committed, folders that were merged into others).

    Parts that were merged stay for `grace_s` seconds; None leaves them. A part is moved into place and committed under
    the lock of all writers, so a folder without a line is of a killed ingestion.
    """
    orphans = removed = 0
    if (store.folder / STAGING).is_dir():
        remove_leftovers(store.folder / STAGING)
    with store.locked():
        counted = {part.part for part in store.parts}
        for folder in (store.folder / PARTS).glob("*/*"):
            name = f"{folder.parent.name}/{folder.name}"
            if name in counted or not folder.is_dir():
                continue
            replaced = store.replaced.get(name)
            if replaced is None:
                orphans += 1
            elif grace_s is not None and _age_s(store, replaced) >= grace_s:
                removed += 1
            else:
                continue
            shutil.rmtree(folder, ignore_errors=True)
    return orphans, removed


def _age_s(store: Store, part: str) -> float:
    """Seconds since a merged part was written; it may have been merged again and gone since."""
    try:
        return time.time() - (store.folder / PARTS / part).stat().st_mtime
    except OSError:
        return float("inf")


def _groups(store: Store) -> list[list[Part]]:
    """Small parts of logs that become one: of the same month, in the order of the manifest."""
    months: dict[str, list[Part]] = defaultdict(list)
    for part in store.parts:
        ours = set(part.tables) <= set(OF_LOGS)
        if ours and part.tables.get("log", 0) < SMALL_LOGS and part.tables.get("file", 0) < MOST_FILE_ROWS:
            months[part.part.partition("/")[0]].append(part)
    groups: list[list[Part]] = []
    for parts in months.values():
        group: list[Part] = []
        logs = files = 0
        for part in parts:
            logs += part.tables.get("log", 0)
            files += part.tables.get("file", 0)
            if group and (logs > MOST_LOGS or files > MOST_FILE_ROWS):
                groups.append(group)
                group, logs, files = [], part.tables.get("log", 0), part.tables.get("file", 0)
            group.append(part)
        groups.append(group)
    return [group for group in groups if len(group) > 1]


def merged(
    store: Store,
    group: list[Part],
    folder: Path,
    change: Callable[[str, Any], Any] = lambda _, rows: rows,
) -> Part:
    """Write one part with the rows of several; `change` is given the name and the rows of each file.

    Raises:
        WorkalikeError: BAD_FILE where a part is damaged, CANNOT_WRITE.
    """
    pa, parquet = arrow()
    month = group[0].part.partition("/")[0]
    digest = hashlib.sha256("\n".join(part.part for part in group).encode()).hexdigest()
    name = f"{month}/{digest[:20]}"
    tables: dict[str, Any] = {}
    try:
        for table in TABLES:
            files = [store.file(part, table) for part in group if part.tables.get(table)]
            if not files:
                continue
            schema = arrow_schema(table)
            tables_read = (change(table, parquet.read_table(file)) for file in files)
            rows = pa.concat_tables([_with_columns(each, schema) for each in tables_read])
            if table == "log":
                place = rows.schema.get_field_index("part")
                rows = rows.set_column(
                    place, schema.field("part"), pa.array([name] * rows.num_rows, pa.string())
                )
            if table == "file":  # one log's rows lie together, so that they are read without the others
                rows = rows.sort_by("log_id")
            tables[table] = rows
    except (OSError, pa.ArrowException) as error:
        raise WorkalikeError(
            ErrorKind.BAD_FILE, str(error).splitlines()[0], file=folder, hint="restore the part from a copy"
        ) from error
    write_tables(folder, tables)
    starts = [s for part in group for s in (part.first, part.last) if s is not None]
    return Part(
        name,
        {table: rows.num_rows for table, rows in tables.items()},
        min(starts, default=None),
        max(starts, default=None),
        tuple(part.part for part in group),
    )


def _with_columns(rows: Any, schema: Any) -> Any:
    """A table with the columns of the schema."""
    return rows.select(schema.names).cast(schema)
