"""A very large made-up fleet, straight as Parquet parts: no logs are written or read.

Its jobs match the numbers of the Cray XE6 paper's tables: 671 jobs of 37 users read redundantly, 252 of 45 users
have metadata, 72 of these are in both lists, and 220 of 11 users write small pieces. Half of the other jobs are runs of
a few workloads, whose rates scatter, with slow ones among them (`slow_jobs`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from workalike.darshan.bins import SIZE_BINS
from workalike.diagnose.registry import all_rules
from workalike.fleet.extras import arrow
from workalike.fleet.generate.habits import START
from workalike.fleet.part_writer import write_tables
from workalike.fleet.schema import FILE, LOG, arrow_schema
from workalike.fleet.store import STAGING, Part, Store
from workalike.leftovers import scratch_folder

JOBS_OF_PART = 2000
REDUNDANT, METADATA, BOTH, SMALL = 671, 252, 72, 220
REDUNDANT_USERS, METADATA_USERS, SMALL_USERS = 37, 45, 11
USERS = 600
APPLICATIONS = 80
LEAST_JOBS = REDUNDANT + METADATA + SMALL
TIB = 2**40
WORKLOADS = 100
"""That are run again and again; all other jobs are hardly ever alike."""
SLOW_EVERY, SLOWER = 40, 12.0
"""Of the runs of such a workload one in so many is slow, by this factor."""
RUN_S, USUAL_IO_S, SCATTER = 3600.0, 40.0, 0.1
"""Of its runs: seconds, seconds in I/O, and the deviation of the logarithm of these."""


def write_parts(
    store: Store, jobs: int, files_per_job: int = 573, *, seed: int = 1, days: float = 72.0
) -> int:
    """Add so many jobs to an empty database; returns the number of rows of `file`.

    Raises:
        ValueError: there are fewer jobs than the paper's tables list.
        WorkalikeError: CANNOT_WRITE.
    """
    if jobs < LEAST_JOBS:
        raise ValueError(f"{jobs} jobs are too few")
    random = np.random.default_rng(seed)
    order = random.permutation(jobs)
    turns = _turns(order)
    parent = store.folder / STAGING
    parent.mkdir(exist_ok=True)
    total = 0
    with scratch_folder(parent) as staging:
        for first in range(0, jobs, JOBS_OF_PART):
            places = order[first : first + JOBS_OF_PART]
            name = f"made/{hashlib.sha256(f'{seed} {jobs} {first}'.encode()).hexdigest()[:20]}"
            starts = START + (first + np.arange(len(places))) / jobs * days * 86400
            tables = _tables(random, places, starts, name, files_per_job)
            again = turns[first : first + JOBS_OF_PART]
            tables["log"] = _with_runs(tables["log"], places, again, np.random.default_rng([seed, first]))
            write_tables(staging / "part", tables)
            part = Part(
                name, {t: table.num_rows for t, table in tables.items()}, float(starts[0]), float(starts[-1])
            )
            with store.locked():
                store.commit(part, staging / "part")
            total += tables["file"].num_rows
    store.update_views()
    return total


def slow_jobs(jobs: int, *, seed: int = 1) -> list[int]:
    """The numbers of the jobs that `write_parts` makes slower than their own past, in ascending order."""
    order = np.random.default_rng(seed).permutation(jobs)
    return sorted((order[_are_slow(_turns(order))] + 1).tolist())


def _workloads(places: Any) -> Any:
    """int64[J]: which workload a job is a run of, -1 for none."""
    return np.where((places >= LEAST_JOBS) & (places % 2 == 0), places // 2 % WORKLOADS, -1)


def _turns(order: Any) -> Any:
    """int64[J]: which run of its workload each job is, in the order of their starts; -1 for jobs of no workload."""
    workloads = _workloads(order)
    turns = np.full(len(order), -1)
    for workload in range(WORKLOADS):
        runs = np.flatnonzero(workloads == workload)
        turns[runs] = np.arange(len(runs))
    return turns


def _are_slow(turns: Any) -> Any:
    """bool[J]: which runs are slow."""
    return (turns >= 0) & (turns % SLOW_EVERY == SLOW_EVERY - 1)


def _with_runs(log: Any, places: Any, turns: Any, random: np.random.Generator) -> Any:
    """The table `log` with the jobs of workloads as runs of these."""
    pa, _ = arrow()
    again = turns >= 0
    workloads = _workloads(places)
    io_s = USUAL_IO_S * np.exp(random.normal(0, SCATTER, len(places)))
    io_s[_are_slow(turns)] *= SLOWER
    columns = {
        "nprocs": np.full(len(places), 256),
        "run_time": np.full(len(places), RUN_S),
        "io_s": io_s,
        "bytes_read": np.full(len(places), 2**34),
        "bytes_written": np.full(len(places), 2**36),
        "application": np.array([f"application{w % APPLICATIONS:02d}" for w in workloads.tolist()]),
        "signature": np.array([f"again{w:011x}" for w in workloads.tolist()]),
    }
    for name, values in columns.items():
        place = log.schema.get_field_index(name)
        mixed = np.where(again, values, log[name].to_numpy())
        log = log.set_column(
            place, log.schema.field(name), pa.array(mixed.tolist(), log.schema.field(name).type)
        )
    return log


def _tables(
    random: np.random.Generator, places: Any, starts: Any, part: str, files_per_job: int
) -> dict[str, Any]:
    """The tables of one part. `places` int64[J] say which job of the paper's lists each one is."""
    pa, _ = arrow()
    count = len(places)
    redundant = places < REDUNDANT
    meta = (places >= REDUNDANT - BOTH) & (places < REDUNDANT - BOTH + METADATA)
    small = (places >= REDUNDANT + METADATA) & (places < REDUNDANT + METADATA + SMALL)
    users = np.where(redundant, places % REDUNDANT_USERS, places % USERS)
    users = np.where(meta & ~redundant, (places - REDUNDANT) % METADATA_USERS, users)
    users = np.where(meta & redundant, (places - REDUNDANT + BOTH) % REDUNDANT_USERS, users)
    users = np.where(small, places % SMALL_USERS, users)
    files = np.maximum(1, random.poisson(files_per_job, count))
    written, read = (np.exp(random.normal(22, 2, count)).astype(np.int64) for _ in range(2))
    nprocs = np.where(meta, 192, 2 ** random.integers(0, 12, count))
    texts = [f"made {part} {place}" for place in places.tolist()]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    ids = np.array([int(h[:16], 16) >> 1 for h in hashes], dtype=np.int64)
    sizes = pa.array([[count if i == 5 else 0 for i in range(len(SIZE_BINS))] for count in files.tolist()])
    columns: dict[str, Any] = {name: np.zeros(count) for name in LOG}
    columns |= {
        "log_id": ids,
        "sha256": hashes,
        "site": ["made"] * count,
        "job_id": places + 1,
        "user": [f"user{u:03d}" for u in users.tolist()],
        "application": [f"application{p % APPLICATIONS:02d}" for p in places.tolist()],
        "start": starts,
        "run_time": random.uniform(60, 36000, count),
        "nprocs": nprocs,
        "library": ["3.4.0"] * count,
        "format": ["3.41"] * count,
        "partial": [""] * count,
        "files": files,
        "bytes_read": read,
        "bytes_written": written,
        "read_s": read / 2**28,
        "write_s": written / 2**28,
        "meta_s": np.where(meta, 40.0 * nprocs + (read + written) / 2**28, 0.01),
        "io_s": (read + written) / 2**30,
        "read_sizes": sizes,
        "write_sizes": sizes,
        "slowest_call": ["POSIX write"] * count,
        "slowest_call_s": random.exponential(0.1, count),
        "redundant_read": np.where(redundant, 2 * TIB + places, 0),
        "small_shared_writes": np.where(small, 200_000_000 + places, 0),
        "signature": [f"{p % 997:016x}" for p in places.tolist()],
        "part": [part] * count,
    }
    return {
        "log": _table(pa, "log", columns),
        "log_fs": _table(
            pa, "log_fs",
            {"log_id": ids, "mount": ["/scratch"] * count, "fs_type": ["lustre"] * count, "files": files,
             "bytes_read": read, "bytes_written": written},
        ),
        "family": _table(
            pa, "family",
            {"log_id": ids, "role": ["checkpoint"] * count, "interface": ["posix"] * count, "level": ["posix"] * count,
             "sharing": ["shared"] * count, "ranks": nprocs, "files": files, "bytes_read": read,
             "bytes_written": written, "pattern": ["/scratch/#"] * count, "signature": [""] * count},
        ),
        "finding": _findings(pa, random, ids, {"redundant-reads": redundant, "metadata-share": meta, "small-writes": small}),
        "file": _files(pa, random, ids, files),
    }  # fmt: skip


