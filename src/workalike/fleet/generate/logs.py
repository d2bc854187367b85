"""The jobs of a made-up centre as logs in Darshan's format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workalike.darshan import LogBuilder
from workalike.files import make_folder, write_text
from workalike.fleet.generate.habits import RATE, STRIPES, TARGETS, GeneratedJob, Truth, jobs, users

MOUNTS = (("lustre", "/scratch"), ("nfs", "/home"))
MIB = 2**20


def write_fleet(
    folder: Path,
    count: int,
    *,
    seed: int = 1,
    days: float = 56.0,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Truth:
    """Write so many logs into `folder/logs`, and `folder/site.yaml` with the users' names; what was planted.

    `progress` is called with the number of logs that are written, and of all logs.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    made, truth = jobs(count, seed=seed, days=days)
    logs = folder / "logs"
    for number in range(0, count, 1000):
        make_folder(logs / f"{number // 1000:04d}")
    for job in made:
        place = logs / f"{(job.number - 1) // 1000:04d}"
        log_of(job).write(place / f"{job.habit.user}_{job.habit.application}_id{job.number}.darshan")
        progress(job.number, count)
    write_text(folder / "users.csv", "uid,name\n" + "".join(f"{uid},{name}\n" for uid, name in users()))
    write_text(folder / "site.yaml", "name: demo\nusers: users.csv\nstaff: [flo]\n")
    return truth


def log_of(job: GeneratedJob) -> LogBuilder:
    """The log of one job."""
    habit = job.habit
    log = LogBuilder(
        habit.ranks,
        job.run_time * (0.4 if job.failed else 1.0),
        start_time=job.start,
        uid=habit.uid,
        job_id=job.number,
        exe=f"/apps/bin/{habit.application} -i run.in",
        mounts=MOUNTS,
    )
    home = f"/scratch/{habit.user}"
    _data(
        log,
        job,
        f"{home}/{habit.application}/chk_{job.turn:06d}.h5",
        written=round(habit.written * job.grown),
    )
    previous = f"{home}/{habit.application}/chk_{job.turn - 1:06d}.h5"
    if job.turn and habit.checkpoints_read:
        _data(log, job, previous, read=habit.read)
    else:
        _data(log, job, f"{home}/{habit.application}/input.nc", read=habit.read)
    if habit.redundant:
        _redundant(log, job, f"{home}/tables/eos.dat")
    if habit.small_writes:
        _small(log, job, f"{home}/{habit.application}/tracks_{job.turn:06d}")
    if habit.meta_per_rank_s:
        spent = habit.meta_per_rank_s * habit.ranks
        log.posix(
            f"{home}/parts/index_{job.turn}", OPENS=habit.ranks, STATS=3 * habit.ranks, F_META_TIME=spent,
            F_SLOWEST_RANK_TIME=1.2 * habit.meta_per_rank_s,
        )  # fmt: skip
    if job.failed:
        log.partial("POSIX")
    return log


def _data(log: LogBuilder, job: GeneratedJob, name: str, *, written: int = 0, read: int = 0) -> None:
    """A shared file in operations of 4 MiB, striped over targets from the job's on."""
    ranks = job.habit.ranks
    targets = [(job.target + i) % TARGETS for i in range(STRIPES)]
    # The slowest stripe decides: all of the file waits for it.
    elapsed = (written + read) / (RATE * STRIPES) * job.slowness * job.slow_target
    timer = "F_WRITE_TIME" if written else "F_READ_TIME"
    kind = "WRITE" if written else "READ"
    size = 4 * MIB
    count = max(1, (written + read) // size)
    begin, end = (60.0, 60.0 + elapsed) if read else (job.run_time / 2, job.run_time / 2 + elapsed)
    values: dict[str, float] = {
        "OPENS": ranks,
        f"{kind}S": count,
        "BYTES_WRITTEN" if written else "BYTES_READ": written + read,
        f"MAX_BYTE_{'WRITTEN' if written else 'READ'}": written + read - 1,
        f"SIZE_{kind}_1M_4M": count,
        "ACCESS1_ACCESS": size,
        "ACCESS1_COUNT": count,
        timer: elapsed * ranks * 0.9,
        "F_META_TIME": 0.01 * ranks,
        "F_SLOWEST_RANK_TIME": elapsed,
        f"F_{kind}_START_TIMESTAMP": begin,
        f"F_{kind}_END_TIMESTAMP": end,
        "F_OPEN_START_TIMESTAMP": begin - 1,
        "F_CLOSE_END_TIMESTAMP": end + 1,
    }
    log.record("POSIX", name, -1, None, **values)
    log.lustre(name, osts=targets)


def _redundant(log: LogBuilder, job: GeneratedJob, name: str) -> None:
    extent = 2**30
    log.posix(
        name, OPENS=job.habit.ranks, READS=job.habit.redundant // 8192, BYTES_READ=job.habit.redundant + extent + 1,
        MAX_BYTE_READ=extent, SIZE_READ_1K_10K=job.habit.redundant // 8192, F_READ_TIME=300.0 * job.habit.ranks,
        F_SLOWEST_RANK_TIME=330.0,
    )  # fmt: skip


def _small(log: LogBuilder, job: GeneratedJob, name: str) -> None:
    count = job.habit.small_writes
    log.posix(
        name, OPENS=job.habit.ranks, WRITES=count, BYTES_WRITTEN=24 * count, MAX_BYTE_WRITTEN=24 * count - 1,
        SIZE_WRITE_0_100=count, F_WRITE_TIME=260.0 * job.habit.ranks, F_SLOWEST_RANK_TIME=290.0,
    )  # fmt: skip
