"""When are a dump's operations? Windows made without traces (DXT), judged by the traces of the same logs.

    python benchmarks/windows_against_traces.py [LOG ...]

Each known log with a complete trace is characterized without it and planned at full scale. The plan says when each rank
begins its first operation of a dump and direction, and when it ends the last one; operations between them are spaced
evenly. The trace has the original's times. Errors are in per cent of the run time.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from full_scale import known_logs
from results import Results

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.result import FamilyFacts
from workalike.characterize.traced import Trace, Traces
from workalike.characterize.windows import bytes_of
from workalike.darshan import open_log
from workalike.errors import WorkalikeError
from workalike.facts.jobs import job_of
from workalike.facts.records import FloatArray
from workalike.plan.plan_schema import Plan, PlanDump
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Direction

TARGET = 1.0  # per cent


@dataclass
class Errors:
    """Per cent of the run: of the first start and last end of each file, of each rank, and of each start."""

    run_time: float
    files: list[float] = field(default_factory=list)
    ranks: list[float] = field(default_factory=list)
    starts: list[FloatArray] = field(default_factory=list)

    def add_ends(self, into: list[float], found: tuple[float, float], true: tuple[float, float]) -> None:
        into += [100 * abs(a - b) / self.run_time for a, b in zip(found, true, strict=True)]

    def all_starts(self) -> FloatArray:
        return np.concatenate(self.starts)


def planned(dump: PlanDump, direction: Direction) -> tuple[float, float, float]:
    """(first start, last end, seconds inside calls) of a dump's operations in a direction."""
    window = dump.writes if direction is Direction.WRITE else dump.reads
    length = dump.end_s - dump.start_s
    first, last, busy = window or (0.0, length, max(0.0, length - dump.compute_s))
    return dump.start_s + first, dump.start_s + last, busy


def order_of(plan: Plan, dump: PlanDump, direction: Direction) -> tuple[FloatArray, FloatArray]:
    """(shares, places): the share of a direction's operations before each stream, and of all operations.

    Of a dump with a window, and of arrays, the direction is alone: from 0 to 1.
    """
    window = dump.writes if direction is Direction.WRITE else dump.reads
    streams = plan.contents[dump.content].streams
    counts = np.array([sum(count for count, _ in stream.entries) for stream in streams])
    own = counts * np.array([stream.direction is direction for stream in streams])
    if window is not None or not own.any():
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])
    shares, places = (np.concatenate([[0], np.cumsum(each)]) / each.sum() for each in (own, counts))
    return shares, places


def ends_of(plan: Plan, dump: PlanDump, direction: Direction) -> tuple[float, float]:
    """First start and last end of a dump's operations in a direction."""
    first, last, _ = planned(dump, direction)
    shares, places = order_of(plan, dump, direction)
    begins, ends = places[shares == 0].max(), places[shares == 1].min()
    return first + float(begins) * (last - first), first + float(ends) * (last - first)


def starts_of(plan: Plan, dump: PlanDump, direction: Direction, operations: int) -> FloatArray:
    """Starts of a rank's operations in a direction: in its window, or where the order of all operations has them."""
    first, last, busy = planned(dump, direction)
    shares, places = order_of(plan, dump, direction)
    if len(shares) == 2:
        return np.linspace(first, max(first, last - busy / max(1, operations)), operations)
    done = np.arange(operations) / max(1, operations)
    stream = np.searchsorted(shares, done, side="right") - 1
    within = (done - shares[stream]) / (shares[stream + 1] - shares[stream])
    return first + (last - first) * (places[stream] + within * (places[stream + 1] - places[stream]))


