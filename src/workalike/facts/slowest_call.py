"""The slowest read or write of a job: a log keeps of each file how long its slowest call took, and what it moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.facts.columns import Facts
from workalike.facts.records import BoolArray
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Direction

MODULES = ("POSIX", "MPI-IO", "H5D", "PNETCDF_VAR")
"""Those that keep it, the lowest first: the time of a call holds that of the calls below it. STDIO does not."""
TIMERS = {
    Direction.READ: ("F_MAX_READ_TIME", "MAX_READ_TIME_SIZE"),
    Direction.WRITE: ("F_MAX_WRITE_TIME", "MAX_WRITE_TIME_SIZE"),
}


@dataclass(frozen=True)
class SlowestCall:
    """The slowest read or write: seconds, the bytes that it moved, its module, and the row of its file."""

    seconds: float
    bytes: int
    direction: Direction
    module: str
    file: int

    @property
    def words(self) -> str:
        """Its interface and direction, such as "MPI-IO write"."""
        interface = {"H5D": "HDF5", "PNETCDF_VAR": "PnetCDF"}.get(self.module, self.module)
        return f"{interface} {self.direction.value}"


def slowest_call(facts: Facts, kept: BoolArray) -> SlowestCall | None:
    """The slowest read or write of some files; None where no module says, or all took no time.

    A time that is longer than the run does not count: damaged records hold such numbers. Of several modules
    that saw a call, the highest one has the longest time.

    Args:
        facts: of a job with N files.
        kept: bool[N], the files that count.

    Source: docs/reference/darshan-meaning.md, on the slowest call.
    """
    longest = min(THRESHOLDS.compute_most, facts.run_time + THRESHOLDS.run_time_rounded)
    found: SlowestCall | None = None
    for module in MODULES:
        records = facts.modules.get(module)
        if records is None or not len(records):
            continue
        for direction, (timer, size) in TIMERS.items():
            if timer not in records.fcounter_names or size not in records.counter_names:
                continue
            seconds = records.fcounters[:, records.fcounter_names.index(timer)]
            true = np.isfinite(seconds) & (seconds > 0) & (seconds <= longest) & kept[records.file]
            if not true.any():
                continue
            row = int(np.argmax(np.where(true, seconds, 0.0)))
            if found is None or seconds[row] >= found.seconds:
                moved = max(0, int(records.column(size)[row]))
                found = SlowestCall(float(seconds[row]), moved, direction, module, int(records.file[row]))
    return found
