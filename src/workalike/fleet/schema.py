"""The tables of a fleet's database, as names and Parquet types (docs/reference/fleet-tables.md).

A part is one folder with a file for each table. `log_id` is the first 63 bits of the log's SHA-256, and connects the
tables; the whole hash is in `log`.
"""

from __future__ import annotations

from typing import Any

from workalike.darshan.bins import SIZE_BINS
from workalike.fleet.extras import arrow

VERSION = 4
"""Of the tables and of the manifest. A database of another version is not read."""
OLDER = {1, 2, 3}
"""Versions that ingestion brings to this one (`upgrade`). In 1 the table `finding` was always empty. Until 2, it had no
advice, and databases with a key had names of paths, mounts and programs. Until 3, logs had no slowest call."""
MARK = b"workalike_fleet"
"""The key in the metadata of a Parquet file: the version of its table."""

INT, REAL, TEXT, FLAG, SMALL = "int64", "float64", "string", "bool", "int16"
SIZES = "sizes"
"""Ten counts, one for each bin of sizes (`darshan.bins`)."""

Columns = dict[str, str]

LOG: Columns = {
    "log_id": INT,
    "sha256": TEXT,
    "site": TEXT,
    "job_id": INT,
    "user": TEXT,
    "application": TEXT,
    "start": REAL,
    "run_time": REAL,
    "nprocs": INT,
    "library": TEXT,
    "format": TEXT,
    "partial": TEXT,
    "warnings": INT,
    "files": INT,
    "bytes_read": INT,
    "bytes_written": INT,
    "reads": INT,
    "writes": INT,
    "opens": INT,
    "syncs": INT,
    "read_s": REAL,
    "write_s": REAL,
    "meta_s": REAL,
    "stdio_s": REAL,
    "stdio_meta_s": REAL,
    "io_s": REAL,
    "read_sizes": SIZES,
    "write_sizes": SIZES,
    "redundant_read": INT,
    "redundant_read_only": INT,
    "small_shared_writes": INT,
    "collective_writes": INT,
    "slowest_call": TEXT,
    "slowest_call_s": REAL,
    "slowest_call_bytes": INT,
    "signature": TEXT,
    "part": TEXT,
}
LOG_FS: Columns = {
    "log_id": INT,
    "mount": TEXT,
    "fs_type": TEXT,
    "files": INT,
    "bytes_read": INT,
    "bytes_written": INT,
    "reads": INT,
    "writes": INT,
    "opens": INT,
    "syncs": INT,
    "small": INT,
    "read_s": REAL,
    "write_s": REAL,
    "meta_s": REAL,
}
FAMILY: Columns = {
    "log_id": INT,
    "family": SMALL,
    "signature": TEXT,
    "role": TEXT,
    "interface": TEXT,
    "level": TEXT,
    "sharing": TEXT,
    "ranks": INT,
    "files": INT,
    "dumps": INT,
    "interval_s": REAL,
    "bytes_written": INT,
    "bytes_read": INT,
    "writes": INT,
    "reads": INT,
    "first_s": REAL,
    "last_s": REAL,
    "pattern": TEXT,
}
FILE: Columns = {
    "log_id": INT,
    "record_id": INT,
    "family": SMALL,
    "ranks": INT,
    "bytes_read": INT,
    "bytes_written": INT,
    "max_byte_read": INT,
    "read_s": REAL,
    "write_s": REAL,
    "meta_s": REAL,
}
TARGET: Columns = {
    "log_id": INT,
    "mount": TEXT,
    "target": INT,
    "bytes": INT,
    "seconds": REAL,
}
FINDING: Columns = {
    "log_id": INT,
    "rule": TEXT,
    "version": INT,
    "severity": TEXT,
    "answer": TEXT,
    "cost_s": REAL,
    "bound_s": REAL,
    "summary": TEXT,
    "evidence": TEXT,
    "advice": TEXT,
}
SOURCE: Columns = {
    "path": TEXT,
    "size": INT,
    "changed_ns": INT,
    "log_id": INT,
    "outcome": TEXT,
    "reason": TEXT,
}
ACCOUNTING: Columns = {
    "site": TEXT,
    "job_id": INT,
    "user": TEXT,
    "start": REAL,
    "end": REAL,
    "nodes": INT,
    "node_hours": REAL,
}
SERVER_LOAD: Columns = {
    "mount": TEXT,
    "minute": REAL,
    "bytes_read": INT,
    "bytes_written": INT,
    "operations": INT,
    "fullness": REAL,
}

OF_LOGS: dict[str, Columns] = {
    "log": LOG,
    "log_fs": LOG_FS,
    "family": FAMILY,
    "file": FILE,
    "target": TARGET,
    "finding": FINDING,
    "source": SOURCE,
}
"""The tables that ingestion of logs fills."""

TABLES: dict[str, Columns] = {**OF_LOGS, "accounting": ACCOUNTING, "server_load": SERVER_LOAD}

DUCK = {INT: "BIGINT", REAL: "DOUBLE", TEXT: "VARCHAR", FLAG: "BOOLEAN", SMALL: "SMALLINT", SIZES: "BIGINT[]"}
"""The types of columns in DuckDB."""

INGESTED, QUARANTINED, FILTERED, DUPLICATE = "ingested", "quarantined", "filtered", "duplicate"
"""What became of a file (`source.outcome`)."""


def arrow_schema(table: str) -> Any:
    """The Arrow schema of a table."""
    pa, _ = arrow()
    types = {
        INT: pa.int64(),
        REAL: pa.float64(),
        TEXT: pa.string(),
        FLAG: pa.bool_(),
        SMALL: pa.int16(),
        SIZES: pa.list_(pa.int64(), len(SIZE_BINS)),
    }
    fields = [pa.field(name, types[kind]) for name, kind in TABLES[table].items()]
    return pa.schema(fields, metadata={MARK: str(VERSION).encode(), b"table": table.encode()})
