"""The values of a baseline's runs as ranges, and where a new log lies outside of them.

A value is alike where it lies in the range, or beyond it by at most 5 % of the larger of the two. What scatters among
runs may scatter further: there it is alike also within some widths of the range, more of them where the runs are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workalike.compare.logs.counters import FOLLOWS, Use, is_part_of_calls, use_of
from workalike.compare.logs.side import ModuleValues
from workalike.compare.logs.tables import PairTable, groups
from workalike.facts.counters import operation_names
from workalike.facts.plausible import ALWAYS_MEASURED
from workalike.facts.records import BoolArray, FloatArray, IntArray
from workalike.workload.words import Direction

ALIKE = 0.05
"""Share of the larger value by which two counters that are alike may differ."""
SCATTER = 15
"""Divided by the number of runs: the widths of the range by which a value may lie beyond it. Of values that are scattered
normally, one in 700 lies further out than 3 widths of the range of five runs (benchmarks/compare_logs.py)."""


@dataclass(frozen=True)
class Run:
    """A run of the baseline, or the new log: `row` int64[N] is the common row of each of its files; `has` bool[U] which
    of the U common files it has."""

    row: IntArray
    has: BoolArray


@dataclass(frozen=True)
class Outside:
    """Values that were compared, D of which differ from the baseline.

    `compared` int64[U] is the number of values of each common file that are not zero on both sides. For each difference:
    `file` int64[D] (the common row), `counter` int64[D] (an index of `names`), `key` int64[D, K] (a value of a table;
    K is 0 for counters), `low` and `high` int64[D] of the baseline, `now` int64[D]; `off` float64[D] is the share of the
    larger value, and `changed` bool[D] whether that is more than alike.
    """

    module: str
    names: tuple[str, ...]
    compared: IntArray
    file: IntArray
    counter: IntArray
    key: IntArray
    low: IntArray
    high: IntArray
    now: IntArray
    off: FloatArray
    changed: BoolArray


@dataclass(frozen=True)
class Environment:
    """A counter of the environment that differs for some files, with values of both sides."""

    module: str
    counter: str
    files: int
    before: tuple[int, ...]
    now: tuple[int, ...]


def distances(low: IntArray, high: IntArray, now: IntArray, runs: int) -> tuple[FloatArray, BoolArray]:
    """(share of the larger value by which `now` lies outside of the range of `runs` runs, whether it is more than alike)."""
    low_f, high_f, now_f = (values.astype(np.float64) for values in (low, high, now))
    bound = np.where(now < low, low_f, high_f)
    gap = np.where(now < low, low_f - now_f, np.where(now > high, now_f - high_f, 0.0))
    larger = np.maximum(np.maximum(bound, now_f), 1.0)
    return gap / larger, gap > np.maximum(ALIKE * larger, SCATTER / runs * (high_f - low_f))


def _spread(values: ModuleValues, run: Run, rows: IntArray) -> tuple[IntArray, BoolArray]:
    """The values at common rows: zeros, measured, where a file has no record of the module."""
    place = np.full(len(run.has), -1, dtype=np.int64)
    place[run.row[values.file]] = np.arange(len(values.file))
    found = place[rows]
    none = found < 0
    shape = (len(rows), len(values.names))
    taken = values.values[found] if len(values.file) else np.zeros(shape, dtype=np.int64)
    known = values.measured[found] if len(values.file) else np.ones(shape, dtype=bool)
    taken = np.where(none[:, None], 0, taken)
    return taken, np.where(none[:, None], values.measured_at_all[None, :], known)


def outside_of_counters(
    module: str,
    sides: list[ModuleValues | None],
    runs: list[Run],
    left_out: frozenset[str],
    environment: list[Environment],
) -> Outside:
    """The counters of a module; the last of the sides is the new log. A side without the module has zeros.

    Beside several runs a counter of a part of the calls (an order, a size) is alike, too, where it is off by at most 5 %
    of the file's calls. `environment` gets what is only noted.
    """
    present = [side for side in sides if side is not None]
    names = present[0].names
    width = len(runs[0].has)
    rows = np.unique(
        np.concatenate(
            [run.row[side.file] for side, run in zip(sides, runs, strict=True) if side is not None]
        )
    )
    comparable = runs[-1].has[rows] & np.any([run.has[rows] for run in runs[:-1]], axis=0)
    rows = rows[comparable]
    shape = (len(rows), len(names))
    low, high = np.full(shape, np.iinfo(np.int64).max), np.zeros(shape, dtype=np.int64)
    known = np.zeros(shape, dtype=bool)
    for side, run in zip(sides[:-1], runs[:-1], strict=True):
        values, measured = _or_zeros(side, run, rows, shape)
        measured = measured & run.has[rows][:, None]
        low = np.where(measured, np.minimum(low, values), low)
        high = np.where(measured, np.maximum(high, values), high)
        known |= measured
    now, measured = _or_zeros(sides[-1], runs[-1], rows, shape)
    low, high, now = np.where(known, low, 0), np.where(known, high, 0), np.where(measured, now, 0)
    known = (known & measured) | ((known != measured) & _measured_elsewhere(names, sides))
    known[:, [place for place, name in enumerate(names) if name in left_out]] = False
    differing = _environment(module, sides, runs, rows, environment)
    for name, needed in FOLLOWS.items():
        if name in names and needed in differing:
            known[differing[needed], names.index(name)] = False
    low = np.where(known, low, 0)
    high, now = np.where(known, high, 0), np.where(known, now, 0)
    calls = _calls_of(module, names, high, now)
    compared = np.zeros(width, dtype=np.int64)
    compared[rows] = (known & ((high != 0) | (now != 0))).sum(axis=1)
    place, column = np.nonzero((now < low) | (now > high))
    low, high, now = low[place, column], high[place, column], now[place, column]
    off, changed = distances(low, high, now, len(runs) - 1)
    if len(runs) > 2:
        parts = np.array([is_part_of_calls(name) for name in names])[column]
        changed &= ~parts | (np.maximum(low - now, now - high) > ALIKE * calls[place])
    exact = np.array([use_of(module, name) is Use.EXACT for name in names])[column]
    return Outside(
        module,
        names,
        compared,
        rows[place],
        column.astype(np.int64),
        np.zeros((len(place), 0), dtype=np.int64),
        low,
        high,
        now,
        off,
        changed | exact,
    )


def _measured_elsewhere(names: tuple[str, ...], sides: Sequence[ModuleValues | None]) -> BoolArray:
    """bool[C], the counters that both the baseline and the new log measure for other files, or must measure.

    Where only one of them knows such a counter of a file, it counts as 0 in the other: they are not the same.
    """
    must = np.array([name in ALWAYS_MEASURED for name in names], dtype=bool)
    before = np.logical_or.reduce(
        [must, *(side.measured_at_all for side in sides[:-1] if side is not None)], axis=0
    )
    new = sides[-1]
    out: BoolArray = before & (must if new is None else must | new.measured_at_all)
    return out


def _calls_of(module: str, names: tuple[str, ...], high: IntArray, now: IntArray) -> IntArray:
    """int64[rows], the most reads and writes of each file in any run; 0 for modules that do not count them."""
    wanted = {name for direction in Direction for name in operation_names(module, direction)}
    columns = [place for place, name in enumerate(names) if name in wanted]
    calls: IntArray = np.maximum(high[:, columns], now[:, columns]).sum(axis=1)
    return calls


def _or_zeros(
    side: ModuleValues | None, run: Run, rows: IntArray, shape: tuple[int, int]
) -> tuple[IntArray, BoolArray]:
    if side is None:
        return np.zeros(shape, dtype=np.int64), np.ones(shape, dtype=bool)
    return _spread(side, run, rows)


def _environment(
    module: str,
    sides: list[ModuleValues | None],
    runs: list[Run],
    rows: IntArray,
    found: list[Environment],
) -> dict[str, BoolArray]:
    """Counter -> bool[rows], where files that both sides have differ in it; `found` gets what differs."""
    present = [side for side in sides if side is not None]
    if sides[-1] is None or len(present) < 2 or not present[0].environment_names:
        return {}
    spread = []
    for side, run in zip(sides, runs, strict=True):
        if side is None:
            continue
        place = np.full(len(run.has), -1, dtype=np.int64)
        place[run.row[side.file]] = np.arange(len(side.file))
        at = place[rows]
        spread.append(np.where(at[:, None] >= 0, side.environment[at], -1))
    before, now = np.stack(spread[:-1]), spread[-1]
    out = {}
    for column, name in enumerate(present[0].environment_names):
        old, new = before[:, :, column], now[:, column]
        differs = (new >= 0) & (old.max(axis=0) >= 0) & ~(old == new[None, :]).any(axis=0)
        out[name] = differs
        if differs.any():
            values = [np.unique(part[part >= 0])[:3].tolist() for part in (old[:, differs], new[differs])]
            found.append(Environment(module, name, int(differs.sum()), tuple(values[0]), tuple(values[1])))
    return out


def outside_of_tables(sides: list[PairTable | None], runs: list[Run]) -> Outside:
    """The common values of a module; the last of the sides is the new log.

    Beside several runs a value is alike, too, where its count is off by at most 5 % of the file's calls: a stride that
    one call of hundreds made comes and goes.
    """
    present = [side for side in sides if side is not None]
    width = len(runs[0].has)
    parts = [
        (number, side, run.row[side.file])
        for number, (side, run) in enumerate(zip(sides, runs, strict=True))
        if side is not None
    ]
    file = np.concatenate([rows for _, _, rows in parts])
    keys = np.concatenate([side.keys for _, side, _ in parts])
    order, first = groups(file, keys)
    group = np.zeros(len(file), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(first)), np.diff([*first, len(order)]))
    rows = file[order][first]
    shape = (len(runs), len(rows))
    low, high = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    listed = np.zeros(shape, dtype=bool)
    mixed = _mixed(sides, runs, width)
    start = 0
    for number, side, own in parts:
        loose, absent = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
        loose[runs[number].row], absent[runs[number].row] = side.loose, side.absent
        at = group[start : start + len(own)]
        start += len(own)
        high[number] = np.where(mixed[rows], loose[rows], absent[rows])
        low[number, at] = side.low
        high[number, at] = np.where(mixed[own], side.low + loose[own], side.high)
        listed[number, at] = True
    before = np.stack([run.has[rows] for run in runs[:-1]])
    least = np.where(before, low[:-1], np.iinfo(np.int64).max).min(axis=0, initial=np.iinfo(np.int64).max)
    most = np.where(before, high[:-1], 0).max(axis=0, initial=0)
    least, most = _unsteady(rows, listed[:-1] & before, before, least, most, width)
    comparable = runs[-1].has[rows] & before.any(axis=0)
    compared = np.bincount(rows[comparable], minlength=width).astype(np.int64)
    differs = np.flatnonzero(comparable & ((high[-1] < least) | (low[-1] > most)))
    least, most = least[differs], most[differs]
    now = np.where(high[-1][differs] < least, high[-1][differs], low[-1][differs])
    off, changed = distances(least, most, now, len(runs) - 1)
    if len(runs) > 2:
        gap = np.maximum(least - now, now - most)
        changed &= gap > ALIKE * _calls(sides, runs, width)[rows[differs]]
    return Outside(
        present[0].module,
        (present[0].name,),
        compared,
        rows[differs],
        np.zeros(len(differs), dtype=np.int64),
        keys[order][first][differs],
        least,
        most,
        now,
        off,
        changed,
    )


def _calls(sides: list[PairTable | None], runs: list[Run], width: int) -> IntArray:
    """int64[U], the most calls that a run has made on each file."""
    out = np.zeros(width, dtype=np.int64)
    for side, run in zip(sides, runs, strict=True):
        if side is not None:
            out[run.row] = np.maximum(out[run.row], side.calls)
    return out


def _mixed(sides: list[PairTable | None], runs: list[Run], width: int) -> BoolArray:
    """bool[U], of which files a run has reduced records and another one those of ranks."""
    reduced, alone = np.zeros(width, dtype=bool), np.zeros(width, dtype=bool)
    for side, run in zip(sides, runs, strict=True):
        if side is not None:
            reduced[run.row[side.reduced]] = True
            alone[run.row[~side.reduced]] = True
    return reduced & alone


def _unsteady(
    rows: IntArray, listed: BoolArray, before: BoolArray, least: IntArray, most: IntArray, width: int
) -> tuple[IntArray, IntArray]:
    """Ranges where a baseline's runs list different values of a file, as random orders make them.

    Any value, also one that no run has, may then be absent, or as frequent as the most frequent that comes and goes.
    """
    if len(before) < 2:
        return least, most
    comes_and_goes = listed.any(axis=0) & (listed != before).any(axis=0)
    bound = np.zeros(width, dtype=np.int64)
    np.maximum.at(bound, rows[comes_and_goes], most[comes_and_goes])
    open_to = (comes_and_goes | ~listed.any(axis=0)) & (bound[rows] > 0)
    return np.where(open_to, 0, least), np.where(open_to, np.maximum(most, bound[rows]), most)
