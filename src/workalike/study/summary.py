"""The table of a study's settings: trials, median and spread. Intervals and tests are those of the statistics."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from workalike.study.journal import Finished
from workalike.study.measured import objective_value
from workalike.study.objective import Objective

VALUES = ("bandwidth", "wall_s", "io_time_s", "slowest_dump_s")


@dataclass(frozen=True)
class Line:
    """One setting: trials that count, trials left out, and (median, lower quartile, upper quartile) of each value."""

    setting: str
    counted: int
    left_out: int
    values: dict[str, tuple[float, float, float]]


def lines_of(finished: Sequence[Finished]) -> list[Line]:
    """A line for each setting, in the order of its first trial's number."""
    by_setting: dict[str, list[Finished]] = defaultdict(list)
    for row in finished:
        by_setting[row.trial["setting"]].append(row)
    return [_line(setting, trials) for setting, trials in sorted(by_setting.items())]


def _line(setting: str, trials: list[Finished]) -> Line:
    counted = [row.trial for row in trials if row.trial.get("counted")]
    numbers = {name: [row[name] for row in counted if row.get(name) is not None] for name in VALUES}
    slow = [objective_value(row, Objective.P95_DUMP) for row in trials]
    numbers[Objective.P95_DUMP.column] = [seconds for seconds in slow if math.isfinite(seconds)]
    values = {name: quartiles(known) for name, known in numbers.items() if known}
    return Line(setting, len(counted), len(trials) - len(counted), values)


def quartiles(numbers: Sequence[float]) -> tuple[float, float, float]:
    """(median, lower quartile, upper quartile)."""
    if len(numbers) == 1:
        return numbers[0], numbers[0], numbers[0]
    lower, middle, upper = statistics.quantiles(numbers, n=4, method="inclusive")
    return middle, lower, upper


def left_out(finished: Sequence[Finished]) -> dict[str, list[str]]:
    """Setting -> why trials of it are left out of the averages, each reason once."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for row in finished:
        for reason in row.trial.get("reasons", []) if not row.trial.get("counted") else []:
            text = f"{row.trial['state']}: {reason}"
            if text not in reasons[row.trial["setting"]]:
                reasons[row.trial["setting"]].append(text)
    return dict(reasons)
