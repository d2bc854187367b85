"""Logs without a problem, of many kinds: what a rule must be silent about, or say without weight.

A log has one to three kinds of files, of jobs of 1 to 1,024 ranks, and takes up to a tenth of its ranks' time for each.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from support.planted_findings import MIB, ON_SHARED, T, _bulk_read, _bulk_write, _even, _shared
from workalike.darshan.write import LogBuilder

RANKS = (1, 2, 4, 16, 48, 64, 128, 512, 1024)
LOCAL = ("btrfs", "ext4", "overlay", "tmpfs", "xfs")
MOST_SHARE = 0.1
Kind = Callable[[LogBuilder, random.Random], None]


def _spread(chance: random.Random, mean: float) -> float:
    """A rank's or a file's time: they differ by a fifth."""
    return mean * chance.uniform(0.8, 1.2)


def _share(chance: random.Random) -> float:
    """A share of the run time, mostly a small one."""
    return float(MOST_SHARE * chance.random() ** 2)


def shared_states(log: LogBuilder, chance: random.Random) -> None:
    """Shared files of some steps, written once each, in stripes that suffice."""
    n, steps = log.job.nprocs, chance.randint(1, 12)
    seconds = _share(chance) * n * T / steps
    size = n * chance.randint(4, 32) * 4 * MIB
    for step in range(steps):
        name = f"/shared/plot.{step:04}"
        if chance.random() < 0.5:
            log.lustre(name, stripe_size=MIB, osts=range(max(1, n // 3)))
        start = T * (step + 0.5) / steps
        _shared(log, name, _spread(chance, seconds), F_WRITE_START_TIMESTAMP=start, FILE_ALIGNMENT=MIB,
                FILE_NOT_ALIGNED=0, F_WRITE_END_TIMESTAMP=start + T * MOST_SHARE / steps, **_bulk_write(size))  # fmt: skip


def files_of_ranks(log: LogBuilder, chance: random.Random) -> None:
    """A file for each rank and phase, of a good size, on one storage target each."""
    n, phases = log.job.nprocs, chance.randint(1, 3)
    size, seconds = chance.randint(16, 64) * 4 * MIB, _share(chance) * T / phases
    on_lustre, targets = chance.random() < 0.5, chance.choice((4, 16, 48))
    for phase in range(phases):
        for rank in range(n):
            name = f"/shared/dump{phase}/part.{rank}"
            if on_lustre:
                log.lustre(name, stripe_size=MIB, osts=(chance.randrange(targets),))
            log.posix(
                name,
                rank,
                OPENS=1,
                F_WRITE_TIME=_spread(chance, seconds),
                F_META_TIME=0.01,
                **_bulk_write(size),
            )


def checkpoints(log: LogBuilder, chance: random.Random) -> None:
    """Shared checkpoints at about the best interval for a failure each 1,000 s."""
    n, count = log.job.nprocs, chance.randint(6, 20)
    each = (T / count) ** 2 / 2000.0
    for number in range(count):
        _shared(log, f"/shared/chk.{number}", _spread(chance, each) * n, **_bulk_write(n * 32 * MIB))


def large_inputs(log: LogBuilder, chance: random.Random) -> None:
    """Inputs of which each rank reads its part, in large pieces; now and then out of order."""
    n = log.job.nprocs
    for number in range(chance.randint(1, 4)):
        size = n * chance.randint(8, 64) * 4 * MIB
        values = _bulk_read(size)
        if chance.random() < 0.3:
            values |= {"CONSEC_READS": 0, "SEQ_READS": values["READS"] // 2}
        seconds = max(_share(chance) * n * T, size / 2e9)
        _shared(log, f"/shared/mesh{number}.in", seconds, "READ", **values)


def shards(log: LogBuilder, chance: random.Random) -> None:
    """Shards of a data set: each is read once, by one rank."""
    n, each = log.job.nprocs, chance.randint(1, 4)
    size, seconds = chance.randint(16, 64) * 4 * MIB, _share(chance) * T / each
    for number in range(n * each):
        spent = max(_spread(chance, seconds), size / 2e9)
        log.posix(f"/data/shard-{number}.bin", number % n, OPENS=1, F_READ_TIME=spent, **_bulk_read(size))


def text_logs(log: LogBuilder, chance: random.Random) -> None:
    """A text log of rank 0, flushed now and then, and its input."""
    lines = chance.randint(100, 50_000)
    log.stdio("/shared/run.log", 0, OPENS=1, WRITES=lines, BYTES_WRITTEN=lines * 80, MAX_BYTE_WRITTEN=lines * 80 - 1,
              FLUSHES=chance.randint(0, 80), F_WRITE_TIME=chance.uniform(0.01, 5.0))  # fmt: skip
    log.stdio(
        "/shared/in.deck", 0, OPENS=1, READS=200, BYTES_READ=16_000, MAX_BYTE_READ=15_999, F_READ_TIME=0.01
    )


def collective_hdf5(log: LogBuilder, chance: random.Random) -> None:
    """HDF5 through collective calls, with collective metadata; half of the ranks or more are aggregators."""
    n, files = log.job.nprocs, chance.randint(1, 8)
    size = n * chance.randint(4, 16) * 4 * MIB
    for number in range(files):
        name, seconds = f"/shared/state{number}.h5", _share(chance) * n * T / files
        calls, few = size // (4 * MIB), chance.randint(0, 40)
        log.h5f(name, OPENS=n, USE_MPIIO=1, FLUSHES=n * chance.randint(0, 1))
        log.h5d(f"{name}:/u", file=name, WRITES=calls, BYTES_WRITTEN=size,
                SIZE_WRITE_AGG_4M_10M=calls)  # fmt: skip
        log.mpiio(name, COLL_OPENS=n, COLL_WRITES=calls, INDEP_WRITES=few, SIZE_WRITE_AGG_100_1K=few,
                  SIZE_WRITE_AGG_4M_10M=calls, BYTES_WRITTEN=size + 512 * few, F_WRITE_TIME=seconds)  # fmt: skip
        writers = max(1.0, n * chance.uniform(0.5, 1.0))
        spread = (size / n) ** 2 * (n / writers - 1)
        values = _bulk_write(size) | {"F_VARIANCE_RANK_BYTES": spread, "BYTES_WRITTEN": size + 512 * few}
        _shared(log, name, 0.9 * seconds, **values)


def on_the_node(log: LogBuilder, chance: random.Random) -> None:
    """Scratch files and many small files on a disk of the node, or in its memory."""
    n = log.job.nprocs
    seconds, size = _share(chance) * T, chance.randint(8, 64) * 4 * MIB
    for rank in range(n):
        both = {**_bulk_write(size), **_bulk_read(size)}
        log.posix(f"/local/tmp.{rank}", rank, OPENS=1, F_WRITE_TIME=_spread(chance, seconds / 2),
                  F_READ_TIME=max(_spread(chance, seconds / 2), size / 2e9), F_WRITE_START_TIMESTAMP=100.0,
                  F_READ_START_TIMESTAMP=500.0, **both)  # fmt: skip
    if n <= 64:
        for number in range(12 * n):
            log.posix(f"/local/many/{number}", number % n, OPENS=1, WRITES=1, SIZE_WRITE_1K_10K=1, BYTES_WRITTEN=4096,
                      MAX_BYTE_WRITTEN=4095, F_META_TIME=seconds / 12)  # fmt: skip


def without_weight(log: LogBuilder, chance: random.Random) -> None:
    """Small writes of all ranks that take less than a hundredth of the time."""
    count = chance.randint(2000, 20_000)
    seconds = chance.uniform(0.0005, 0.008) * log.job.nprocs * T
    log.posix("/shared/small", OPENS=log.job.nprocs, WRITES=count, SIZE_WRITE_10K_100K=count, BYTES_WRITTEN=count * 65536,
              MAX_BYTE_WRITTEN=count * 65536 - 1, SEQ_WRITES=count - 1, F_WRITE_TIME=seconds,
              **_even(log, seconds, count * 65536))  # fmt: skip


def a_little_unequal(log: LogBuilder, chance: random.Random) -> None:
    """A shared file of which the busiest rank has up to 1.7 times the mean, in time and bytes."""
    n, ratio = log.job.nprocs, chance.uniform(1.0, 1.7)
    seconds, size = _share(chance) * n * T, n * 64 * MIB
    values = _bulk_write(size) | {"SLOWEST_RANK_BYTES": min(ratio, n) * size / n}
    _shared(log, "/shared/field", seconds, **values | {"F_SLOWEST_RANK_TIME": min(ratio, n) * seconds / n})


def seeks_and_stats(log: LogBuilder, chance: random.Random) -> None:
    """Large blocks that lie apart, each after a seek, in files that are asked for their state once or twice."""
    n, blocks = log.job.nprocs, chance.randint(16, 64)
    seconds = _share(chance) * T
    for rank in range(n):
        values = _bulk_read(blocks * 4 * MIB) | {"CONSEC_READS": 0, "SEQ_READS": blocks // 2, "SEEKS": blocks}
        log.posix(f"/shared/blocks.{rank}", rank, OPENS=2, STATS=chance.randint(1, 3), F_META_TIME=_spread(chance, seconds / 4),
                  F_READ_TIME=max(_spread(chance, seconds), blocks * 4 * MIB / 2e9), **values)  # fmt: skip


def synced_once(log: LogBuilder, chance: random.Random) -> None:
    """A file of each rank that is synced before it is closed, and one that all append to, opened anew at each step."""
    n, seconds, writes = log.job.nprocs, _share(chance) * T, chance.randint(16, 64)
    for rank in range(n):
        log.posix(f"/shared/safe.{rank}", rank, OPENS=1, FSYNCS=1, F_WRITE_TIME=_spread(chance, seconds),
                  **_bulk_write(writes * 4 * MIB))  # fmt: skip
    steps = chance.randint(2, 8)
    _shared(log, "/shared/series", seconds * n / 4, OPENS=steps * n, **_bulk_write(steps * n * 16 * MIB))


def small_table(log: LogBuilder, chance: random.Random) -> None:
    """A table that all ranks read whole, in no time."""
    n = log.job.nprocs
    values = _bulk_read(n * 4 * MIB) | {"MAX_BYTE_READ": 4 * MIB - 1}
    _shared(log, "/shared/table", n * chance.uniform(0.01, 5.0), "READ", **values)


def python_opens(log: LogBuilder, chance: random.Random) -> None:
    """Files that Python's open() opens again and again, on each rank: one stat for each open."""
    n, files = log.job.nprocs, chance.randint(100, 400)
    seconds, opens = chance.uniform(0.06, 0.1) * n * T, n * chance.randint(3, 5)
    for number in range(files):
        values = _bulk_read(n * 4 * MIB) | {"MAX_BYTE_READ": n * 4 * MIB - 1}
        spent = max(_spread(chance, seconds / files), n * 4 * MIB / 2e9)
        log.posix(f"/data/py-{number}.npy", OPENS=opens, STATS=opens, F_READ_TIME=spent,
                  F_META_TIME=0.25 * spent, **_even(log, 1.25 * spent, n * 4 * MIB), **values)  # fmt: skip


