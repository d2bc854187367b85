"""What is doubtful about the times of a log: each doubt with the figure that it follows from.

Times are bounded before they are used (`facts.plausible`, `timers`). Here is said what was wrong, so that a reader of
start times, overlap and I/O times knows how far they can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workalike.compare.record_times import CALLS, RecordTimes, times_in
from workalike.compare.timers import beyond_windows, impossible_timers, timers_of
from workalike.facts.plausible import plausible_stamps
from workalike.facts.records import FileFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.text import plural, seconds_text

CLOCKS_AGREE_S = 0.05
"""Clocks of ranks that differ by less are within the noise of a collective open."""
LATE_S = 1.0
"""Timestamps so far after the run's end are those of another clock; old logs count the run in whole seconds."""
OUTSIDE_SHARE = 0.05
"""Calls outside the windows are stated where they are more than this share of the I/O time."""


@dataclass
class _Found:
    impossible: int = 0
    backward: int = 0
    apart_s: float = 0.0
    after_s: float = 0.0
    inside_s: float = 0.0
    outside_s: float = 0.0


def doubts_about(files: Mapping[str, Sequence[FileFacts]], run_time: float) -> list[str]:
    """Sentences on times that cannot be true or do not fit each other; empty where all is well.

    Args:
        files: the files of the application, by the module of the level at which they are counted.
        run_time: the job's run time in seconds, which may be 0.
    """
    found = _Found()
    for module, of_module in files.items():
        records = times_in(of_module, module)
        if records is not None:
            found.impossible += impossible_timers(records, run_time)
            found.backward += _backward(records)
            found.after_s = max(found.after_s, _latest(records) - run_time)
            found.inside_s += sum(timers_of(records, run_time).values())
            found.outside_s += beyond_windows(records, run_time)
        for file in of_module:
            if "MPI-IO" in file.modules:
                found.apart_s = max(found.apart_s, clocks_apart(file))
    return _sentences(found, run_time)


def _sentences(found: _Found, run_time: float) -> list[str]:
    out = []
    if run_time <= 0:
        out.append("the run time is 0: shares of the run cannot be given")
    if found.impossible:
        out.append(
            f"{plural(found.impossible, 'timer')} impossible (not a number, or far longer than the run): taken as 0 s"
        )
    if found.backward:
        out.append(f"{plural(found.backward, 'record')} end before they begin: the window is taken as empty")
    if found.apart_s > CLOCKS_AGREE_S:
        out.append(
            f"ranks open a file collectively at times at least {seconds_text(found.apart_s)} apart: their clocks differ, so "
            "that start times and overlap are uncertain by as much, or groups of ranks open it in turn"
        )
    if found.after_s > LATE_S:
        out.append(
            f"timestamps are up to {seconds_text(found.after_s)} after the end of the run: clocks of ranks differ"
        )
    if found.outside_s > OUTSIDE_SHARE * found.inside_s:
        share = 100 * found.outside_s / found.inside_s
        out.append(
            f"{share:.0f} % of the I/O time is outside the windows of the timestamps: calls such as stat and fsync have "
            "none, or the timers are wrong"
        )
    return out


def _backward(records: RecordTimes) -> int:
    """Records with a kind of call whose last end is before its first start."""
    wrong: npt.NDArray[np.bool_] = np.zeros(len(records.ranks), dtype=bool)
    for call in CALLS:
        end = records.seconds(f"F_{call}_END_TIMESTAMP")
        wrong |= (end > 0) & (end < records.seconds(f"F_{call}_START_TIMESTAMP"))
    return int(wrong.sum())


def _latest(records: RecordTimes) -> float:
    """The latest timestamp that is one at all; 0 without one."""
    stamps = plausible_stamps(records.last(), THRESHOLDS.plausible_run)
    return float(stamps.max(initial=0.0))


def clocks_apart(file: FileFacts) -> float:
    """By how much clocks of ranks differ at the least, seconds, from the collective opens of a file.

    All ranks are inside a collective open at one moment. So the latest start of an open is not after the earliest end;
    what is beyond is a difference of clocks, or of opens by groups of ranks. Reduced records do not show it.
    """
    facts = file.modules["MPI-IO"]
    together = (facts.ranks >= 0) & (facts.column("COLL_OPENS") > 0)
    records = times_in([file], "MPI-IO")
    if records is None or int(together.sum()) < 2:
        return 0.0
    start = records.seconds("F_OPEN_START_TIMESTAMP")[together]
    end = records.seconds("F_OPEN_END_TIMESTAMP")[together]
    known = (start > 0) & (end > 0)
    return max(0.0, float(start[known].max() - end[known].min())) if known.any() else 0.0
