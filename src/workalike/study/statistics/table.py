"""Trials as columns, and as a table of blocks and settings.

All comparisons are made on logarithms, since noise and drift of storage multiply a time or a bandwidth
(docs/statistics.md#the-scale).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from workalike.errors import ErrorKind, WorkalikeError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Better(Enum):
    """Which direction of a value is the good one."""

    HIGHER = "higher"
    """A bandwidth."""
    LOWER = "lower"
    """A time."""

    @property
    def sign(self) -> float:
        return 1.0 if self is Better.HIGHER else -1.0


@dataclass(frozen=True)
class Trials:
    """Columns of equal length, one row per trial.

    Args:
        block: the number of the block that the trial belongs to.
        setting: the name of its setting.
        value: what was measured, positive. NaN is a failed trial; what has no logarithm (zero, negative, infinite)
            counts as one.
        factors: the level of each factor, by the factor's name; empty where the settings are only names.

    Raises:
        WorkalikeError: USAGE when the columns differ in length.
    """

    block: Integers
    setting: Sequence[str]
    value: Floats
    factors: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "block", np.asarray(self.block, dtype=np.int64))
        object.__setattr__(self, "setting", [str(name) for name in self.setting])
        object.__setattr__(self, "value", np.asarray(self.value, dtype=np.float64))
        object.__setattr__(
            self, "factors", {name: [str(v) for v in column] for name, column in self.factors.items()}
        )
        lengths = {len(self.block), len(self.setting), len(self.value), *map(len, self.factors.values())}
        if len(lengths) > 1:
            raise WorkalikeError(
                ErrorKind.USAGE,
                f"columns of trials have {sorted(lengths)} rows",
                hint="give every column a row for each trial",
            )

    def __len__(self) -> int:
        return len(self.value)

    def log_value(self) -> Floats:
        """Natural logarithms of the values; NaN for failed trials."""
        usable = np.isfinite(self.value) & (self.value > 0)
        out = np.full(len(self.value), np.nan)
        out[usable] = np.log(self.value[usable])
        return out


@dataclass(frozen=True)
class Grid:
    """Logarithms of the values by block and setting, NaN where there is none."""

    blocks: Integers
    settings: tuple[str, ...]
    """In the order of their first trial."""
    log: Floats
    """Shape (blocks, settings)."""

    def place(self, setting: str) -> int:
        """The column of a setting.

        Raises:
            WorkalikeError: USAGE for a setting without trials.
        """
        try:
            return self.settings.index(setting)
        except ValueError:
            known = ", ".join(self.settings[:8])
            raise WorkalikeError(
                ErrorKind.USAGE, f"no trial has the setting {setting!r}", hint=f"settings are {known}"
            ) from None

    def log_ratios(self, reference: str) -> dict[str, Floats]:
        """Setting -> log(setting ÷ reference) of each block, NaN where one of both is missing; the reference has none.

        Raises:
            WorkalikeError: USAGE for a reference without trials.
        """
        base = self.log[:, self.place(reference)]
        return {
            name: np.asarray(self.log[:, column] - base)
            for column, name in enumerate(self.settings)
            if name != reference
        }


def geometric_means(trials: Trials) -> dict[str, float]:
    """Setting -> the geometric mean of its trials, in their unit; settings that never worked are left out."""
    log = trials.log_value()
    logs: dict[str, list[float]] = {}
    for name, value in zip(trials.setting, log.tolist(), strict=True):
        if math.isfinite(value):
            logs.setdefault(name, []).append(value)
    return {name: math.exp(sum(values) / len(values)) for name, values in logs.items()}


def grid_of(trials: Trials) -> Grid:
    """Trials by block and setting; of several in one place the mean of the logarithms."""
    names = tuple(dict.fromkeys(trials.setting))
    column = {name: i for i, name in enumerate(names)}
    blocks, row = np.unique(trials.block, return_inverse=True)
    place = row * max(1, len(names)) + np.array([column[s] for s in trials.setting], dtype=np.int64)
    log = trials.log_value()
    known = np.isfinite(log)
    cells = len(blocks) * len(names)
    count = np.bincount(place[known], minlength=cells)
    total = np.bincount(place[known], weights=log[known], minlength=cells)
    with np.errstate(invalid="ignore"):
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return Grid(blocks, names, mean.reshape(len(blocks), len(names)))
