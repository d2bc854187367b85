"""How long a file system takes for a call, measured in a fraction of a second, and for all calls of a plan."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workalike import _core
from workalike.files import writing
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan

SECONDS_EACH = 0.05
"""How long each kind of call is measured."""
SIZE, WITHIN = 4096, 2**22
"""Bytes of a call, and of the file that it writes."""
MOST_COUNTED = 20_000_000
"""Calls without a rule that are counted one by one; a plan with more takes longer than anybody waits."""


@dataclass(frozen=True)
class CallTimes:
    """Seconds of a call of one process, each with the little that Python adds."""

    open: float
    """Creating, closing and removing a file."""
    transfer: float
    sync: float


def call_times(folder: Path) -> CallTimes:
    """Measure calls on files of our own in a folder; they are removed.

    Raises:
        WorkalikeError: CANNOT_WRITE.
    """
    with writing(folder, "give a writable folder with --dir"):
        created = _seconds_of(lambda: _create_and_remove(folder))
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            data, descriptor, place = bytes(SIZE), file.fileno(), 0

            def write() -> None:
                nonlocal place
                os.pwrite(descriptor, data, place)
                place = (place + SIZE) % WITHIN

            def write_and_sync() -> None:
                write()
                os.fsync(descriptor)

            written = _seconds_of(write)
            return CallTimes(created, written, _seconds_of(write_and_sync))


def seconds_of(plan: Plan, times: CallTimes, cores: int) -> float:
    """About how long the calls of a plan take, without its waiting; infinite where they are too many to be counted.

    What a library adds to a call is not known before, so it is left out.
    """
    try:
        counts = core_plan(plan).count(most=MOST_COUNTED)
    except _core.PlanError:
        return float("inf")
    calls = {kind: int(counts[f"calls_{kind}"].sum()) for kind in _core.kinds}
    syncs = calls.pop("fsync")
    opens = calls.pop("open")
    calls.pop("close")
    busy = opens * times.open + syncs * times.sync + sum(calls.values()) * times.transfer
    return busy / max(1, min(plan.ranks, cores))


def _create_and_remove(folder: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=folder, buffering=0):
        pass


def _seconds_of(call: Callable[[], None]) -> float:
    """The mean time of a call that is repeated for a while."""
    begin = time.perf_counter()
    count = 0
    while (passed := time.perf_counter() - begin) < SECONDS_EACH or not count:
        call()
        count += 1
    return passed / count
