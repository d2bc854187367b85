"""Where a run stands among earlier runs of the same workload, and what is different.

Runs are of the same workload if they agree in program, ranks and family signatures (`facts.signature`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workalike.darshan import Log
from workalike.diagnose.finding import History, Moment, Standing
from workalike.facts.signature import alike
from workalike.fleet.history.runs import Earlier, Run, earlier_runs, run_of
from workalike.fleet.report.changes import LEAST_PAST, SCATTER

LEAST_CHANGE = 0.2
"""A quantity that is closer to its median, by this share of it, has not changed, however little it scattered."""
USUAL = 0.9
"""A library, file system or finding is usual if this share of the earlier runs had it."""


@dataclass(frozen=True)
class Quantity:
    """A number of a run. `unit` is B, B/s, s, or empty for a count; `always` it is shown, or where it changed."""

    key: str
    name: str
    unit: str = ""
    always: bool = False


QUANTITIES = (
    Quantity("bandwidth", "bandwidth", "B/s", always=True),
    Quantity("io_s", "I/O of the slowest rank", "s", always=True),
    Quantity("run_time", "run time", "s", always=True),
    Quantity("read_s", "rank time in reads", "s"),
    Quantity("write_s", "rank time in writes", "s"),
    Quantity("meta_s", "rank time in metadata calls", "s"),
    Quantity("bytes_read", "bytes read", "B"),
    Quantity("bytes_written", "bytes written", "B"),
    Quantity("reads", "reads"),
    Quantity("writes", "writes"),
    Quantity("opens", "opens"),
    Quantity("syncs", "syncs"),
    Quantity("files", "files"),
)


def history_of(
    logs: Sequence[Log], source: Path, progress: Callable[[int, int], None] = lambda _, __: None
) -> History:
    """What earlier runs, in a folder of logs or in a database, say of a job: of its log that spent most time in I/O.

    Raises:
        WorkalikeError: as `earlier_runs`.
    """
    this = max(map(run_of, logs), key=lambda run: run.numbers["io_s"])
    return compared(this, earlier_runs(this, source, progress)).model_copy(update={"of_logs": len(logs)})


def compared(this: Run, earlier: Earlier) -> History:
    """Where a run stands among its earlier ones."""
    same = [run for run in earlier.runs if alike(run.signature, this.signature)]
    standings = [standing for q in QUANTITIES if (standing := _standing(q, this, same)) is not None]
    return History(
        logs=earlier.logs,
        damaged=earlier.damaged,
        program_runs=len(earlier.runs),
        runs=len(same),
        enough=len(same) >= LEAST_PAST,
        standings=standings,
        changes=list(_differences(this, same) if same else _other_workload(this, earlier.runs)),
        moments=[
            Moment(start=run.start, bandwidth=run.numbers.get("bandwidth")) for run in [*same[::-1], this]
        ],
    )


def _standing(quantity: Quantity, this: Run, same: Sequence[Run]) -> Standing | None:
    """None where this run or all earlier ones lack the number, or where it is nothing in all of them."""
    values = np.array([run.numbers[quantity.key] for run in same if quantity.key in run.numbers])
    value = this.numbers.get(quantity.key)
    if value is None or not len(values) or not (value or values.any()):
        return None
    median = float(np.median(values))
    scatter = float(np.median(np.abs(values - median)))
    low, high = np.percentile(values, [5, 95]).tolist()
    far = abs(value - median)
    return Standing(
        key=quantity.key,
        name=quantity.name,
        unit=quantity.unit,
        always=quantity.always,
        value=value,
        median=median,
        low=low,
        high=high,
        percentile=100 * float((values < value).mean() + (values == value).mean() / 2),
        changed=len(values) >= LEAST_PAST and far > SCATTER * scatter and far > LEAST_CHANGE * median,
    )


def _differences(this: Run, same: Sequence[Run]) -> Iterator[str]:
    """Libraries, file systems and findings that are usual and gone, or that no earlier run had."""
    if len(same) < LEAST_PAST:
        return
    seen = Counter(run.library for run in same)
    usual, count = seen.most_common(1)[0]
    if this.library not in seen and count >= USUAL * len(same):
        yield f"instrumented by {this.library or 'an unknown version'}, so far by {usual or 'an unknown version'}"
    for what, now, before in (
        ("file system", this.mounts, [run.mounts for run in same]),
        ("finding", this.findings, [run.findings for run in same]),
    ):
        had = Counter(name for names in before for name in names)
        yield from (f"{what} {name} is new" for name in sorted(now - set(had)))
        usually = {name for name, count in had.items() if count >= USUAL * len(same)}
        yield from (f"{what} {name} is gone" for name in sorted(usually - now))


def _other_workload(this: Run, runs: Sequence[Run]) -> Iterator[str]:
    """How the newest run of the program differs, where none did the same I/O."""
    if not runs:
        return
    newest = runs[0].numbers
    for quantity in (q for q in QUANTITIES if q.unit in ("B", "")):
        before, now = newest[quantity.key], this.numbers[quantity.key]
        if abs(now - before) > LEAST_CHANGE * before:
            yield f"{quantity.name}: {now:,.0f}, in the newest earlier run {before:,.0f}"
    if len(this.signature) != len(runs[0].signature):
        yield f"file families: {len(this.signature)}, in the newest earlier run {len(runs[0].signature)}"
