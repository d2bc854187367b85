"""Levels of a factor compared where all else is alike: within a block, and with the same levels of the other factors.

Means over whatever trials a level has would mix its effect with that of the other factors wherever a combination is
missing: by a design that leaves some out, a constraint, a setting that left the study early, or a failed trial.
docs/statistics.md#levels-of-a-factor
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from workalike.study.statistics.table import Floats, Integers, Trials

Cell = tuple[str, ...]
"""The levels of the other factors."""
Level = TypeVar("Level", bound=Hashable)


@dataclass(frozen=True)
class Place:
    """One combination of the other factors in one block."""

    block: int
    cell: Cell


def cells_of(factors: Mapping[str, Sequence[str]], rows: int, without: Sequence[str] = ()) -> list[Cell]:
    """The combination of factors, but for those named, of each trial."""
    columns = [column for name, column in factors.items() if name not in without]
    return list(zip(*columns, strict=True)) if columns else [()] * rows


def means_by_place(
    block: Integers, cells: Sequence[Cell], levels: Sequence[Level], value: Floats
) -> dict[Place, dict[Level, float]]:
    """The mean of each level in each place, without values that are not finite."""
    found: dict[Place, dict[Level, list[float]]] = {}
    for own, cell, level, number in zip(block.tolist(), cells, levels, value.tolist(), strict=True):
        if math.isfinite(number):
            found.setdefault(Place(own, cell), {}).setdefault(level, []).append(number)
    return {
        place: {level: sum(numbers) / len(numbers) for level, numbers in by_level.items()}
        for place, by_level in found.items()
    }


class Matched:
    """The logarithms of trials by block, combination of the other factors, and level.

    Args:
        trials: with the values that are compared.
        levels: the level of each trial.
        cells: the combination of the other factors of each trial.
    """

    def __init__(self, trials: Trials, levels: Sequence[str], cells: Sequence[Cell]) -> None:
        self._rows = {int(own): row for row, own in enumerate(np.unique(trials.block))}
        self._means = means_by_place(trials.block, cells, levels, trials.log_value())

    def log_ratios(self, reference: str) -> dict[str, Floats]:
        """Level -> log(level ÷ reference) of each block: the mean over the combinations that have both there.

        NaN where a block has no such combination; levels without any are left out.
        """
        total: dict[str, Floats] = {}
        count: dict[str, Floats] = {}
        for place, means in self._means.items():
            if reference in means:
                row = self._rows[place.block]
                for level, mean in means.items():
                    if level != reference:
                        total.setdefault(level, np.zeros(len(self._rows)))[row] += mean - means[reference]
                        count.setdefault(level, np.zeros(len(self._rows)))[row] += 1
        return {
            level: np.where(count[level] > 0, total[level], np.nan) / np.maximum(count[level], 1)
            for level in total
        }


def whole_rows(
    block: Integers, cells: Sequence[Cell], levels: Sequence[Hashable], value: Floats
) -> np.ndarray:
    """Which trials have a value, and are of a combination that has every level in its block."""
    means = means_by_place(block, cells, levels, value)
    all_levels = {level for by_level in means.values() for level in by_level}
    whole = {place for place, by_level in means.items() if len(by_level) == len(all_levels)}
    return np.array(
        [
            Place(own, cell) in whole and math.isfinite(number)
            for own, cell, number in zip(block.tolist(), cells, value.tolist(), strict=True)
        ],
        dtype=bool,
    )
