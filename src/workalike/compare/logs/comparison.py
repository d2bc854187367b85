"""The comparison of a log with one log, or with the several of a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from workalike.compare.logs.counters import JOB, MODULES
from workalike.compare.logs.files_apart import more_and_less
from workalike.compare.logs.notes import notes_of
from workalike.compare.logs.pairing import Files, files_of, pair
from workalike.compare.logs.ranges import (
    Environment,
    Outside,
    Run,
    distances,
    outside_of_counters,
    outside_of_tables,
)
from workalike.compare.logs.schema import Change, ComparedLog, CounterTotal, LogComparison, Part
from workalike.compare.logs.sentences import headline_of
from workalike.compare.logs.side import LogSide
from workalike.compare.logs.traces import TRACES
from workalike.facts.records import BoolArray, IntArray

MOST_CHANGES = 2000
"""Changes that are kept, the largest; the others are counted."""
MOST_COUNTERS = 200


def compare_logs(
    baseline: Sequence[LogSide], new: LogSide, *, include_program_start: bool = False
) -> LogComparison:
    """What a new log has other than a log, or than all of several.

    Args:
        baseline: the logs that it is compared with, at least one.
        new: the log.
        include_program_start: whether what a program's start does is part of the verdict.
    """
    files, runs, ways = _common_files(baseline, new)
    sides = [*baseline, new]
    environment: list[Environment] = []
    found = _differences(sides, runs, environment)
    start = _start(files, sides, runs)
    everything = np.ones(len(files), dtype=bool)
    own = everything if include_program_start else ~start
    names = _names(files, runs[-1], new)
    moved = _bytes(sides, runs)
    parts = []
    for which in (own, ~own):
        part = _part(found, which, runs, names)
        apart = more_and_less(files, runs, which, moved, names)
        part.files_more, part.files_less = apart.more, apart.less
        part.changes = _largest([*apart.changes, *part.changes])
        parts.append(part)
    compared, program_start = parts
    _add_job(compared, sides, runs, own)
    result = LogComparison(
        word=compared.word,
        baseline=[_log(side) for side in baseline],
        new=_log(new),
        compared=compared,
        program_start=program_start,
        program_start_counts=include_program_start,
        partial_modules=sorted({name for side in sides for name in side.facts.partial_modules}),
        unreadable_modules=sorted({name for side in sides for name in side.facts.unreadable_modules}),
        notes=notes_of(sides, environment, ways, program_start),
    )
    result.headline = headline_of(result)
    return result


def _log(side: LogSide) -> ComparedLog:
    return ComparedLog(
        name=side.title,
        program=side.program,
        version=side.version,
        ranks=side.facts.nprocs,
        files=len(side) - int(side.start.sum()),
    )


def _common_files(baseline: Sequence[LogSide], new: LogSide) -> tuple[Files, list[Run], Counter[str]]:
    """All files of the baseline, then those that only the new log has; which each log has; how they were paired."""
    files = files_of(baseline[0])
    rows = [np.arange(len(files), dtype=np.int64)]
    ways: Counter[str] = Counter()
    for side in [*baseline[1:], new]:
        others = files_of(side)
        paired = pair(files, others)
        ways += paired.ways
        row = paired.rows.copy()
        alone = np.flatnonzero(row < 0)
        row[alone] = len(files) + np.arange(len(alone))
        files = files.joined(others.rows(alone))
        rows.append(row)
    runs = []
    for row in rows:
        has = np.zeros(len(files), dtype=bool)
        has[row] = True
        runs.append(Run(row, has))
    return files, runs, ways


def _start(files: Files, sides: Sequence[LogSide], runs: Sequence[Run]) -> BoolArray:
    """bool[U], the common files that belong to the program's start in every run that has them."""
    out = np.ones(len(files), dtype=bool)
    for side, run in zip(sides, runs, strict=True):
        out[run.row] &= side.start
    return out


def _differences(sides: Sequence[LogSide], runs: list[Run], environment: list[Environment]) -> list[Outside]:
    """The differences of all modules, and of all tables of common values."""
    found = []
    instruments = {side.instrument for side in sides}
    left_out = frozenset({"STATS"}) if len(instruments) > 1 else frozenset()
    for module in dict.fromkeys(name for side in sides for name in side.modules):
        of_module = [side.modules.get(module) for side in sides]
        if module in TRACES and None in of_module:
            continue
        found.append(outside_of_counters(module, of_module, runs, left_out, environment))
    for key in dict.fromkeys((table.module, table.name) for side in sides for table in side.tables):
        tables = [
            next((table for table in side.tables if (table.module, table.name) == key), None)
            for side in sides
        ]
        found.append(outside_of_tables(tables, runs))
    return found


