"""What a mix costs each of its workloads in one round, from the records of the runs alone and side by side.

* I/O time of a dump: seconds that a rank is in its calls, the mean over the dump's ranks (`total_s` of all kinds of
  calls ÷ ranks, docs/plan-format.md, "Record").
* Slowdown of a dump: its I/O time side by side ÷ alone. Of a copy: the same of the sums.
* Fairness: Jain's index over the copies' speeds, which are 1 ÷ slowdown: (Σ x)² ÷ (n Σ x²). 1 when all are slowed
  down alike, 1/n when all but one stand still (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).
* Share of the run time in I/O: seconds of all ranks in calls ÷ (ranks × wall-clock time).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from workalike.record.run_record import Record, RecordDump, memory_reasons


@dataclass(frozen=True)
class DumpTimes:
    """One dump: seconds of I/O alone and side by side."""

    family: str
    index: int
    alone_s: float
    together_s: float

    @property
    def slowdown(self) -> float | None:
        return ratio(self.together_s, self.alone_s)

    def as_dict(self) -> dict[str, Any]:
        """The dump as plain values."""
        return {**asdict(self), "slowdown": self.slowdown}


@dataclass(frozen=True)
class CopyResult:
    """One copy of a workload in one round.

    Attributes:
        name, copy: which of the mix.
        ranks: of the run.
        started_s: when it was started, seconds from the beginning of the mix.
        dumps: times of each dump.
        wall_alone_s, wall_together_s: wall-clock time of the run.
        share_alone, share_together: share of the run time in I/O; None if the run took no time.
        bytes_written, bytes_read: side by side.
        in_memory: why the page cache may have held the data side by side.
        differences: dumps whose bytes or counts are not those of the run alone.
    """

    name: str
    copy: int
    ranks: int
    started_s: float
    dumps: tuple[DumpTimes, ...]
    wall_alone_s: float
    wall_together_s: float
    share_alone: float | None
    share_together: float | None
    bytes_written: int
    bytes_read: int
    differences: tuple[str, ...]
    in_memory: tuple[str, ...] = ()

    @property
    def alone_s(self) -> float:
        return sum(dump.alone_s for dump in self.dumps)

    @property
    def together_s(self) -> float:
        return sum(dump.together_s for dump in self.dumps)

    @property
    def slowdown(self) -> float | None:
        return ratio(self.together_s, self.alone_s)

    @property
    def slowest(self) -> DumpTimes | None:
        """The dump with the most I/O time side by side."""
        return max(self.dumps, key=lambda dump: dump.together_s, default=None)

    @property
    def most_slowed(self) -> DumpTimes | None:
        """The dump with the largest slowdown."""
        known = [dump for dump in self.dumps if dump.slowdown is not None]
        return max(known, key=lambda dump: dump.slowdown or 0.0, default=None)

    def as_dict(self) -> dict[str, Any]:
        """What differs from round to round, as plain values."""
        return {
            "started_s": self.started_s,
            "slowdown": self.slowdown,
            "io_alone_s": self.alone_s,
            "io_together_s": self.together_s,
            "wall_alone_s": self.wall_alone_s,
            "wall_together_s": self.wall_together_s,
            "slowest_dump": self.slowest.as_dict() if self.slowest else None,
            "most_slowed_dump": self.most_slowed.as_dict() if self.most_slowed else None,
            "dumps": [dump.as_dict() for dump in self.dumps],
        }


def copy_result(name: str, copy: int, started_s: float, alone: Record, together: Record) -> CopyResult:
    """Compare a run side by side with the same plan's run alone."""
    before = {_key(dump): dump for dump in alone.dumps}
    after = {_key(dump): dump for dump in together.dumps}
    missing = [f"{_name(dump)}: not performed" for key, dump in before.items() if key not in after]
    changed = [
        f"{_name(dump)}: {what}"
        for key, dump in after.items()
        if (what := _difference(before.get(key), dump)) is not None
    ]
    return CopyResult(
        name,
        copy,
        together.processes,
        started_s,
        tuple(
            DumpTimes(f"{dump.role.value} {dump.number}", dump.index, _io_s(before[key]), _io_s(dump))
            for key, dump in after.items()
            if key in before
        ),
        alone.wall_s or 0.0,
        together.wall_s or 0.0,
        _share(alone),
        _share(together),
        sum(dump.bytes_written for dump in together.dumps),
        sum(dump.bytes_read for dump in together.dumps),
        (*missing, *changed),
        tuple(memory_reasons(together)),
    )


def _rank_s(dump: RecordDump) -> float:
    """Seconds of all ranks in the calls of a dump."""
    return sum(times.total_s for times in dump.kinds.values())


def _io_s(dump: RecordDump) -> float:
    return _rank_s(dump) / max(1, dump.ranks)


def _share(record: Record) -> float | None:
    return ratio(sum(map(_rank_s, record.dumps)), record.processes * (record.wall_s or 0.0))


def _key(dump: RecordDump) -> tuple[int, int]:
    return dump.family, dump.index


def _name(dump: RecordDump) -> str:
    return f"{dump.role.value} {dump.number}, dump {dump.index}"


def _difference(alone: RecordDump | None, together: RecordDump) -> str | None:
    if alone is None:
        return "not performed alone"
    for field in ("bytes_written", "bytes_read", "ranks"):
        if getattr(alone, field) != getattr(together, field):
            return f"{getattr(together, field):,} {field.replace('_', ' ')}, alone {getattr(alone, field):,}"
    for counter in sorted({*alone.counters, *together.counters}):
        if alone.counters.get(counter) != together.counters.get(counter):
            return f"another {counter} than alone"
    return None


def ratio(part: float, whole: float) -> float | None:
    """part ÷ whole; None where there is no whole."""
    return part / whole if whole > 0 else None


def fairness(slowdowns: Iterable[float | None]) -> float | None:
    """Jain's index over 1 ÷ slowdown; None if no slowdown is known."""
    speeds = [1 / slowdown for slowdown in slowdowns if slowdown]
    squares = sum(speed * speed for speed in speeds)
    return sum(speeds) ** 2 / (len(speeds) * squares) if squares else None
