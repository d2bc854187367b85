"""Counts by file that several rules share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.darshan.bins import SIZE_BINS
from workalike.diagnose.job import Job
from workalike.facts.counters import ACCESSES, COUNTS
from workalike.facts.records import BoolArray, FloatArray, IntArray

MIB = 2**20
SMALL_BINS = SIZE_BINS[:5]
"""Bins up to 1 MiB; the last one holds accesses of exactly 1 MiB, too."""

OPENED = {"POSIX": ("OPENS",), "STDIO": ("OPENS",), "MPI-IO": ("INDEP_OPENS", "COLL_OPENS")}


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """The quotient, 0 where there is nothing below."""
    out: FloatArray = np.divide(above, below, out=np.zeros(len(below)), where=below > 0)
    return out


def small(job: Job, kind: str) -> FloatArray:
    """float64[N], POSIX reads or writes (`kind` READ or WRITE) below 1 MiB, at least.

    Accesses of exactly 1 MiB share a bin with smaller ones; the common sizes tell how many there are, of both
    directions together: as many as possible are taken to be of this one. Where POSIX lost most of what MPI-IO moved,
    its counts do not describe the file, and none are small.
    """
    return job.once(f"small {kind}", lambda _: _small(job, kind))


def _small(job: Job, kind: str) -> FloatArray:
    out = job.total("POSIX", *(f"SIZE_{kind}_{name}" for name in SMALL_BINS))
    table = job.module("POSIX")
    if table is None:
        return out
    exact = np.zeros(len(job))
    for size, count in zip(ACCESSES, COUNTS, strict=True):
        hit = np.flatnonzero(table.column(size) == MIB)
        if len(hit):
            np.add.at(exact, table.file[hit], table.column(count)[hit].clip(0).astype(np.float64))
    name = "BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"
    whole = 2 * job.total("POSIX", name) >= job.total("MPI-IO", name)
    below = out - np.minimum(exact, job.total("POSIX", f"SIZE_{kind}_{SMALL_BINS[-1]}"))
    return np.asarray(np.where(whole, below.clip(0), 0.0))


def opens(job: Job) -> FloatArray:
    """float64[N], opens in POSIX and STDIO, without duplicated descriptors; of an HDF5 file those of HDF5, if fewer.

    HDF5 opens an existing file twice: to see whether it is one, and then as it was asked to.
    """
    return job.once("opens", _opens)


def _opens(job: Job) -> FloatArray:
    real = job.total("POSIX", "OPENS") - job.total("POSIX", "FILENOS", "DUPS")
    out: FloatArray = real.clip(0) + (job.total("STDIO", "OPENS") - job.total("STDIO", "FDOPENS")).clip(0)
    asked = job.total("H5F", "OPENS")
    return np.where(asked > 0, np.minimum(out, asked), out)


def opens_per_rank(job: Job) -> FloatArray:
    return job.once(
        "opens per rank", lambda _: ratio(opens(job), np.maximum(job.ranks, 1).astype(np.float64))
    )


def bytes_of(job: Job, kind: str) -> FloatArray:
    """float64[N], bytes read or written (`kind` READ or WRITE) in POSIX and STDIO."""
    name = "BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"
    return job.total("POSIX", name) + job.total("STDIO", name)


def nodes_of(job: Job) -> int | None:
    """Nodes of the job: by the hosts of a trace of all ranks, or by the site's ranks per node; None if neither tells."""
    hosts: set[bytes] = set()
    ranks: set[int] = set()
    for log in job.logs:
        for module in ("DXT_POSIX", "DXT_MPIIO"):
            table = log.dxt(module)
            if table is not None:
                hosts.update(table.hostnames.tolist())
                ranks.update(table.ranks.tolist())
    if len(hosts) and len(ranks) >= job.nprocs // len(job.logs):
        return len(hosts)
    return -(-job.nprocs // job.ranks_per_node) if job.ranks_per_node else None


@dataclass(frozen=True)
class Traced:
    """Seconds and bytes of each rank by the trace, float64[P]; the ranks of each host; bool[N], the files in it."""

    seconds: FloatArray
    bytes: FloatArray
    ranks_of_hosts: list[IntArray]
    files: BoolArray


def traced_ranks(job: Job) -> Traced | None:
    """What the POSIX trace of a job of one log says of each rank; None without one of all ranks."""
    table = job.logs[0].dxt("DXT_POSIX") if len(job.logs) == 1 else None
    if table is None or len(np.unique(table.ranks)) < job.nprocs:
        return None
    spent, moved = np.zeros(job.nprocs), np.zeros(job.nprocs)
    rows = {number: row for row, number in enumerate(job.facts.record_ids.tolist()) if job.own[row]}
    row_of = np.array([rows.get(number, -1) for number in table.ids.tolist()], dtype=np.int64)
    files = np.zeros(len(job), dtype=bool)
    files[row_of[row_of >= 0]] = True
    for records, _, segments in table.chunks():
        with np.errstate(invalid="ignore"):  # times of a damaged trace
            taken = segments["end"] - segments["start"]
        taken = np.where(np.isfinite(taken), taken, 0.0).clip(0, job.run_time)
        known = row_of[records] >= 0
        ranks = table.ranks[records[known]]
        spent += np.bincount(ranks, taken[known], minlength=job.nprocs)
        moved += np.bincount(ranks, segments["length"][known].clip(0), minlength=job.nprocs)
    host_of_rank = dict(zip(table.ranks.tolist(), table.hostnames.tolist(), strict=True))
    hosts: dict[bytes, list[int]] = {}
    for rank, host in sorted(host_of_rank.items()):
        hosts.setdefault(host, []).append(rank)
    return Traced(spent, moved, [np.array(ranks, dtype=np.int64) for ranks in hosts.values()], files)


def by_rank(job: Job, module: str, counters: tuple[str, ...]) -> dict[int, FloatArray]:
    """Family -> float64[P], the sum of counters of records of one rank each; families with a reduced record are out."""
    table = job.module(module)
    if table is None:
        return {}
    values = np.zeros(len(table))
    for name in counters:
        if name in table.counter_names:
            values += table.column(name).clip(0)
        else:
            column = table.fcounters[:, table.fcounter_names.index(name)]
            values += np.where(np.isfinite(column), column, 0.0).clip(0, max(job.run_time, 0.0))
    families = job.family[table.file]
    out: dict[int, FloatArray] = {}
    usable = job.own[table.file]
    reduced = np.unique(families[usable & (table.ranks < 0)])
    usable &= ~np.isin(families, reduced)
    order = np.flatnonzero(usable)
    order = order[np.argsort(families[order], kind="stable")]
    cuts = np.flatnonzero(np.diff(families[order])) + 1
    for rows in np.split(order, cuts) if len(order) else []:
        out[int(families[rows[0]])] = np.bincount(
            table.ranks[rows], values[rows], minlength=job.nprocs
        ).astype(np.float64)
    return out


def _place(job: Job, name: str) -> tuple[FloatArray, FloatArray]:
    """(file, value) of the reduced POSIX records of one floating-point counter."""
    table = job.module("POSIX")
    if table is None:
        return np.zeros(0), np.zeros(0)
    reduced = np.flatnonzero(table.ranks < 0)
    names = table.fcounter_names
    values = (
        table.fcounters[reduced, names.index(name)]
        if name in names
        else table.column(name)[reduced].astype(np.float64)
    )
    return table.file[reduced].astype(np.float64), np.where(np.isfinite(values), values, 0.0)


def writers(job: Job) -> FloatArray:
    """float64[N], effective ranks that move the data of a file in POSIX; 0 where the log does not tell.

    Of a reduced record: n / (1 + variance x n^2 / bytes^2), exact where shares are equal. Of records of one rank:
    (sum of bytes)^2 / sum of squares.
    """
    out = np.zeros(len(job))
    table = job.module("POSIX")
    if table is None:
        return out
    moved = table.column("BYTES_READ").clip(0).astype(np.float64) + table.column("BYTES_WRITTEN").clip(0)
    single = table.ranks >= 0
    sums, squares = np.zeros(len(job)), np.zeros(len(job))
    np.add.at(sums, table.file[single], moved[single])
    np.add.at(squares, table.file[single], moved[single] ** 2)
    out = ratio(sums**2, squares)
    file, variance = _place(job, "F_VARIANCE_RANK_BYTES")
    if len(file):
        rows = file.astype(np.int64)
        total = moved[~single]
        spread = np.divide(variance * job.nprocs**2, total**2, out=np.zeros(len(total)), where=total > 0)
        known = (variance > 0) & (total > 0)
        out[rows[known]] = job.nprocs / (1 + spread[known])
    return out


def hidden_ranks(job: Job) -> str:
    """Why reduced records do not tell the slowest rank of the job; empty where they do, or there are none."""
    if len(job.logs) == 1 or not len(_place(job, "F_SLOWEST_RANK_TIME")[0]):
        return ""
    return "a job of several logs: a reduced record tells the slowest rank of its log, not of the job"


def slowest_of(job: Job) -> list[tuple[int, int, float, float]]:
    """(file, rank, seconds, bytes) of the slowest rank of each file with one reduced POSIX record."""
    file, seconds = _place(job, "F_SLOWEST_RANK_TIME")
    _, rank = _place(job, "SLOWEST_RANK")
    _, size = _place(job, "SLOWEST_RANK_BYTES")
    limit = max(job.run_time, 0.0)
    rows = zip(file.tolist(), rank.tolist(), seconds.tolist(), size.tolist(), strict=True)
    return [
        (int(f), int(r), min(s, limit), max(b, 0.0)) for f, r, s, b in rows if s > 0 and len(job.logs) == 1
    ]


def ranks_writing(job: Job, rows: BoolArray) -> int:
    """Ranks that wrote some files, by the records of one rank; at least 1. Reduced records do not tell."""
    found: set[int] = set()
    for module in ("POSIX", "STDIO"):
        table = job.module(module)
        if table is not None:
            used = rows[table.file] & (table.ranks >= 0) & (table.column("BYTES_WRITTEN") > 0)
            found.update(table.ranks[used].tolist())
    return max(len(found), 1)
