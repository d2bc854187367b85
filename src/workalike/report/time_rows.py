"""The report's figures of times, as text: each with its values on both sides, its ratio, and what it is."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.compare.fidelity_schema import FamilyFidelity, Fidelity
from workalike.text import seconds_text

_NAMES = {
    "io_time": ("I/O time", "seconds inside calls at the families' level, of all ranks together"),
    "io_time_mean": ("I/O time of a rank", "the mean over all ranks of the job"),
    "waiting": (
        "waiting in collective calls",
        "the part of MPI-IO calls that is not in POSIX calls below; all ranks together",
    ),
    "calls": ("first to last I/O call", "wall clock"),
    "run": ("whole run", "wall clock"),
}


@dataclass(frozen=True)
class TimeRow:
    """One figure of the times; `note` says what it is, and why it is not known or not compared."""

    name: str
    original: str
    replica: str
    ratio: str
    note: str


def time_rows(fidelity: Fidelity) -> list[TimeRow]:
    """The times of the whole run; empty where neither side has any."""
    times = fidelity.times
    rows = []
    for field, (name, meaning) in _NAMES.items():
        before, after = getattr(times, f"{field}_original_s"), getattr(times, f"{field}_replica_s")
        if before is None and after is None:
            continue
        ratio = getattr(times, f"{field}_ratio", None)
        unknown = (f"{field}_original_s", f"{field}_replica_s", f"{field}_ratio")
        reasons = [times.unknown[name] for name in unknown if name in times.unknown]
        note = "; ".join(dict.fromkeys([meaning, *reasons]))
        rows.append(TimeRow(name, seconds_text(before), seconds_text(after), ratio_text(ratio), note))
    if times.late_max_s is not None:
        mean, most = seconds_text(times.late_mean_s), seconds_text(times.late_max_s)
        rows.append(
            TimeRow("late", "-", f"{mean}, at most {most}", "-", "dumps that begin after they are due")
        )
    return rows


def ratio_text(ratio: float | None) -> str:
    """A ratio of times; `-` where they do not compare."""
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}"


@dataclass(frozen=True)
class FamilyTimes:
    """The times of a family; `reasons` are why some are not known."""

    family: FamilyFidelity
    ratio: str
    waiting: str
    reasons: list[str]


def family_times(fidelity: Fidelity, shown: list[FamilyFidelity]) -> list[FamilyTimes]:
    """The times of each family shown; empty where none has any."""
    comparable = fidelity.scale.bytes == 1 and fidelity.scale.ranks == 1
    rows = []
    for family in shown:
        before, after = family.io_time_original_s, family.io_time_replica_s
        ratio = after / before if comparable and before and after is not None else None
        waits = (family.waiting_original_s, family.waiting_replica_s)
        waiting = "-" if waits == (None, None) else " / ".join(seconds_text(wait) for wait in waits)
        rows.append(FamilyTimes(family, ratio_text(ratio), waiting, list(family.unknown.values())))
    return rows if any(_has_times(family) for family in shown) else []


def _has_times(family: FamilyFidelity) -> bool:
    return family.start_time_error_max_s is not None or family.io_time_replica_s is not None


def reasons_of(rows: list[FamilyTimes]) -> list[str]:
    """Why times of families are not known, each reason once."""
    return list(dict.fromkeys(reason for row in rows for reason in row.reasons))
