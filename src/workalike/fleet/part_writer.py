"""Rows of several logs -> the Parquet files of one part."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from workalike.errors import ErrorKind, WorkalikeError
from workalike.fleet.extras import arrow
from workalike.fleet.rows import LogRows
from workalike.fleet.schema import FILE, OF_LOGS, arrow_schema
from workalike.fleet.store import Part

MOST_FILE_ROWS = 1_000_000
"""Rows of `file` after which a part is written, so that memory does not grow with the logs."""
ROW_GROUP = 100_000


@dataclass
class Gathered:
    """Rows of a part that is not written yet."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)
    file_rows: int = 0

    @property
    def is_full(self) -> bool:
        return self.file_rows >= MOST_FILE_ROWS

    def add(self, found: LogRows) -> None:
        for table, rows in found.rows.items():
            self.rows.setdefault(table, []).extend(rows)
        if len(found.files["record_id"]):
            self.files.append(found.files)
            self.file_rows += len(found.files["record_id"])
        self.ids.add(found.log_id)

    def add_source(self, row: dict[str, Any]) -> None:
        self.rows.setdefault("source", []).append(row)

    def write(self, folder: Path) -> Part:
        """Write the tables into a folder, which is made; returns the part's line of the manifest.

        Raises:
            WorkalikeError: CANNOT_WRITE.
        """
        pa, _ = arrow()
        logs = self.rows.get("log", [])
        starts = [row["start"] for row in logs]
        name = part_name(
            sorted(starts)[len(starts) // 2] if starts else None,
            [f"{row['log_id']} {row['path']}" for row in self.rows.get("source", [])],
        )
        for row in logs:
            row["part"] = name
        tables = {t: pa.Table.from_pylist(rows, arrow_schema(t)) for t, rows in self.rows.items() if rows}
        if self.files:
            ordered = sorted(self.files, key=lambda columns: int(columns["log_id"][0]))
            joined = {n: np.concatenate([columns[n] for columns in ordered]) for n in FILE}
            tables["file"] = pa.table(joined, schema=arrow_schema("file"))
        write_tables(folder, tables)
        return Part(name, {t: tables[t].num_rows for t in OF_LOGS if t in tables}, *_ends(starts))


def part_name(start: float | None, inputs: list[str]) -> str:
    """MONTH/HASH: the month of the logs, and the hash of what the part was made from."""
    month = "none"
    if start is not None and 0 <= start < 2**37:
        month = datetime.fromtimestamp(start, UTC).strftime("%Y-%m")
    return f"{month}/{hashlib.sha256(chr(10).join(sorted(inputs)).encode(errors='replace')).hexdigest()[:20]}"


def write_tables(folder: Path, tables: dict[str, Any]) -> None:
    """Write tables as Parquet files of a folder, which is made if only it is missing.

    Its parent must be there: the worker of a killed ingestion may not bring back what another one has removed.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    pa, parquet = arrow()
    try:
        folder.mkdir(exist_ok=True)
        for name, table in tables.items():
            parquet.write_table(
                table, folder / f"{name}.parquet", compression="zstd", row_group_size=ROW_GROUP
            )
    except (OSError, pa.ArrowException) as error:
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE,
            getattr(error, "strerror", None) or str(error).splitlines()[0],
            file=folder,
            hint="check space and rights",
        ) from error


def _ends(starts: list[float]) -> tuple[float | None, float | None]:
    return (min(starts), max(starts)) if starts else (None, None)
