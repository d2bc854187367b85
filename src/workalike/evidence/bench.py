"""Where the runs of a measurement are made, how long they take, and how much time is left."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workalike.errors import WorkalikeError
from workalike.evidence.programs import bytes_of
from workalike.evidence.words import Reason
from workalike.files import free_bytes
from workalike.launch.run import REPLICA_LOG, RunOptions, run_plan
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.record.run_record import Record
from workalike.replica.probe import CallTimes, seconds_of
from workalike.study.measured import values_of

SPARE = 2
"""A run is made where this many times its bytes are free."""


class NotMeasured(Exception):
    """Something cannot be measured, for a reason of the closed list."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason.value)


@dataclass(frozen=True)
class Placement:
    """How many ranks run, and how they are started."""

    ranks: int
    nodes: int | None = None
    ranks_per_node: int | None = None
    launcher: str | None = None


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its record, its log where it was captured, and the seconds that the command waited for it."""

    record: Record
    log: Path
    took_s: float

    @property
    def bandwidth(self) -> float | None:
        """Bytes ÷ the time in which a dump was open; None where nothing was moved."""
        value = values_of(self.record)["bandwidth"]
        return value if value else None


@dataclass
class Bench:
    """Makes runs, one after the other.

    Attributes:
        data: an empty folder in the file system under test.
        out: a folder for records and logs.
        placement: ranks and launcher.
        ends: when the time is over, by the monotonic clock.
        report: is given what goes wrong, a line each.
        advanced: is called with the number of runs that are done, also those that were left out.
    """

    data: Path
    out: Path
    placement: Placement
    ends: float
    report: Callable[[str], None] = lambda _: None
    advanced: Callable[[int], None] = lambda _: None
    calls: CallTimes | None = None
    start_s: float = 0.0
    """What a run takes beside its I/O and its waiting."""
    rate: float | None = None
    """Bytes per second of the first run."""
    done: int = field(default=0, init=False)

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return self.ends - time.monotonic()

    def run(self, plan: Plan, out: str, *, capture: bool = False, silent: bool = True, **more: Any) -> Ran:
        """Make a run; its data is removed.

        Args:
            plan: what is performed.
            out: the folder of record and log, within that of the bench.
            capture: whether it runs under capture.
            silent: drop what engine and launcher say.
            more: further fields of `RunOptions`.

        Raises:
            NotMeasured: too little space is free, or the run took too long.
            WorkalikeError: as `run_plan`.
        """
        free = free_bytes(self.data)
        if free is not None and free < SPARE * bytes_of(plan):
            raise NotMeasured(Reason.NO_ROOM)
        options: dict[str, Any] = {"data": self.data, **more}
        begin = time.monotonic()
        try:
            record = run_plan(
                plan,
                RunOptions(
                    out=self.out / out,
                    nodes=self.placement.nodes,
                    ranks_per_node=self.placement.ranks_per_node,
                    launcher=self.placement.launcher,
                    capture=capture,
                    traces=capture,
                    quiet=True,
                    silent=silent,
                    limit_s=max(1.0, self.left_s),
                    **options,
                ),
            )
        except TimeoutError as error:
            raise NotMeasured(Reason.TOO_LONG) from error
        self.skip(1)
        return Ran(record, self.out / out / REPLICA_LOG, time.monotonic() - begin)

    def skip(self, runs: int) -> None:
        """Count runs as done."""
        self.done += runs
        self.advanced(self.done)

    def seconds_of(self, plan: Plan) -> float:
        """About how long a run takes, by what the first run took."""
        starts = core_plan(plan).times()["start_s"]
        waiting = float(starts.max()) * plan.time_scale if len(starts) else 0.0
        moving = bytes_of(plan) / self.rate if self.rate else 0.0
        calling = seconds_of(plan, self.calls, os.cpu_count() or 1) if self.calls else 0.0
        return self.start_s + waiting + max(moving, calling)


@contextmanager
def reported(bench: Bench, what: str) -> Iterator[None]:
    """Turn the failure of a run into a reason of the closed list. The error itself is reported, but not kept.

    Raises:
        NotMeasured: with the reason.
    """
    try:
        yield
    except NotMeasured as error:
        bench.report(f"{what}: {error.reason.value}")
        raise
    except WorkalikeError as error:
        bench.report(
            f"{what}: {error.kind.title}: {error.message}"
        )  # the hint speaks of lines that are dropped
        raise NotMeasured(Reason.FAILED) from error
