"""A database of an older version -> one of this version, part by part. It may be killed, and goes on the next time."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workalike.diagnose.registry import all_rules
from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.compact import merged, remove_uncounted
from workalike.fleet.extras import arrow
from workalike.fleet.job_array import remove_results
from workalike.fleet.log_paths import keep_paths
from workalike.fleet.schema import MARK, OF_LOGS, QUARANTINED, TABLES, VERSION
from workalike.fleet.site import Site
from workalike.fleet.store import Part, Store, open_or_make, staging_folder

BY_CASE = {"small-writes", "unequal-ranks", "conflict", "slower-than-its-past"}
"""Rules whose advice depends on the case."""
_TYPES = re.compile(r"(?<=their file system is )[^;]+")
"""Where a finding names types of file systems."""


def open_to_write(folder: Path, site: Site) -> Store:
    """Open a database for ingestion, or make an empty one; an older one is brought to this version.

    All rows stay. With a key, names of paths, mounts and programs become pseudonyms, and the paths of logs go into the
    file of `log_paths`.

    Raises:
        WorkalikeError: as `open_or_make`; BAD_FILE where a part is damaged. The parts then stay as they are.
    """
    store = open_or_make(folder, site.key_mark, older=True)
    if store.about["workalike_fleet"] == VERSION:
        return store
    with staging_folder(store) as staging:
        for part in store.parts:
            if not _is_older(store, part, site):
                continue
            new = merged(
                store, [part], staging / "part", lambda table, rows: _changed(store, table, rows, site)
            )
            with store.locked():
                if part in store.parts:
                    store.commit(new, staging / "part")
            shutil.rmtree(staging / "part", ignore_errors=True)
    store.update_views()
    if site.hides:
        remove_uncounted(store, grace_s=0.0)  # the old parts have names
        remove_results(store)
    store.keep_version()
    return store


def _is_older(store: Store, part: Part, site: Site) -> bool:
    """Whether an older version has written the part; tables that are no log's have changed for keys only."""
    pa, parquet = arrow()
    tables = [table for table in (TABLES if site.hides else OF_LOGS) if part.tables.get(table)]
    try:
        versions = {(parquet.read_schema(store.file(part, t)).metadata or {}).get(MARK) for t in tables}
    except (OSError, pa.ArrowException) as error:
        raise WorkalikeError(
            ErrorKind.BAD_FILE,
            f"part {part.part} cannot be read: {str(error).splitlines()[0]}",
            file=store.folder,
            hint="restore the part from a copy",
        ) from error
    return bool(versions - {str(VERSION).encode()})


def _changed(store: Store, table: str, rows: Any, site: Site) -> Any:
    """The rows of a table with all columns, without names where the site has a key."""
    if table == "finding" and "advice" not in rows.column_names:
        pa, _ = arrow()
        advice = [_advice(rule) for rule in rows["rule"].to_pylist()]
        rows = rows.append_column("advice", pa.array(advice, pa.string()))
    if table == "log" and "slowest_call_s" not in rows.column_names:
        pa, _ = arrow()
        unknown = {
            "slowest_call": pa.string(),
            "slowest_call_s": pa.float64(),
            "slowest_call_bytes": pa.int64(),
        }
        for name, kind in unknown.items():
            rows = rows.append_column(name, pa.nulls(len(rows), kind))
    if not site.hides:
        return rows
    if table == "source":
        keep_paths(store, site, rows["path"].to_pylist())
        reasons = zip(rows["reason"].to_pylist(), rows["outcome"].to_pylist(), strict=True)
        hidden = ["damaged log" if outcome == QUARANTINED else why for why, outcome in reasons]
        rows = _with(rows, "reason", hidden)
    shown: dict[tuple[str, str], Callable[[Any], Any]] = {
        ("source", "path"): site.shown_path,
        ("log", "application"): site.shown_application,
        ("log", "library"): site.shown_library,
        ("log_fs", "mount"): site.shown_mount,
        ("log_fs", "fs_type"): site.shown_type,
        ("target", "mount"): site.shown_mount,
        ("server_load", "mount"): site.shown_mount,
        ("file", "record_id"): site.shown_id,
        ("finding", "evidence"): lambda text: _evidence(text, site),
    }
    for (name, column), show in shown.items():
        if name == table:
            rows = _with(rows, column, [show(value) for value in rows[column].to_pylist()])
    return rows


def _advice(rule: str) -> str | None:
    """What a finding of an older version advised; None where that was decided by what the row does not have."""
    known = all_rules().get(rule)
    if rule in BY_CASE:
        return None
    return known.advice if known else ""


def _with(rows: Any, column: str, values: list[Any]) -> Any:
    pa, _ = arrow()
    place = rows.schema.get_field_index(column)
    kind = rows.schema.field(column)
    return rows.set_column(place, kind, pa.array(values, kind.type))


def _evidence(text: str, site: Site) -> str:
    """The evidence of a finding, whose assumption may name types of file systems."""
    try:
        found = json.loads(text)
        found["assumes"] = _TYPES.sub(
            lambda match: ", ".join(site.shown_type(kind) for kind in match[0].split(", ")), found["assumes"]
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return "{}"
    return json.dumps(found)
