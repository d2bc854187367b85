"""What one process could have got in each trial: the ceiling that matches what the trial did.

A trial that writes W bytes and reads R needs at least W / w + R / r seconds, where w and r are the measured sequential
rates. Dumps that sync are compared with writes that end with a sync, others with writes into the page cache. Reads are
compared with those from the storage where the study drops the page cache before each trial, else from memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.study.journal import Finished, Row
from workalike.study.machine_file import Ceiling, Machine
from workalike.study.statistics.table import Floats

WRITE, WRITE_CACHED, READ, READ_CACHED = "write", "write_cached", "read", "read_cached"
WORDS = {
    WRITE: "writes with a sync",
    WRITE_CACHED: "writes into the page cache",
    READ: "reads from the storage",
    READ_CACHED: "reads from the page cache",
}
BESIDE = ", measured beside other tasks of a job array"
"""What they did meanwhile makes a ceiling lower than it is."""


@dataclass(frozen=True)
class Possible:
    """Bytes per second that one process could have had in each trial, and the ceilings that were used.

    Args:
        rate: a value for each trial; NaN where no ceiling matches.
        ceilings: by what they are of, in words.
    """

    rate: Floats
    ceilings: Mapping[str, Ceiling]


def possible_of(finished: Sequence[Finished], machines: Sequence[Machine], *, drops_caches: bool) -> Possible:
    """What one process could have got in each trial.

    Args:
        finished: the trials.
        machines: the machine files of the study's results.
        drops_caches: whether the page cache is dropped before each trial.
    """
    by_system = {machine.system_id: machine for machine in machines if machine.system_id}
    read = READ if drops_caches else READ_CACHED
    used: dict[str, Ceiling] = {}
    rates = []
    for trial in finished:
        machine = by_system.get(str(trial.trial.get("system")))
        ceilings = machine.ceilings if machine is not None else {}
        moved = moved_by_kind(trial.dumps, read)
        rates.append(_rate(moved, ceilings))
        note = BESIDE if machine is not None and machine.beside_tasks else ""
        used |= {WORDS[kind] + note: ceilings[kind] for kind in moved if kind in ceilings}
    return Possible(np.array(rates, dtype=np.float64), used)


def moved_by_kind(dumps: Iterable[Row], read: str) -> dict[str, int]:
    """Bytes of a trial by the ceiling that they are compared with."""
    moved: dict[str, int] = {}
    for dump in dumps:
        write = WRITE if dump.get("fsyncs") else WRITE_CACHED
        for kind, size in ((write, dump["bytes_written"]), (read, dump["bytes_read"])):
            if size:
                moved[kind] = moved.get(kind, 0) + size
    return moved


def _rate(moved: Mapping[str, int], ceilings: Mapping[str, Ceiling]) -> float:
    if not moved or not moved.keys() <= ceilings.keys():
        return math.nan
    return sum(moved.values()) / sum(size / ceilings[kind].median for kind, size in moved.items())