def flushed_dumps(log: LogBuilder, chance: random.Random) -> None:
    """Many dumps through collective HDF5, each flushed once by all ranks, with some headers; a third of the run or so."""
    n, files, few = log.job.nprocs, chance.randint(16, 24), chance.randint(30, 40)
    size, seconds = n * 16 * MIB, chance.uniform(0.2, 0.4) * n * T / files
    for number in range(files):
        name = f"/shared/flushed{number:03}.h5"
        log.h5f(name, OPENS=n, USE_MPIIO=1, FLUSHES=n)
        log.h5d(f"{name}:/u", file=name, WRITES=n, BYTES_WRITTEN=size, SIZE_WRITE_AGG_10M_100M=n)
        log.mpiio(name, COLL_OPENS=n, COLL_WRITES=n, INDEP_WRITES=few, SIZE_WRITE_AGG_100_1K=few,
                  SIZE_WRITE_AGG_10M_100M=n, BYTES_WRITTEN=size + 512 * few, F_WRITE_TIME=seconds)  # fmt: skip
        _shared(log, name, 0.9 * seconds, **_bulk_write(size) | {"BYTES_WRITTEN": size + 512 * few})


KINDS: tuple[Kind, ...] = (
    shared_states, files_of_ranks, checkpoints, large_inputs, shards, text_logs, collective_hdf5, on_the_node,
    without_weight, a_little_unequal, seeks_and_stats, synced_once, small_table,
    python_opens, flushed_dumps,
)  # fmt: skip


AT_ROOT = (("overlay", "/"), ("lustre", "/lus"))
"""The folders of the files match the root only: symbolic links into /lus, or hidden names."""


def hidden(log: LogBuilder) -> LogBuilder:
    """The log with numbers in the place of its files' names, at the root, as Darshan's converter leaves them."""
    log.names = {number: f"//{number % 2**32:010}" for number in log.names}
    return log


def varied(seed: int) -> LogBuilder:
    """A log of some of the kinds; each kind is the first one of every fifteenth seed. Some hide their names."""
    chance = random.Random(seed)
    chosen = [KINDS[seed % len(KINDS)], *chance.sample(KINDS, chance.randint(0, 2))]
    root = chance.choice((ON_SHARED, AT_ROOT))
    log = LogBuilder(
        nprocs=chance.choice(RANKS), run_time=T, mounts=(*root, (chance.choice(LOCAL), "/local"))
    )
    for kind in dict.fromkeys(chosen):
        kind(log, chance)
    # What lies on a node is no longer known to do so once its name is hidden.
    return hidden(log) if on_the_node not in chosen and chance.random() < 0.2 else log
