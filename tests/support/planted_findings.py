"""Logs of known truth: each problem planted at a factor of its rule's threshold, on clean backgrounds.

A plant adds files of its own to a log of P ranks and T seconds. At a factor of 1 it is at the default threshold; its
files take about a tenth of the ranks' time, so that a rule that sees it at twice the threshold must say HIGH.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from workalike.darshan.write import LogBuilder

MIB, GIB = 2**20, 2**30
T = 1000.0
RANKS = 64
ON_SHARED = (("lustre", "/"),)
"""Where the files of the planted problems lie: storage that nodes share."""
Plant = Callable[[LogBuilder, float], None]


def _spent(log: LogBuilder, share: float = 0.1) -> float:
    return share * log.job.nprocs * T


def _even(log: LogBuilder, seconds: float, size: float = 0.0) -> dict[str, float]:
    """Counters of a shared record whose ranks are equal."""
    return {"F_SLOWEST_RANK_TIME": seconds / log.job.nprocs, "SLOWEST_RANK_BYTES": size / log.job.nprocs}


def _bulk_write(size: float, unit: float = 4 * MIB) -> dict[str, float]:
    """Counters of large writes in sequence."""
    count = max(1, int(size / unit))
    return {"WRITES": count, "CONSEC_WRITES": count - 1, "SEQ_WRITES": count - 1, "SIZE_WRITE_4M_10M": count,
            "BYTES_WRITTEN": int(size), "MAX_BYTE_WRITTEN": int(size) - 1}  # fmt: skip


def _bulk_read(size: float, unit: float = 4 * MIB) -> dict[str, float]:
    count = max(1, int(size / unit))
    return {"READS": count, "CONSEC_READS": count - 1, "SEQ_READS": count - 1, "SIZE_READ_4M_10M": count,
            "BYTES_READ": int(size), "MAX_BYTE_READ": int(size) - 1}  # fmt: skip


def _shared(log: LogBuilder, name: str, seconds: float, kind: str = "WRITE", **values: Any) -> None:
    size = values.get("BYTES_WRITTEN", 0) + values.get("BYTES_READ", 0)
    opens = values.pop("OPENS", log.job.nprocs)
    log.posix(name, OPENS=opens, **{f"F_{kind}_TIME": seconds}, **{**_even(log, seconds, size), **values})


def redundant_reads(log: LogBuilder, f: float) -> None:
    values = _bulk_read(4 * GIB + f * GIB) | {"MAX_BYTE_READ": 4 * GIB - 1}
    _shared(log, "/redundant/mesh", _spent(log, 0.3), "READ", **values)


def all_ranks_read_all(log: LogBuilder, f: float) -> None:
    values = _bulk_read(0.5 * f * log.job.nprocs * MIB) | {"MAX_BYTE_READ": MIB - 1}
    _shared(log, "/every/table", _spent(log), "READ", **values)


def read_again_each_epoch(log: LogBuilder, f: float) -> None:
    for rank in range(log.job.nprocs):
        values = _bulk_read(2 * f * 8 * MIB) | {"MAX_BYTE_READ": 8 * MIB - 1}
        log.posix(f"/epochs/s{rank}", rank, OPENS=int(2 * f), F_READ_TIME=0.1 * T, **values)


def bytes_written_twice(log: LogBuilder, f: float) -> None:
    n = log.job.nprocs
    for rank in range(n):
        values = _bulk_write((8 * GIB + f * GIB) / n) | {"MAX_BYTE_WRITTEN": 8 * GIB // n - 1}
        log.posix(f"/twice/w{rank}", rank, OPENS=1, F_WRITE_TIME=0.5 * T, **values)


def write_amplification(log: LogBuilder, f: float) -> None:
    asked = GIB
    log.mpiio(
        "/amplified/w",
        COLL_OPENS=log.job.nprocs,
        COLL_WRITES=256,
        BYTES_WRITTEN=asked,
        F_WRITE_TIME=_spent(log),
    )
    _shared(log, "/amplified/w", _spent(log), **_bulk_write(max(1.0, 1.5 * f) * asked))


def read_amplification(log: LogBuilder, f: float) -> None:
    log.mpiio(
        "/amplified/r", COLL_OPENS=log.job.nprocs, COLL_READS=256, BYTES_READ=GIB, F_READ_TIME=_spent(log)
    )
    _shared(log, "/amplified/r", _spent(log), "READ", **_bulk_read(max(1.0, 1.5 * f) * GIB))


def small_writes(log: LogBuilder, f: float) -> None:
    n = int(1000 * f)
    _shared(log, "/small/w", _spent(log), WRITES=n, SIZE_WRITE_10K_100K=n, BYTES_WRITTEN=n * 65536,
            MAX_BYTE_WRITTEN=n * 65536 - 1, SEQ_WRITES=n - 64)  # fmt: skip


def small_reads(log: LogBuilder, f: float) -> None:
    n = int(1000 * f) + log.job.nprocs
    _shared(log, "/small/r", _spent(log), "READ", READS=n, SIZE_READ_1K_10K=n, BYTES_READ=n * 4096,
            MAX_BYTE_READ=n * 4096 - 1)  # fmt: skip


def sync_each_write(log: LogBuilder, f: float) -> None:
    _shared(log, "/synced/w", _spent(log), FSYNCS=int(128 * f), **_bulk_write(GIB))


def useless_seeks(log: LogBuilder, f: float) -> None:
    n = 2000
    values = _bulk_write(n * 4 * MIB) | {"SEEKS": int(0.9 * f * n)}
    _shared(log, "/seeks/w", _spent(log), "META", **values)


def stat_storm(log: LogBuilder, f: float) -> None:
    _shared(log, "/stats/file", _spent(log), "META", OPENS=500, STATS=int(1000 * f))


def metadata_share(log: LogBuilder, f: float) -> None:
    n = log.job.nprocs
    meta = 120 * 0.25 * f * n
    values = _bulk_read(64 * GIB) | {"F_READ_TIME": 120 * n - meta, "SLOWEST_RANK_BYTES": 64 * GIB / n}
    _shared(log, "/meta/file", meta, "META", **values | {"F_SLOWEST_RANK_TIME": 120.0})


def tiny_files(log: LogBuilder, f: float) -> None:
    n = log.job.nprocs
    for k in range(int(10 * f * n)):
        log.posix(f"/tiny/t{k}", k % n, OPENS=1, WRITES=1, SIZE_WRITE_1K_10K=1, BYTES_WRITTEN=4096,
                  MAX_BYTE_WRITTEN=4095, F_META_TIME=0.1 * T / (10 * f))  # fmt: skip


def file_per_process(log: LogBuilder, f: float) -> None:
    for rank in range(log.job.nprocs):
        log.posix(f"/nn/out.{rank}", rank, OPENS=1, F_META_TIME=0.1 * T, **_bulk_write(8 * MIB))


def reopened_often(log: LogBuilder, f: float) -> None:
    values = _bulk_write(GIB) | {"OPENS": int(10 * f * log.job.nprocs)}
    _shared(log, "/reopened/w", _spent(log), "META", **values)


def library_metadata(log: LogBuilder, f: float) -> None:
    n = int(1000 * f)
    log.h5f("/library/out.h5", OPENS=log.job.nprocs, USE_MPIIO=1)
    log.h5d(
        "/library/out.h5:/d", file="/library/out.h5", WRITES=64, BYTES_WRITTEN=GIB, SIZE_WRITE_AGG_10M_100M=64
    )
    log.mpiio("/library/out.h5", COLL_OPENS=log.job.nprocs, COLL_WRITES=64, INDEP_WRITES=n, SIZE_WRITE_AGG_100_1K=n,
              SIZE_WRITE_AGG_10M_100M=64, BYTES_WRITTEN=GIB + n * 512, F_WRITE_TIME=_spent(log))  # fmt: skip


def independent_access(log: LogBuilder, f: float) -> None:
    n = int(1000 * f)
    log.mpiio("/independent/w", COLL_OPENS=log.job.nprocs, INDEP_WRITES=n, BYTES_WRITTEN=n * 65536,
              SIZE_WRITE_AGG_10K_100K=n, F_WRITE_TIME=_spent(log))  # fmt: skip


def _blocks(log: LogBuilder, name: str, n: int, **values: Any) -> None:
    size = 3 * MIB // 2
    log.lustre(name, stripe_size=MIB, osts=range(16))
    _shared(log, name, _spent(log), WRITES=n, SIZE_WRITE_1M_4M=n, BYTES_WRITTEN=n * size, SEQ_WRITES=n - 64,
            MAX_BYTE_WRITTEN=n * size - 1, **values)  # fmt: skip


def lock_contention(log: LogBuilder, f: float) -> None:
    _blocks(log, "/locks/w", int(1000 * f))


def unaligned(log: LogBuilder, f: float) -> None:
    values = _bulk_write(1000 * 4 * MIB) | {"FILE_ALIGNMENT": MIB, "FILE_NOT_ALIGNED": int(100 * f)}
    log.lustre("/unaligned/w", stripe_size=MIB, osts=range(16))
    _shared(log, "/unaligned/w", _spent(log, 0.8), **values)


def too_few_stripes(log: LogBuilder, f: float) -> None:
    log.lustre("/few/w", stripe_size=MIB, osts=range(16))  # a quarter of the nodes
    _shared(log, "/few/w", _spent(log), **_bulk_write(1.6e12 * f))


def too_many_stripes(log: LogBuilder, f: float) -> None:
    for k in range(int(100 * f)):
        name = f"/many/f{k}"
        log.lustre(name, stripe_size=MIB, osts=range(16))
        log.posix(
            name, k % log.job.nprocs, OPENS=1, F_META_TIME=_spent(log) / (100 * f), **_bulk_write(8 * MIB)
        )


def slow_target(log: LogBuilder, f: float) -> None:
    for k in range(64):
        name = f"/targets/f{k}"
        log.lustre(name, stripe_size=MIB, osts=(k % 8,))
        slow = 3 * f if k % 8 == 5 else 1 + 0.01 * (k // 8)
        log.posix(name, k % log.job.nprocs, OPENS=1, F_WRITE_TIME=20 * slow, **_bulk_write(64 * MIB))


def slow_rank(log: LogBuilder, f: float) -> None:
    values = _bulk_write(GIB) | {"F_SLOWEST_RANK_TIME": 3 * f * 50.0, "SLOWEST_RANK": 7}
    _shared(log, "/slow/w", 50.0 * log.job.nprocs, **values)


def one_writer(log: LogBuilder, f: float) -> None:
    n, size = log.job.nprocs, 2 * GIB
    k = 0.01 * n / f  # effective writers
    values = _bulk_write(size) | {
        "F_VARIANCE_RANK_BYTES": (size / n) ** 2 * (n / k - 1),
        "SLOWEST_RANK_BYTES": size / k,
    }
    _shared(log, "/root/w", 100.0, **values | {"F_SLOWEST_RANK_TIME": 100.0 / k})


def unequal_ranks(log: LogBuilder, f: float) -> None:
    size = GIB
    values = _bulk_write(size) | {"F_SLOWEST_RANK_TIME": 2 * f * 100.0}
    _shared(
        log,
        "/unequal/w",
        100.0 * log.job.nprocs,
        **values | {"SLOWEST_RANK_BYTES": 2 * f * size / log.job.nprocs},
    )


def bulk_stdio(log: LogBuilder, f: float) -> None:
    for rank in range(log.job.nprocs):
        size = int(0.1 * f * GIB)
        log.posix(f"/data/p{rank}", rank, OPENS=1, F_WRITE_TIME=1.0, **_bulk_write((1 - 0.1 * f) * GIB))
        log.stdio(f"/stdio/s{rank}", rank, OPENS=1, WRITES=64, BYTES_WRITTEN=size, MAX_BYTE_WRITTEN=size - 1,
                  F_WRITE_TIME=0.1 * T)  # fmt: skip


def close_flushes(log: LogBuilder, f: float) -> None:
    seconds = _spent(log)
    wait = 0.5 * f * seconds / log.job.nprocs
    values = _bulk_write(GIB) | {"F_WRITE_END_TIMESTAMP": 500.0, "F_CLOSE_END_TIMESTAMP": 500.0 + wait}
    _shared(log, "/flushed/w", seconds, "META", **values)


def crowded_folder(log: LogBuilder, f: float) -> None:
    files = int(10_000 * f)
    for k in range(files):
        seconds = _spent(log) / files
        log.posix(f"/crowd/c{k}", k % log.job.nprocs, OPENS=1, F_META_TIME=seconds, **_bulk_write(4 * MIB))


def _through_few(log: LogBuilder, name: str, writers: float, unit: int) -> None:
    """A collective file of calls of `unit` bytes, whose data few ranks write."""
    n, size = log.job.nprocs, GIB
    log.mpiio(name, COLL_OPENS=n, COLL_WRITES=size // unit, BYTES_WRITTEN=size, F_WRITE_TIME=_spent(log))
    spread = {"F_VARIANCE_RANK_BYTES": (size / n) ** 2 * (n / writers - 1)}
    _shared(log, name, _spent(log), **_bulk_write(size), **spread)


def aggregators(log: LogBuilder, f: float) -> None:
    _through_few(log, "/aggregated/w", 0.25 * log.job.nprocs / f, MIB)


def collective_hurts(log: LogBuilder, f: float) -> None:
    _through_few(log, "/collected/w", min(0.5 * log.job.nprocs / f, log.job.nprocs - 1), 4 * MIB)


def reads_from_memory(log: LogBuilder, f: float) -> None:
    size = 2 * GIB
    _shared(log, "/cached/r", size / (5e9 * f), "READ", **_bulk_read(size))


def checkpoint_interval(log: LogBuilder, f: float) -> None:
    # The interval is 1 / (2 f) of the optimum, since the time of a checkpoint falls with their number.
    count = round(20 * f * f)
    for k in range(count):
        _shared(log, f"/interval/chk.{k}", _spent(log) / count, **_bulk_write(GIB))


def small_sequential(log: LogBuilder, f: float) -> None:
    n = int(1000 * f)
    log.posix("/sequence/w", 0, OPENS=1, WRITES=n, CONSEC_WRITES=n - 1, SEQ_WRITES=n - 1, SIZE_WRITE_10K_100K=n,
              BYTES_WRITTEN=n * 65536, MAX_BYTE_WRITTEN=n * 65536 - 1, F_WRITE_TIME=0.1 * T)  # fmt: skip


def fill_values(log: LogBuilder, f: float) -> None:
    size = int(f * MIB)
    log.h5d("/filled/out.h5:/d", file="/filled/out.h5", WRITES=64, BYTES_WRITTEN=size)
    log.mpiio("/filled/out.h5", COLL_OPENS=log.job.nprocs, COLL_WRITES=128, BYTES_WRITTEN=2 * size,
              F_WRITE_TIME=_spent(log))  # fmt: skip


def overwritten_in_place(log: LogBuilder, f: float) -> None:
    times = int(2 * f)
    size = 64 * MIB
    values = _bulk_write(times * size) | {"MAX_BYTE_WRITTEN": size - 1, "OPENS": times * log.job.nprocs}
    _shared(log, "/again/chk.h5", _spent(log), **values)


def scratch_files(log: LogBuilder, f: float) -> None:
    n = log.job.nprocs
    size = int(f * GIB / n)
    for rank in range(n):
        log.posix(f"/scratch/tmp.{rank}", rank, OPENS=1, F_WRITE_TIME=0.05 * T, F_READ_TIME=0.05 * T,
                  F_WRITE_START_TIMESTAMP=100.0, F_READ_START_TIMESTAMP=500.0,
                  **{**_bulk_write(size), **_bulk_read(size)})  # fmt: skip


def possible_conflict(log: LogBuilder, f: float) -> None:
    size = 64 * MIB
    values = _bulk_write(1.1 * f * size) | {"MAX_BYTE_WRITTEN": size - 1}
    _shared(log, "/overlap/w", _spent(log), **values)


PLANTS: dict[str, Plant] = {
    name.replace("_", "-"): made
    for name, made in globals().copy().items()
    if callable(made) and getattr(made, "__module__", "") == __name__ and not name.startswith("_")
}
"""Rule -> plant."""

RANKS_OF = {"metadata-share": 512, "one-writer": 400, "tiny-files": 16}
WITHOUT_WEIGHT = ("overwritten-in-place", "possible-conflict", "reads-from-memory", "small-sequential")
"""Rules that are never above NOTE: harmless, or a risk that costs no time."""

SITE: dict[str, Any] = {
    "job": {"ranks_per_node": 1},
    "checkpoint-interval": {"mean_time_between_failures_s": 1000.0},
}
"""The site file of the planted logs: what no log tells."""

OWN_JOB = ("bulk-stdio", "crowded-folder", "file-per-process", "metadata-share", "one-writer", "tiny-files")
"""Rules over the whole job, or of other sizes of it: their plants are not put beside others."""


def ranks_of(rule: str, factor: float) -> int:
    return int(4096 * factor) if rule == "file-per-process" else RANKS_OF.get(rule, RANKS)


def planted(rule: str, factor: float, others: tuple[str, ...] = (), seed: int = 0) -> LogBuilder:
    """A log with a problem at a factor of its threshold, and others at twice theirs."""
    log = LogBuilder(nprocs=ranks_of(rule, factor), run_time=T, mounts=ON_SHARED)
    PLANTS[rule](log, factor)
    for other in others:
        PLANTS[other](log, 2.0)
    return clean(log, seed)


def clean(log: LogBuilder | None = None, seed: int = 0) -> LogBuilder:
    """A log, or further files of one, that have no problem: large, even and in sequence, of any share of the time."""
    random_of = random.Random(seed)
    log = log or LogBuilder(nprocs=random_of.choice((1, 4, 16, 64)), run_time=T, mounts=ON_SHARED)
    n = log.job.nprocs
    for k in range(random_of.randint(1, 3)):
        size = n * random_of.randint(4, 32) * 4 * MIB
        share = random_of.uniform(0.0005, 0.1)
        _shared(log, f"/clean/state{chr(97 + k)}.h5", share * n * T, **_bulk_write(size))
    _shared(log, "/clean/mesh.in", 0.002 * n * T, "READ", **_bulk_read(n * 4 * MIB))
    return log
