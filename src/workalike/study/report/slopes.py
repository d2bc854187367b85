"""How times grow with a number, such as ranks: MINIO's question, for any factor of numbers.

For each level of another factor there is a slope, and for each two of them the difference of their slopes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from workalike.study.objective import Objective
from workalike.study.report.numbers import Row
from workalike.study.report.scaling import Groups, groups_of, others_of
from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.effects import number_of
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.matched import Cell, cells_of, whole_rows
from workalike.study.statistics.slopes import (
    LEAST_LEVELS,
    BlockSlopes,
    Slope,
    block_slopes,
    slope_difference,
    slope_of,
)
from workalike.study.statistics.table import Floats
from workalike.text import CANNOT_TELL, is_telling

MOST_FACTORS = 3
MOST_NAMED = 3
"""Levels of another factor that the sentence names."""
LONGEST_FRACTION = 40
"""Characters."""
MIB = 2.0**20
HEADER = ("factor", "unit", "time", "of", "minus", "slope_s", "low", "high", "blocks")


@dataclass(frozen=True)
class Measure:
    """A time of each trial, in seconds."""

    phrase: str
    seconds: Floats


@dataclass(frozen=True)
class Growth:
    """How one time grows with one factor. `unit` is what it is counted in: `rank`, `MiB`, or a step of 1 of the factor."""

    factor: str
    unit: str
    measure: str
    group_factor: str
    """Empty where nothing else varies."""
    slopes: Mapping[str, Slope]
    """By the level of the other factor; seconds for each unit."""
    differences: Mapping[tuple[str, str], Slope]

    def csv_rows(self) -> list[Row]:
        pairs = [((group, ""), slope) for group, slope in self.slopes.items()]
        pairs += [(both, slope) for both, slope in self.differences.items()]
        return [
            (self.factor, self.unit, self.measure, *names, slope.value, slope.low, slope.high, slope.blocks)
            for names, slope in pairs
        ]


def measures_of(table: StudyTable) -> list[Measure]:
    """The times that slopes are of: I/O time, the time in writes of all processes, and an objective that is a time."""
    measures = [Measure(Objective.IO_TIME.phrase, table.io_time_s)]
    if len(table.write_time_s):
        measures.append(Measure("time in writes of all processes", table.write_time_s))
    if table.objective not in (Objective.BANDWIDTH, Objective.IO_TIME):
        measures.append(Measure(table.objective.phrase, table.values()))
    return [measure for measure in measures if np.isfinite(measure.seconds).any()]


def number_factors(table: StudyTable) -> list[str]:
    """Factors whose levels are numbers, and enough of them for a line."""
    names = [
        name
        for name, column in table.factors.items()
        if len({number_of(level) for level in column}) >= LEAST_LEVELS
        and all(math.isfinite(number_of(level)) for level in set(column))
    ]
    return names[:MOST_FACTORS]


def growths_of(table: StudyTable) -> list[Growth]:
    """Each time by each factor of numbers; those without a slope are left out."""
    found = [
        _growth(table, factor, measure) for factor in number_factors(table) for measure in measures_of(table)
    ]
    return [growth for growth in found if any(slope.is_known for slope in growth.slopes.values())]


def units_of(table: StudyTable, factor: str) -> tuple[Floats, str]:
    """(the number of each trial, the unit that it is in)."""
    levels = table.factors[factor]
    numbers = np.array([number_of(level) for level in levels])
    if not all(_is_plain(level) for level in set(levels)):
        return numbers / MIB, "MiB"
    if factor in table.counts:
        return numbers, table.counts[factor].removesuffix("s")
    return numbers, f"step of 1 of {factor}"


def _is_plain(level: str) -> bool:
    """Whether a level is a number without a unit."""
    try:
        float(level)  # first: as a fraction, 1e-99999999 has as many digits
    except ValueError:
        return _is_fraction(level)
    return True


def _is_fraction(level: str) -> bool:
    """Whether a level is a short fraction such as `1/2`."""
    if "/" not in level or len(level) > LONGEST_FRACTION:
        return False
    try:
        Fraction(level)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def _growth(table: StudyTable, factor: str, measure: Measure) -> Growth:
    numbers, unit = units_of(table, factor)
    groups = groups_of(table, factor)
    keep, cells = _without_copy(table), _cells(table, factor, groups)
    by_group = {}
    for group in groups.levels():
        own = np.flatnonzero(keep & (np.array(groups.column, dtype=object) == group))
        own_cells = [cells[row] for row in own.tolist()]
        by_group[group] = block_slopes(table.block[own], numbers[own], measure.seconds[own], own_cells)
    level = table.looks.level(LEVEL)
    slopes = {group: slope_of(found, level, table.method) for group, found in by_group.items()}
    return Growth(factor, unit, measure.phrase, groups.factor, slopes, _differences(by_group, table))


def _differences(by_group: Mapping[str, BlockSlopes], table: StudyTable) -> dict[tuple[str, str], Slope]:
    """The difference of each two slopes, with intervals that hold for all pairs at once (Bonferroni).

    The sentence names the clearest pair: single intervals would find one among many that are alike.
    """
    pairs = list(combinations((group for group, slopes in by_group.items() if slopes), 2))
    level = table.looks.level(1 - (1 - LEVEL) / max(1, len(pairs)))
    found = {(a, b): slope_difference(by_group[a], by_group[b], level, table.method) for a, b in pairs}
    return {both: slope for both, slope in found.items() if slope.is_known}


def _cells(table: StudyTable, factor: str, groups: Groups) -> list[Cell]:
    """The combination of the other factors of each trial, but for that which has a line for each of its levels."""
    others = {name: table.factors[name] for name in others_of(table, factor) if name != groups.factor}
    return cells_of(others, len(table.block))


def _without_copy(table: StudyTable) -> np.ndarray:
    """The trials that are not of the A/A arm's second name."""
    copy = table.same[1] if table.same else None
    return np.array([name != copy for name in table.setting])


