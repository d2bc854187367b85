"""Where the experiments of `paper_claims.py` run, and how what they compare is put: a figure, a ratio, a workload."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from catalogue import ROOT

sys.path.append(str(ROOT / "tests"))
sys.path.append(str(ROOT / "tests" / "support"))
from system.testbed import CephBed
from workalike.darshan import open_log
from workalike.diagnose.job import Job, read_job
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import Record
from workalike.workload.workload_file import parse_workload

DELAY_S = 0.002
MIB = 2**20


@dataclass(frozen=True)
class Run:
    """The seconds in the run's dumps, its record, and the bytes of its log, if it was captured."""

    io_s: float
    record: Record
    log_bytes: int = 0
    job: Job | None = None


@dataclass(frozen=True)
class Found:
    """The claims, what was measured, and the figure."""

    claims: str
    measure: str
    figure: str


@dataclass
class Place:
    """Where an experiment runs, and how often it repeats what it compares."""

    bed: CephBed
    repeats: int
    runs: int = 0

    def run(self, text: str, *, capture: bool = False, traces: bool = False, data: Path | None = None) -> Run:
        self.runs += 1
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder)
            options = RunOptions(
                data=data or self.bed.mount / f"run-{self.runs}",
                out=out,
                quiet=True,
                capture=capture,
                traces=traces,
            )
            record = run_plan(resolve(parse_workload(text), Options(time_scale=0)), options)
            log = out / "replica.darshan"
            io_s = sum(dump.io_s for dump in record.dumps)
            if not capture:
                return Run(io_s, record)
            return Run(io_s, record, log.stat().st_size, read_job([open_log(log)]))

    def alternated(self, texts: dict[str, str], **how: bool) -> dict[str, list[float]]:
        """I/O seconds of each workload, `repeats` times, in random order within a block."""
        found: dict[str, list[float]] = {name: [] for name in texts}
        for _ in range(self.repeats):
            for name in random.sample(list(texts), len(texts)):
                found[name].append(self.run(texts[name], **how).io_s)
        return found

    def operations(self) -> int:
        """What clients asked of the storage daemons so far."""
        return sum(v["writes"] + v["reads"] for v in self.bed("counters").values())


def workload(
    ranks: int,
    streams: str,
    *,
    sharing: str = "shared",
    interface: str = "mpiio",
    more: str = "",
    dumps: int = 1,
) -> str:
    return f"""\
workalike: 2
ranks: {ranks}
families:
- role: checkpoint
  interface: {interface}
  sharing: {sharing}
{more}  schedule: {{count: {dumps}, first: 0 s, every: 1 s}}
  content: {{streams: [{streams}]}}
"""


def median_of(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{1e3 * statistics.median(values):.0f} ms ({1e3 * low:.0f} to {1e3 * high:.0f})"


def spread(values: Sequence[float]) -> float:
    """The coefficient of variation."""
    return statistics.stdev(values) / statistics.mean(values)


def ratio_text(
    above: Sequence[float], below: Sequence[float], statistic: Callable[[Sequence[float]], float]
) -> str:
    """A ratio of two statistics with its 95 % interval, by resampling."""
    dice = np.random.default_rng()
    draws = [
        statistic(dice.choice(above, len(above)).tolist())
        / max(1e-12, statistic(dice.choice(below, len(below)).tolist()))
        for _ in range(2000)
    ]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{statistic(above) / statistic(below):.2f} ({low:.2f} to {high:.2f})"
