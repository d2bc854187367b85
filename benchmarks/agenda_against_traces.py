"""When is each operation? The agenda with its virtual clock, built without traces (DXT), judged by the traces.

    python benchmarks/agenda_against_traces.py [LOG ...]

The traces are taken out of each known log that has complete ones. The rest is characterized and planned at full scale,
and the core gives the timeline of every rank. The trace has the original's times. Operations are compared in their
order on a rank. Errors are in per cent of the run time; a rank that has operations on one side only is 100 % off.

Beside each error is what the log without traces leaves open (`agenda_left_open`): an agenda may be nearer by chance, but
no agenda made from that log can be sure to be.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from agenda_left_open import Confined, confined, last_of_file
from full_scale import known_logs
from results import Results

from workalike.characterize import characterize
from workalike.characterize.result import Characterization, FamilyFacts
from workalike.darshan import Log, open_log
from workalike.errors import WorkalikeError
from workalike.facts.jobs import job_of
from workalike.facts.records import FloatArray, IntArray
from workalike.facts.traces import Trace, Traces
from workalike.plan.resolve import Options, resolve
from workalike.plan.timeline import timeline
from workalike.workload.model import Direction

TARGET = 1.0  # per cent
SLACK = 0.1  # per cent of the run by which two clocks of a log may differ
DXT = ("DXT_POSIX", "DXT_MPIIO")
MOST_RANKS = 256
"""Ranks of a log that are compared, spread evenly over all."""

Times = dict[tuple[int, int, Direction, int], list[float]]
"""(family, dump, direction, rank) -> starts of its operations."""


@dataclass
class Errors:
    """Per cent of the run: starts of the first and the last operation of each file and of each rank in it, and each start.

    Where an operation ends is up to the storage system of a replica, so ends are not judged.
    """

    run_time: float
    files: list[float] = field(default_factory=list)
    ranks: list[float] = field(default_factory=list)
    starts: list[FloatArray] = field(default_factory=list)
    open_files: list[float] = field(default_factory=list)
    open_ranks: list[float] = field(default_factory=list)
    open_starts: list[FloatArray] = field(default_factory=list)
    outside: int = 0  # starts where the log says that there are none

    def off(self, found: float, true: float) -> float:
        return 100 * abs(found - true) / self.run_time

    def all_starts(self) -> FloatArray:
        return np.concatenate(self.starts)

    def row(self) -> tuple[float, float, float, float]:
        """Median of starts; the share of starts within the target; largest of files and of ranks."""
        starts = self.all_starts()
        within = 100 * float(np.mean(starts <= TARGET))
        return float(np.median(starts)), within, max(self.files), max(self.ranks)

    def left_open(self) -> tuple[float, float, float]:
        """What the log leaves open of the median of starts, and of the largest error of files and of ranks."""
        starts = np.concatenate([np.zeros(0), *self.open_starts])
        return (
            float(np.median(starts)) if len(starts) else 0.0,
            max(self.open_files, default=0.0),
            max(self.open_ranks, default=0.0),
        )


def without_traces(path: Path) -> Log:
    """The log as if it had been written without traces."""
    log = open_log(path)
    for module in DXT:
        log.modules.pop(module, None)
    assert all(log.dxt(module) is None for module in DXT)
    return log


def planned_times(found: Characterization, ranks: list[int]) -> Times:
    """When each rank begins and ends each of its operations, by the core's virtual clock."""
    plan = resolve(found.workload, Options())
    number = {(family.role.value, family.number): place for place, family in enumerate(plan.families)}
    out: Times = {}
    for rank in ranks:
        for call in timeline(plan, rank):
            if call.call in ("read", "write"):
                key = (number[call.role, call.number], call.dump, Direction(call.call), rank)
                out.setdefault(key, []).append(call.start_s)
    return out


def add_family(
    errors: Errors, place: int, facts: FamilyFacts, times: Times, traces: Traces, log: Log
) -> None:
    level = facts.family.counted_at
    ranks = {rank for *_, rank in times}
    for direction in Direction:
        for group in groups_of(facts, direction):
            files = {
                f.key: f for dump in group for f in facts.dumps[dump].files if f.bytes_at(level, direction)
            }
            found = [traces.of_file(file, level, direction) for file in files.values()]
            known = [trace for trace in found if trace is not None]
            if not known or len(known) < len(found):
                continue
            made = {rank: _made(times, place, group, direction, rank) for rank in ranks}
            spans = [
                confined(log, file, level, direction, trace)
                for file, trace in zip(files.values(), known, strict=True)
            ]
            for file, trace, span in zip(files.values(), known, spans, strict=True):
                if add_file(errors, trace, made) and span is not None:
                    left = last_of_file(log, file, level, direction)
                    errors.open_files.append(100 * left / errors.run_time)
            all_ranks, all_starts = (
                np.concatenate([getattr(trace, name) for trace in known]) for name in ("ranks", "starts")
            )
            all_spans = joined(spans)
            if all_spans is not None:
                errors.outside += all_spans.wrong(all_starts, SLACK / 100 * errors.run_time)
            for rank, rows in by_rank(all_ranks, all_starts):
                if rank in ranks:
                    add_rank(errors, made[rank], all_starts[rows])
                    add_open(errors, all_spans, rows)


def groups_of(facts: FamilyFacts, direction: Direction) -> list[list[int]]:
    """The dumps of a direction: those that share files together, the others each alone."""
    places = [place for place, dump in enumerate(facts.dumps) if dump.bytes_in(direction)]
    uses = Counter(file.key for place in places for file in facts.dumps[place].files)
    alone = [place for place in places if all(uses[file.key] == 1 for file in facts.dumps[place].files)]
    together = [place for place in places if place not in set(alone)]
    return [*([place] for place in alone), *([together] if together else [])]


