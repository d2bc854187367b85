"""What time a finding explains, from the timers of its files.

A call's time is counted once: MPI-IO's timer contains POSIX's of the same file, so the larger one of the two is taken;
STDIO's is added. Timers of threads may exceed the run time, so a rank's time is at most the run time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from workalike.diagnose.job import DATA_MODULES, Job
from workalike.facts.columns import RecordColumns
from workalike.facts.records import BoolArray, FloatArray, IntArray

READ, WRITE, META = "READ", "WRITE", "META"
KINDS = (READ, WRITE, META)
CALLS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    READ: {
        "POSIX": ("READS",),
        "MPI-IO": ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
        "STDIO": ("READS",),
    },
    WRITE: {
        "POSIX": ("WRITES", "FSYNCS", "FDSYNCS"),
        "MPI-IO": ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES", "SYNCS"),
        "STDIO": ("WRITES", "FLUSHES"),
    },
    META: {
        "POSIX": ("OPENS", "STATS", "SEEKS"),
        "MPI-IO": ("INDEP_OPENS", "COLL_OPENS"),
        "STDIO": ("OPENS", "SEEKS"),
    },
}
"""The calls that a timer of a module adds up."""
OUTSIDE_S = 1e-6
"""What a call costs its caller outside of its timer, at most: to prepare it, to enter and to leave it. Whether it is
enough is measured by benchmarks/tried_changes.py."""
MOST_OF_RUN = 1.5
"""A record whose timer exceeds ranks x run time by more than this factor is not used."""


@dataclass(frozen=True)
class Cost:
    """Time that a finding explains at most.

    `rank_seconds` is summed over ranks, `slowest_s` is the share of the slowest rank (an estimate where the log has
    only its total), `bound_s` the wall-clock time that a change can save at most: the time inside calls, and what the
    same calls cost outside of their timers. `terms` are the formula's numbers.
    """

    rank_seconds: float
    slowest_s: float
    bound_s: float
    formula: str
    terms: Mapping[str, float] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()


def seconds(job: Job, *kinds: str) -> FloatArray:
    """float64[N], seconds of all ranks together in calls of some kinds (READ, WRITE, META)."""
    return sum(
        (np.maximum(_of(job, "POSIX", k), _of(job, "MPI-IO", k)) + _of(job, "STDIO", k) for k in kinds),
        np.zeros(len(job)),
    )


def _of(job: Job, module: str, kind: str) -> FloatArray:
    """float64[N], seconds of one kind in one module; computed once, not to be changed."""
    key = (module, kind)
    if key not in job.seconds:
        out = np.zeros(len(job))
        for file, _, values, table in _records(job, module, kind):
            out[file[table.starts]] = np.add.reduceat(values, table.starts)
        out.setflags(write=False)
        job.seconds[key] = out
    return job.seconds[key]


def _records(job: Job, module: str, kind: str) -> list[tuple[IntArray, IntArray, FloatArray, RecordColumns]]:
    table = job.module(module)
    if table is None:
        return []
    values = table.fcounters[:, table.fcounter_names.index(f"F_{kind}_TIME")]
    members = np.where(table.ranks < 0, np.where(table.members > 0, table.members, job.nprocs), 1)
    limit = members * max(job.run_time, 0.0)
    # Timers of threads that add up to more than the run are of no use (Darshan's, of one file and many threads).
    values = np.where(np.isfinite(values) & (values <= MOST_OF_RUN * limit), values, 0.0).clip(0, limit)
    return [(table.file, table.ranks, values, table)]


def explained(
    job: Job, share: FloatArray | BoolArray, kinds: Collection[str], formula: str, **terms: float
) -> Cost:
    """The cost of a share (0 to 1) of each file's time in calls of some kinds."""
    part = np.asarray(share, dtype=np.float64).clip(0, 1)
    total = 0.0
    by_rank = np.zeros(job.nprocs)
    slowest = bound = calls_of_all = 0.0
    calls_of_rank = np.zeros(job.nprocs)
    modules: set[str] = set()
    for kind in kinds:
        outer = _of(job, "MPI-IO", kind) > _of(job, "POSIX", kind)
        for module, counts in (
            ("MPI-IO", outer),
            ("POSIX", ~outer),
            ("STDIO", np.ones(len(job), dtype=bool)),
        ):
            weight = np.where(counts, part, 0.0)
            if not weight.any():
                continue
            for file, ranks, values, table in _records(job, module, kind):
                here = values * weight[file]
                total += float(here.sum())
                modules |= {module} if here.any() else set()
                single = ranks >= 0
                by_rank += np.bincount(ranks[single], here[single], minlength=job.nprocs)[: job.nprocs]
                calls = weight[file] * _calls(table, CALLS[kind][module])
                calls_of_rank += np.bincount(ranks[single], calls[single], minlength=job.nprocs)[: job.nprocs]
                calls_of_all += float(calls[~single].sum())
                rows = np.flatnonzero(~single & (here > 0))
                if not len(rows):
                    continue
                own = _slowest_of(table, rows, job)
                all_kinds = sum((_column(table, f"F_{k}_TIME", rows) for k in KINDS), np.zeros(len(rows)))
                ratio = np.divide(here[rows], all_kinds, out=np.zeros(len(rows)), where=all_kinds > 0)
                slowest += float(np.maximum(own * ratio, here[rows] / job.nprocs).sum())
                bound += float(np.minimum(own, here[rows]).sum())
    most = float(by_rank.max(initial=0.0))
    limit = max(job.run_time, 0.0)
    rank_seconds, members = min(total, job.rank_time), max(job.nprocs, 1)
    # Of a reduced record, the ranks have equal parts of the calls.
    most_calls = float(calls_of_rank.max(initial=0.0)) + calls_of_all / members
    outside = OUTSIDE_S * most_calls if total > 0 else 0.0
    whole = {f"{kind.lower()}_time_s": float(seconds(job, kind)[part > 0].sum()) for kind in kinds}
    return Cost(
        rank_seconds,
        min(slowest + most, limit),
        min(max(bound + most, rank_seconds / members) + outside, limit),
        formula,
        {
            **whole,
            **terms,
            "rank_seconds": rank_seconds,
            "ranks": float(job.nprocs),
            "run_time_s": job.run_time,
        },
        frozenset(modules),
    )


