"""One log -> its rows in the tables of the database."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workalike.darshan import Log, open_log
from workalike.diagnose.job import Job, read_job
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.columns import Facts
from workalike.facts.mounts import mounts_of
from workalike.facts.records import BoolArray, IntArray
from workalike.facts.slowest_call import slowest_call
from workalike.fleet import measures
from workalike.fleet.families import Families, Row, families
from workalike.fleet.findings import findings_of
from workalike.fleet.measures import Sums
from workalike.fleet.site import Site

LARGEST_LOG = 4 << 30
"""Bytes; a larger file is not a log."""
LONGEST_WORD = 120
"""Characters of a program's name that are stored."""
MOST_TARGETS = 4096
"""Storage targets of one file; a record with more is damaged."""

Columns = dict[str, IntArray]


class ChangedError(WorkalikeError):
    """A log changed while it was read: it may be unfinished, and is not a damaged one."""


@dataclass(frozen=True)
class LogRows:
    """The rows of one log by table; those of `file` are whole columns, since there may be a hundred thousand."""

    log_id: int
    rows: dict[str, list[Row]]
    files: dict[str, Any]


@dataclass(frozen=True)
class Filtered:
    """A log that the site's filters leave out."""

    log_id: int
    reason: str


def identity(path: Path) -> tuple[str, os.stat_result]:
    """The SHA-256 of a file, and what `stat` said before it was read.

    Raises:
        WorkalikeError: MISSING where it cannot be read, UNSUPPORTED_LOG where it is not a regular file or far too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise WorkalikeError(
            ErrorKind.MISSING, error.strerror or "cannot be read", file=path, hint="check its rights"
        ) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not os.path.isfile(path) or status.st_size > LARGEST_LOG:  # noqa: PTH113
            raise WorkalikeError(
                ErrorKind.UNSUPPORTED_LOG, "is not a log", file=path, hint="name Darshan logs"
            )
        return hashlib.file_digest(file, "sha256").hexdigest(), status


def log_id_of(sha256: str) -> int:
    """The first 63 bits of the hash."""
    return int(sha256[:16], 16) >> 1


def rows_of(path: Path, site: Site) -> LogRows | Filtered:
    """Everything that the database holds of one log.

    Raises:
        WorkalikeError: as the log's reader; ChangedError where it changed while it was read.
    """
    sha256, before = identity(path)
    try:
        log = open_log(path)
        log.job = replace(log.job, mounts=[(site.shown_type(kind), at) for kind, at in log.job.mounts])
        user, application = site.user_of(log.job.uid), site.application_of(program_of(log.job.exe))
        reason = site.refuses(user, application, log.job.start_time)
        found = {} if reason else _tables(log, read_job([log]), site)
    except Exception:  # an unfinished log looks like a damaged one, and may fail in any way
        _refuse_changed(path, before)
        raise
    _refuse_changed(path, before)
    if reason:
        return Filtered(log_id_of(sha256), reason)
    return _finished(found, log, sha256, site)


def _refuse_changed(path: Path, before: os.stat_result) -> None:
    after = path.stat()
    if (after.st_size, after.st_mtime_ns, after.st_ino) != (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    ):
        raise ChangedError(
            ErrorKind.DAMAGED_LOG, "changed while it was read", file=path, hint="it is read again next time"
        )


def log_rows(log: Log, site: Site) -> LogRows:
    """Everything that the database would hold of an opened log, whatever the site's filters.

    Raises:
        WorkalikeError: as the log's reader.
    """
    sha256, _ = identity(log.path)
    return _finished(_tables(log, read_job([log]), site), log, sha256, site)


def _finished(found: dict[str, list[Row]], log: Log, sha256: str, site: Site) -> LogRows:
    """The rows with the identity of their log."""
    log_id = log_id_of(sha256)
    found["log"][0] |= {
        "sha256": sha256,
        "site": site.name,
        "user": site.shown_user(site.user_of(log.job.uid)),
        "application": site.shown_application(site.application_of(program_of(log.job.exe))),
        "library": site.shown_library(found["log"][0]["library"]),
    }
    for table, rows in found.items():
        for each in rows:
            each["log_id"] = log_id
            if table in ("log_fs", "target"):
                each["mount"] = site.shown_mount(each["mount"])
    files = found.pop("file")[0]
    if site.hides:
        files["record_id"] = np.array([*map(site.shown_id, files["record_id"].tolist())], dtype=np.int64)
    return LogRows(log_id, found, files | {"log_id": np.full(len(files["record_id"]), log_id)})


def program_of(command: str) -> str:
    """The name of the program in a command line, without its folder; `unknown` where the log has none."""
    words = command.split(maxsplit=1)
    name = PurePosixPath(words[0]).name if words else ""
    return name[:LONGEST_WORD] or "unknown"


def _tables(log: Log, job: Job, site: Site) -> dict[str, list[Row]]:
    facts = job.facts
    kept = job.own
    sums = {module: measures.sums_of(facts, module) for module in ("POSIX", "MPI-IO", "STDIO")}
    found = families(facts, kept, names=site.keeps_names)
    mounts = mounts_of(facts.names, log.job.mounts)
    return {
        "log": [_log_row(log, facts, sums, kept, found)],
        "log_fs": _fs_rows(log, facts, sums, kept, mounts),
        "family": found.rows,
        "file": [_file_columns(facts, sums, kept, found)],
        "target": _target_rows(log, facts, sums, kept, mounts),
        "finding": findings_of(job, site.rules),
    }


def _log_row(log: Log, facts: Facts, sums: dict[str, Sums], kept: BoolArray, found: Families) -> Row:
    posix, mpi, stdio = sums["POSIX"], sums["MPI-IO"], sums["STDIO"]
    by_mpi = kept & mpi.present
    by_posix = kept & ~mpi.present
    redundant, collective = measures.redundant_reads(facts), measures.collective_writes(facts)
    alone = posix.shared & (collective == 0)
    slowest = slowest_call(facts, kept)
    return {
        "job_id": log.job.job_id,
        "start": log.job.start_time,
        "run_time": facts.run_time,
        "nprocs": log.job.nprocs,
        "library": log.job.metadata.get("lib_ver", "")[:LONGEST_WORD],
        "format": log.format_version,
        "partial": ",".join(sorted({*facts.partial_modules, *facts.unreadable_modules})),
        "warnings": len(log.warnings),
        "files": int(kept.sum()),
        "bytes_read": _total(posix.bytes_read, kept) + _total(stdio.bytes_read, kept),
        "bytes_written": _total(posix.bytes_written, kept) + _total(stdio.bytes_written, kept),
        "reads": _total(posix.reads, kept) + _total(stdio.reads, kept),
        "writes": _total(posix.writes, kept) + _total(stdio.writes, kept),
        "opens": _total(posix.opens, kept) + _total(stdio.opens, kept),
        "syncs": _total(posix.syncs, kept) + _total(stdio.syncs, kept),
        "read_s": _seconds(mpi.read_s, by_mpi) + _seconds(posix.read_s, by_posix),
        "write_s": _seconds(mpi.write_s, by_mpi) + _seconds(posix.write_s, by_posix),
        "meta_s": _seconds(mpi.meta_s, by_mpi) + _seconds(posix.meta_s, by_posix),
        "stdio_s": _seconds(stdio.read_s, kept) + _seconds(stdio.write_s, kept),
        "stdio_meta_s": _seconds(stdio.meta_s, kept),
        "io_s": measures.slowest_rank_seconds(facts, kept),
        "read_sizes": measures.sizes_of(facts, "READ", kept),
        "write_sizes": measures.sizes_of(facts, "WRITE", kept),
        "redundant_read": _total(redundant, kept),
        "redundant_read_only": _total(redundant, kept & (posix.bytes_written == 0)),
        "small_shared_writes": _total(measures.small_writes(facts), kept & alone),
        "collective_writes": _total(collective, kept),
        "slowest_call": slowest.words if slowest else "",
        "slowest_call_s": slowest.seconds if slowest else None,
        "slowest_call_bytes": slowest.bytes if slowest else None,
        "signature": hashlib.sha256("\n".join(r["signature"] for r in found.rows).encode()).hexdigest()[:16]
        if found.rows
        else "",
    }


def _total(values: IntArray, kept: BoolArray) -> int:
    return int(min(measures.MOST, sum(values[kept].tolist())))


def _seconds(values: Any, kept: BoolArray) -> float:
    return fsum(values[kept].tolist())


def _fs_rows(
    log: Log, facts: Facts, sums: dict[str, Sums], kept: BoolArray, mounts: list[tuple[str, str]]
) -> list[Row]:
    places: dict[tuple[str, str], list[int]] = {}
    for file in np.flatnonzero(kept).tolist():
        places.setdefault(mounts[file], []).append(file)
    small = measures.small_writes(facts)
    out = []
    for (mount, fs_type), rows in sorted(places.items()):
        here = np.zeros(len(facts), dtype=bool)
        here[rows] = True
        both = [sums["POSIX"], sums["STDIO"]]
        row: Row = {"mount": mount, "fs_type": fs_type, "files": len(rows), "small": _total(small, here)}
        for name in ("bytes_read", "bytes_written", "reads", "writes", "opens", "syncs"):
            row[name] = min(measures.MOST, sum(_total(getattr(s, name), here) for s in both))
        for name in ("read_s", "write_s", "meta_s"):
            row[name] = sum(_seconds(getattr(s, name), here) for s in both)
        out.append(row)
    return out


def _file_columns(facts: Facts, sums: dict[str, Sums], kept: BoolArray, found: Families) -> Row:
    posix, stdio = sums["POSIX"], sums["STDIO"]
    moved = posix.bytes_read + stdio.bytes_read + posix.bytes_written + stdio.bytes_written > 0
    rows = np.flatnonzero(kept & moved)
    ranks = np.ones(len(facts), dtype=np.int64)
    extent = np.zeros(len(facts), dtype=np.int64)
    for module in ("POSIX", "STDIO"):
        records = facts.modules.get(module)
        if records is not None:
            members = np.where(records.ranks < 0, facts.nprocs, 1)
            ranks = np.maximum(ranks, measures.per_file(records, members, len(facts)))
            furthest = measures.largest_per_file(records, records.column("MAX_BYTE_READ"), len(facts))
            extent = np.maximum(extent, furthest)
    return {
        "record_id": facts.record_ids.view(np.int64)[rows],
        "family": found.of_file[rows].astype(np.int16),
        "ranks": np.minimum(ranks, facts.nprocs)[rows],
        "bytes_read": np.minimum(posix.bytes_read + stdio.bytes_read, measures.MOST)[rows],
        "bytes_written": np.minimum(posix.bytes_written + stdio.bytes_written, measures.MOST)[rows],
        "max_byte_read": extent[rows],
        "read_s": (posix.read_s + stdio.read_s)[rows],
        "write_s": (posix.write_s + stdio.write_s)[rows],
        "meta_s": (posix.meta_s + stdio.meta_s)[rows],
    }


def _target_rows(
    log: Log, facts: Facts, sums: dict[str, Sums], kept: BoolArray, mounts: list[tuple[str, str]]
) -> list[Row]:
    """Bytes and seconds by storage target. A file's are spread evenly over its targets, which are striped."""
    place = {number: row for row, number in enumerate(facts.record_ids.tolist())}
    posix = sums["POSIX"]
    moved = (posix.bytes_read + posix.bytes_written).tolist()
    spent = (posix.read_s + posix.write_s).tolist()
    found: dict[tuple[str, int], list[float]] = {}
    seen = set()
    table = log.lustre()
    for number, record in enumerate(table.ids.tolist()):
        row = place.get(record)
        if row is None or row in seen or not kept[row] or not moved[row]:
            continue
        targets = table[number].osts.tolist()
        if not 0 < len(targets) <= MOST_TARGETS:
            continue
        seen.add(row)
        mount, share, seconds = mounts[row][0], moved[row] / len(targets), spent[row] / len(targets)
        for target in targets:
            if target >= 0:
                entry = found.setdefault((mount, target), [0.0, 0.0])
                entry[0] += share
                entry[1] += seconds
    return [
        {"mount": mount, "target": target, "bytes": min(round(size), measures.MOST), "seconds": seconds}
        for (mount, target), (size, seconds) in sorted(found.items())
    ]