def add_family(
    errors: Errors, facts: FamilyFacts, plan: Plan, dumps: Sequence[PlanDump], traces: Traces
) -> None:
    for direction in Direction:
        for group in groups_of(facts, direction):
            files = {
                file.key: file
                for place in group
                for file in facts.dumps[place].files
                if file.bytes_at(facts.family.counted_at, direction)
            }
            found = [traces.of_file(file, facts.family.counted_at, direction) for file in files.values()]
            known = [trace for trace in found if trace is not None]
            if not known or len(known) < len(found):
                continue
            windows = [ends_of(plan, dumps[place], direction) for place in group]
            whole = (min(first for first, _ in windows), max(last for _, last in windows))
            for trace in known:
                errors.add_ends(errors.files, whole, (float(trace.starts.min()), float(trace.ends.max())))
            shares = np.cumsum([0, *(bytes_of(facts.dumps[place], direction) for place in group)])
            for starts, end in by_rank(known):
                errors.add_ends(errors.ranks, whole, (float(starts[0]), end))
                counts = np.diff(np.round(shares / shares[-1] * len(starts)).astype(int)).tolist()
                made = [
                    starts_of(plan, dumps[place], direction, n)
                    for place, n in zip(group, counts, strict=True)
                ]
                errors.starts.append(100 * np.abs(np.concatenate(made) - starts) / errors.run_time)


def groups_of(facts: FamilyFacts, direction: Direction) -> list[list[int]]:
    """The dumps of a direction: those that share files together, the others each alone."""
    places = [place for place, dump in enumerate(facts.dumps) if bytes_of(dump, direction)]
    uses = Counter(file.key for place in places for file in facts.dumps[place].files)
    alone = [place for place in places if all(uses[file.key] == 1 for file in facts.dumps[place].files)]
    together = [place for place in places if place not in set(alone)]
    return [*([place] for place in alone), *([together] if together else [])]


def by_rank(traces: Sequence[Trace]) -> Iterator[tuple[FloatArray, float]]:
    """(sorted starts, last end) of all operations of each rank."""
    ranks = np.concatenate([trace.ranks for trace in traces])
    starts = np.concatenate([trace.starts for trace in traces])
    ends = np.concatenate([trace.ends for trace in traces])
    order = np.lexsort((starts, ranks))
    bounds = np.flatnonzero(np.diff(ranks[order])) + 1
    for rows in np.split(order, bounds):
        yield starts[rows], float(ends[rows].max())


def errors_of(path: Path) -> Errors | None:
    """None for a log without complete traces of what can be replicated."""
    log = open_log(path)
    if not any(log.dxt(module) is not None for module in ("DXT_POSIX", "DXT_MPIIO")):
        return None
    try:
        found = characterize([log], CharacterizeOptions(use_trace=False))
    except WorkalikeError:
        return None
    job = job_of([log])
    errors, traces = Errors(job.run_time), Traces(job)
    plan = resolve(found.workload, Options())
    for number, facts in enumerate(found.families):
        dumps = sorted((d for d in plan.dumps if d.family == number), key=lambda d: d.index)
        if facts.family.all_contents()[0].dataset is None and len(dumps) == len(facts.dumps):
            add_family(errors, facts, plan, dumps, traces)
    return errors if errors.files else None


def main() -> int:
    logs = [Path(word) for word in sys.argv[1:]] or known_logs()
    print("per cent of the run: first and last of files (max), of ranks (max), starts (median, max)")
    found: dict[str, Errors] = {}
    for path in logs:
        errors = errors_of(path)
        if errors is None:
            continue
        found[path.name] = errors
        starts = errors.all_starts()
        print(
            f"{max(errors.files):8.3f} {max(errors.ranks):8.3f} {np.median(starts):8.3f} {starts.max():8.3f}  "
            f"{len(errors.files) // 2:5} files {len(starts):9,} operations  {path.name[:50]}",
            flush=True,
        )
    results = Results()
    for measure, values in (
        ("first start and last end of each file, largest error", [max(e.files) for e in found.values()]),
        ("… of each rank in a file", [max(e.ranks) for e in found.values()]),
        ("start of each operation, median error", [float(np.median(e.all_starts())) for e in found.values()]),
    ):
        good = sum(value <= TARGET for value in values)
        results.add(
            f"times without traces, judged by traces: {measure}",
            f"at most 1 % of the run in {good} of {len(values)} logs",
            target="all",
            reached=good == len(values),
            logs=float(good),
        )
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