def _names(files: Files, run: Run, new: LogSide) -> list[tuple[str, str | None]]:
    """For each common file, its name in the new log, and its name in the baseline where that is another."""
    now = dict(zip(run.row.tolist(), new.facts.names, strict=True))
    out = []
    for row, name in enumerate(files.names):
        current = now.get(row, name)
        out.append((current, name if name != current else None))
    return out


def _bytes(sides: Sequence[LogSide], runs: list[Run]) -> IntArray:
    """int64[U], the bytes of each common file in the last run that has it."""
    out = np.zeros(len(runs[0].has), dtype=np.int64)
    for side, run in zip(sides, runs, strict=True):
        out[run.row] = side.bytes_moved
    return out


def _part(
    found: Sequence[Outside], which: BoolArray, runs: list[Run], names: list[tuple[str, str | None]]
) -> Part:
    """The differences of some of the common files."""
    part = Part(files=int((which & runs[-1].has & np.any([r.has for r in runs[:-1]], axis=0)).sum()))
    totals: Counter[tuple[str, str]] = Counter()
    for outside in found:
        ours = which[outside.file]
        part.counters += int(outside.compared[which].sum())
        part.unequal += int(ours.sum())
        part.changed += int((ours & outside.changed).sum())
        part.largest_pct = max(part.largest_pct, float(outside.off[ours].max(initial=0.0)) * 100)
        counted = np.bincount(outside.counter[ours & outside.changed], minlength=len(outside.names))
        for name, count in zip(outside.names, counted.tolist(), strict=True):
            if count:
                totals[outside.module, name] += count
        for chosen, kept in ((part.changes, outside.changed), (part.within, ~outside.changed)):
            chosen += _rows(outside, np.flatnonzero(ours & kept), names)
    part.changes, part.within = _largest(part.changes), _largest(part.within)
    part.by_counter = [
        CounterTotal(module=module, counter=counter, changed=count)
        for (module, counter), count in totals.most_common(MOST_COUNTERS)
    ]
    return part


def _rows(outside: Outside, which: IntArray, names: list[tuple[str, str | None]]) -> list[Change]:
    """The largest of the chosen differences."""
    if len(which) > MOST_CHANGES:
        apart = np.abs(outside.now[which].astype(np.float64) - outside.high[which])
        which = which[np.lexsort((-apart, -outside.off[which]))[:MOST_CHANGES]]
    out = []
    for place in which.tolist():
        name, before = names[int(outside.file[place])]
        out.append(
            Change(
                kind="counter",
                module=outside.module,
                counter=outside.names[int(outside.counter[place])],
                file=name,
                file_before=before,
                value=outside.key[place].tolist() if outside.key.shape[1] else None,
                before=int(outside.low[place]),
                before_most=int(outside.high[place]),
                now=int(outside.now[place]),
                off_pct=100 * float(outside.off[place]),
            )
        )
    return out


_ORDER = {"job": 0, "file more": 1, "file less": 1, "counter": 2}


def _largest(changes: list[Change]) -> list[Change]:
    """The first `MOST_CHANGES`: of the job, then files, then counters, each by how far it is off."""

    def key(change: Change) -> tuple[int, float, int]:
        return _ORDER[change.kind], -round(change.off_pct, 9), -abs(change.now - change.before)

    return sorted(changes, key=key)[:MOST_CHANGES]


def _add_job(part: Part, sides: Sequence[LogSide], runs: list[Run], own: BoolArray) -> None:
    """Ranks, logs, modules and partial modules of the whole job."""
    columns: dict[str, list[int]] = {
        "RANKS": [side.facts.nprocs for side in sides],
        "LOGS": [side.facts.logs for side in sides],
    }
    for module in MODULES:
        columns[f"{module} present"] = [
            int(module in side.modules and bool(own[run.row[side.modules[module].file]].any()))
            for side, run in zip(sides, runs, strict=True)
        ]
    for module in sorted({name for side in sides for name in side.facts.partial_modules}):
        columns[f"{module} partial"] = [int(module in side.facts.partial_modules) for side in sides]
    for name, values in columns.items():
        low, high, now = min(values[:-1]), max(values[:-1]), values[-1]
        part.counters += int(bool(high or now))
        if low <= now <= high:
            continue
        off, changed = distances(np.array([low]), np.array([high]), np.array([now]), len(values) - 1)
        change = Change(
            kind="job",
            module=JOB,
            counter=name,
            before=low,
            before_most=high,
            now=now,
            off_pct=100 * float(off[0]),
        )
        part.unequal += 1
        part.largest_pct = max(part.largest_pct, change.off_pct)
        if changed[0]:
            part.changed += 1
            part.changes = _largest([change, *part.changes])
            part.by_counter.insert(0, CounterTotal(module=JOB, counter=name, changed=1))
        else:
            part.within = _largest([change, *part.within])