def _findings(pa: Any, random: np.random.Generator, ids: Any, seen: dict[str, Any]) -> Any:
    """A finding for each job of the paper's lists, and a cheap one for a third of the others."""
    seen = seen | {"tiny-files": (random.random(len(ids)) < 0.3) & ~np.logical_or.reduce(list(seen.values()))}
    rules = np.concatenate([np.full(int(which.sum()), rule) for rule, which in seen.items()])
    count = len(rules)
    cost = np.where(rules == "tiny-files", 0.01, 3600.0) * random.exponential(1.0, count)
    return _table(
        pa,
        "finding",
        {
            "log_id": np.concatenate([ids[which] for which in seen.values()]),
            "rule": rules.tolist(),
            "version": np.ones(count),
            "severity": np.where(rules == "tiny-files", "NOTE", "HIGH").tolist(),
            "answer": ["problem"] * count,
            "cost_s": cost,
            "bound_s": cost / 64,
            "summary": ["made"] * count,
            "evidence": ["{}"] * count,
            "advice": [all_rules()[rule].advice for rule in rules.tolist()],
        },
    )


def _files(pa: Any, random: np.random.Generator, ids: Any, files: Any) -> Any:
    """Per-file rows, sorted by log, so that one log's are read without the others."""
    order = np.argsort(ids)
    rows = int(files.sum())
    moved = random.integers(1, 2**24, rows)
    columns: dict[str, Any] = {name: np.zeros(rows) for name in FILE}
    columns |= {
        "log_id": np.repeat(ids[order], files[order]),
        "record_id": random.integers(0, 2**62, rows),
        "ranks": np.ones(rows, dtype=np.int64),
        "bytes_written": moved,
        "write_s": moved / 2**28,
    }
    return _table(pa, "file", columns)


def _table(pa: Any, name: str, columns: dict[str, Any]) -> Any:
    """A table of the database; columns that are not given are 0, of text empty."""
    schema = arrow_schema(name)
    rows = len(columns["log_id"])
    arrays = []
    for field in schema:
        values = columns.get(field.name)
        if values is None:
            values = [""] * rows if pa.types.is_string(field.type) else np.zeros(rows)
        made = values if isinstance(values, pa.Array) else pa.array(values)
        arrays.append(made.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