def _made(times: Times, family: int, dumps: list[int], direction: Direction, rank: int) -> FloatArray:
    return np.sort([start for dump in dumps for start in times.get((family, dump, direction, rank), [])])


def joined(spans: Sequence[Confined | None]) -> Confined | None:
    """The spans of several files, one after the other; None where they are not known of all."""
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    return Confined(*(np.concatenate([getattr(span, name) for span in known]) for name in ("low", "high")))


def add_open(errors: Errors, spans: Confined | None, rows: IntArray) -> None:
    """What the log leaves open of the operations of a rank."""
    if spans is not None:
        per_cent = 100 / errors.run_time
        errors.open_ranks += [spans.first(rows) * per_cent, spans.last(rows) * per_cent]
        errors.open_starts.append(spans.half()[rows] * per_cent)


def add_file(errors: Errors, trace: Trace, made: dict[int, FloatArray]) -> bool:
    """The starts of the first and the last operation in a file, by all ranks that use it; False if not all are compared."""
    users = set(trace.ranks.tolist())
    if not users <= made.keys():
        return False
    parts = [made[rank] for rank in users if len(made[rank])]
    if not parts:
        errors.files += [100.0, 100.0]
        return True
    errors.files.append(errors.off(min(float(starts[0]) for starts in parts), float(trace.starts.min())))
    errors.files.append(errors.off(max(float(starts[-1]) for starts in parts), float(trace.starts.max())))
    return True


def add_rank(errors: Errors, starts: FloatArray, true: FloatArray) -> None:
    if not len(starts):
        errors.ranks += [100.0, 100.0]
        errors.starts.append(np.full(len(true), 100.0))
        return
    errors.ranks += [errors.off(float(starts[place]), float(true[place])) for place in (0, -1)]
    places = np.linspace(0, 1, len(true)) if len(true) > 1 else np.zeros(1)
    same = np.interp(places, np.linspace(0, 1, len(starts)), starts) if len(starts) > 1 else starts[0]
    errors.starts.append(100 * np.abs(same - true) / errors.run_time)


def by_rank(ranks: IntArray, starts: FloatArray) -> Iterator[tuple[int, IntArray]]:
    """(rank, places of its operations in the order of their starts) of each rank."""
    order = np.lexsort((starts, ranks))
    bounds = np.flatnonzero(np.diff(ranks[order])) + 1
    for rows in np.split(order, bounds):
        yield int(ranks[rows[0]]), rows


def errors_of(path: Path) -> Errors | None:
    """None for a log without complete traces of what can be replicated."""
    log = open_log(path)
    if not any(log.dxt(module) is not None for module in DXT):
        return None
    try:
        found = characterize([without_traces(path)])
    except WorkalikeError:
        return None
    total = found.workload.ranks
    chosen = np.unique(np.linspace(0, total - 1, min(total, MOST_RANKS)).round().astype(int)).tolist()
    times = planned_times(found, chosen)
    job = job_of([log])
    errors, traces = Errors(job.run_time), Traces(job)
    for place, facts in enumerate(found.families):
        if facts.family.schedule.dumps == len(facts.dumps):
            add_family(errors, place, facts, times, traces, log)
    return errors if errors.files and errors.starts else None


def add_misses(results: Results, measure: str, found: dict[str, tuple[float, float]]) -> None:
    """Which logs miss a target, by how much, and how much of it their counters leave open."""
    missed = {name: both for name, both in found.items() if both[0] > TARGET}
    if missed:
        logs = ", ".join(f"`{name}`: {off:.1f} %, {left:.1f} % open" for name, (off, left) in missed.items())
        results.add(
            f"logs that miss it ({measure.removeprefix('… ')}): the error, and what their counters, timestamps and "
            "heatmap leave open",
            logs,
        )


def main() -> int:
    logs = [Path(word) for word in sys.argv[1:]] or known_logs()
    print(
        "per cent of the run: starts (median), starts within 1 %, first and last of files (max), of ranks (max); "
        "what the log leaves open of the first, third and fourth"
    )
    found: dict[str, Errors] = {}
    for path in logs:
        errors = errors_of(path)
        if errors is None:
            continue
        found[path.name] = errors
        median, within, files, ranks = errors.row()
        still_open = " ".join(f"{value:7.3f}" for value in errors.left_open())
        print(
            f"{median:8.3f} {within:7.1f} {files:8.3f} {ranks:8.3f}; {still_open}  {len(errors.files) // 2:5} files "
            f"{len(errors.all_starts()):9,} operations  {path.name[:50]}",
            flush=True,
        )
        if errors.outside:
            print(f"{errors.outside} of its starts are where its counters say that there are none")
    results = Results()
    for measure, column, left in (
        ("start of each operation, median error", 0, 0),
        ("first and last operation of each file, largest error", 2, 1),
        ("… of each rank in a file", 3, 2),
    ):
        values = [errors.row()[column] for errors in found.values()]
        good = sum(value <= TARGET for value in values)
        results.add(
            f"agenda without traces, judged by traces: {measure}",
            f"at most 1 % of the run in {good} of {len(values)} logs",
            target="all",
            reached=good == len(values),
            logs=float(good),
        )
        add_misses(
            results, measure, {name: (e.row()[column], e.left_open()[left]) for name, e in found.items()}
        )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