def _calls(table: RecordColumns, counters: Collection[str]) -> FloatArray:
    """float64[records], the sum of some counters; -1 and counters that the log does not have count as 0."""
    out = np.zeros(len(table))
    for name in counters:
        if name in table.counter_names:
            out += table.column(name).clip(0)
    return out


def _column(table: RecordColumns, name: str, rows: npt.NDArray[np.intp]) -> FloatArray:
    values = table.fcounters[rows, table.fcounter_names.index(name)]
    return np.asarray(np.where(np.isfinite(values), values, 0.0).clip(0), dtype=np.float64)


def _slowest_of(table: RecordColumns, rows: npt.NDArray[np.intp], job: Job) -> FloatArray:
    """Seconds of the slowest rank in each reduced record; a record without it stands for equal ranks."""
    stated = _column(table, "F_SLOWEST_RANK_TIME", rows)
    total = sum((_column(table, f"F_{k}_TIME", rows) for k in KINDS), np.zeros(len(rows)))
    stated = np.where(stated > 0, stated, total / job.nprocs)
    return np.asarray(np.minimum(stated, max(job.run_time, 0.0)), dtype=np.float64)


def with_time_in_hdf5(job: Job, cost: Cost, share: FloatArray, kind: str) -> Cost:
    """A cost whose bound also has what HDF5 takes in its own calls, beyond the calls below, for a share of each file.

    It copies out of chunks, for instance, and a change of the calls below changes that, too.
    """
    below = np.maximum(_of(job, "POSIX", kind), _of(job, "MPI-IO", kind))
    beyond = float(((_of(job, "H5D", kind) - below).clip(0) * share.clip(0, 1)).sum())
    bound = min(cost.bound_s + beyond / max(job.nprocs, 1), max(job.run_time, 0.0))
    return replace(cost, bound_s=bound)


def no_cost(job: Job, formula: str = "no timer tells: 0") -> Cost:
    """The cost of what the log does not time."""
    return Cost(0.0, 0.0, 0.0, formula, {"ranks": float(job.nprocs), "run_time_s": job.run_time})


def of_one_rank(job: Job, which: BoolArray, excess_s: float, formula: str, **terms: float) -> Cost:
    """The cost of a rank that works `excess_s` seconds longer than the others, which wait for it, in some files."""
    excess = min(max(excess_s, 0.0), max(job.run_time, 0.0))
    return Cost(
        excess,
        excess,
        excess,
        formula,
        {**terms, "excess_s": excess, "ranks": float(job.nprocs), "run_time_s": job.run_time},
        frozenset(m for m in DATA_MODULES if any((_of(job, m, kind)[which] > 0).any() for kind in KINDS)),
    )


def larger(first: Cost, second: Cost) -> Cost:
    """The larger of two costs of the same time, which must not be added."""
    if max(first.rank_seconds, 0) >= second.rank_seconds and first.slowest_s >= second.slowest_s:
        return first
    big = first if first.rank_seconds >= second.rank_seconds else second
    return replace(
        big,
        slowest_s=max(first.slowest_s, second.slowest_s),
        bound_s=max(first.bound_s, second.bound_s),
        modules=first.modules | second.modules,
    )