@dataclass(frozen=True)
class Line:
    """The points of a group: the mean of a time at each number, and the line of the mean slope through them."""

    group: str
    numbers: list[float]
    means: list[float]
    line: list[float]


def lines_of(table: StudyTable, growth: Growth) -> list[Line]:
    """What a figure of a growth draws."""
    numbers, _ = units_of(table, growth.factor)
    seconds = next(m.seconds for m in measures_of(table) if m.phrase == growth.measure)
    groups, keep = groups_of(table, growth.factor), _without_copy(table)
    cells, lines = _cells(table, growth.factor, groups), []
    for group, slope in growth.slopes.items():
        own = np.flatnonzero(keep & (np.array(groups.column, dtype=object) == group))
        own_cells = [cells[row] for row in own.tolist()]
        own = own[whole_rows(table.block[own], own_cells, numbers[own].tolist(), seconds[own])]
        xs = np.unique(numbers[own])
        means = np.array([float(seconds[own][numbers[own] == x].mean()) for x in xs])
        if slope.is_known:
            line = means.mean() + slope.value * (xs - xs.mean())
            lines.append(Line(group, xs.tolist(), means.tolist(), line.tolist()))
    return lines


def slopes_text(growths: Sequence[Growth]) -> str:
    """A sentence for each time of one factor; empty if nothing is known."""
    return " ".join(_growth_text(growth) for growth in growths)


def _growth_text(growth: Growth) -> str:
    known = {group: slope for group, slope in growth.slopes.items() if slope.is_known}
    each = f"for each {growth.unit}"
    if not growth.group_factor:
        (slope,) = known.values()
        return f"{_capital(growth.measure)}: {_growth_or_none(slope)} {each}."
    parts = [f"{shown(group)} {_growth_or_none(slope)}" for group, slope in list(known.items())[:MOST_NAMED]]
    text = f"{_capital(growth.measure)} {each}: {', '.join(parts)}"
    if growth.differences:
        (first, other), most = max(growth.differences.items(), key=lambda item: _clearness(item[1]))
        steep, flat = (first, other) if most.value >= 0 else (other, first)
        ends = (most.low, most.high) if most.value >= 0 else (-most.high, -most.low)
        difference = _seconds(Slope(abs(most.value), *ends, most.blocks))
        text += (
            f"; {shown(steep)} gains {difference} more than {shown(flat)}"
            if ends[0] > 0
            else "; no difference of slopes was found"
        )
    return f"{text}."


def _growth_or_none(slope: Slope) -> str:
    """A slope; one whose interval holds 0 is none."""
    if slope.low <= 0 <= slope.high:
        return f"no growth was found ({interval_of(slope)})"
    return _seconds(slope)


def _clearness(slope: Slope) -> float:
    """How far a difference is from nothing, in half widths of its interval."""
    reach = (slope.high - slope.low) / 2
    return abs(slope.value) / reach if reach > 0 else math.inf


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _seconds(slope: Slope) -> str:
    interval = interval_of(slope)
    return CANNOT_TELL if interval == CANNOT_TELL else f"{slope_text(slope.value)} ({interval})"


def interval_of(slope: Slope) -> str:
    """The interval of a slope; a bound where its ends have one sign and differ by orders of magnitude."""
    low, high = slope.low, slope.high
    if not (math.isfinite(low) and math.isfinite(high)):
        return CANNOT_TELL
    if low > 0 and not is_telling(low, high):
        return f"at least {slope_text(low)}"
    if high < 0 and not is_telling(-high, -low):
        return f"at most {slope_text(high)}"
    return f"{slope_text(low)} to {slope_text(high)}"


def slope_text(seconds: float) -> str:
    """A time that may be tiny or negative, for people."""
    size = abs(seconds)
    if size >= 1 or seconds == 0:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if size >= 1e-3 else f"{seconds * 1e6:.3g} µs"
