"""How likely each setting is the best one. docs/statistics.md#best"""

from __future__ import annotations

import math

import numpy as np

from workalike.study.statistics.influence import Estimates, draws, within_blocks
from workalike.study.statistics.intervals import LEVEL
from workalike.study.statistics.ratios import paired_ratios
from workalike.study.statistics.table import Better, Trials, grid_of

DRAWS = 10_000
MOST_SETTINGS = 200
"""Settings that can be the best; where there are more, those with the best means."""


def setting_levels(trials: Trials) -> tuple[tuple[str, ...], Estimates | None]:
    """(settings with a result, their mean logarithms less that of the first): a level for each block is taken off."""
    grid = grid_of(trials)
    seen = np.asarray(np.isfinite(grid.log).any(axis=0))
    names = tuple(name for name, is_seen in zip(grid.settings, seen.tolist(), strict=True) if is_seen)
    row, column = np.nonzero(np.isfinite(grid.log[:, seen]))
    if len(names) < 2:
        return names, None
    log = grid.log[:, seen]
    if np.isfinite(log).all():  # nothing is missing: means, and no equations to solve
        relative = log[:, 1:] - log[:, :1]
        middle = relative.mean(axis=0)
        if len(log) < 2:
            return names, Estimates(middle, np.zeros((1, len(middle))))
        return names, Estimates(middle, (relative - middle) / math.sqrt(len(log) * (len(log) - 1)))
    rows = (column[:, None] == np.arange(1, len(names))[None, :]).astype(float)
    block = np.unique(row, return_inverse=True)[1]
    return names, within_blocks(rows, grid.log[:, seen][row, column], block)


def p_best(trials: Trials, better: Better, *, seed: int = 0) -> dict[str, float]:
    """The probability of each setting to be the best, given the blocks measured.

    Settings that never worked have 0. With a single block nothing is known, and all have the same. For two settings it
    is Student's distribution at their t.
    """
    names, found = setting_levels(_leading(trials, better))
    out = dict.fromkeys(dict.fromkeys(trials.setting), 0.0)
    if found is None or found.blocks < 2:
        return out | dict.fromkeys(names, 1 / max(1, len(names)))
    levels = np.column_stack([np.zeros(DRAWS), draws(found, DRAWS, seed)])
    first = np.argmax(better.sign * levels, axis=1)
    share = np.bincount(first, minlength=len(names)) / DRAWS
    return out | dict(zip(names, share.tolist(), strict=True))


def is_better_than_all(trials: Trials, setting: str, better: Better, *, level: float = LEVEL) -> bool:
    """Whether a setting is better than each other that worked, by Student's interval of their ratio within blocks.

    Each comparison has the whole error: all must find a difference, so the claim errs no more often than any of them.
    """
    known = {
        name
        for name, value in zip(trials.setting, trials.log_value().tolist(), strict=True)
        if math.isfinite(value)
    }
    others = known - {setting}
    if setting not in known or not others:
        return False
    ratios = paired_ratios(trials, setting, level=level)
    return all(ratio.is_known and ratio.is_worse(better) for ratio in ratios if ratio.setting in others)


def _leading(trials: Trials, better: Better) -> Trials:
    """The trials of the settings that may be the best, so that memory has a bound."""
    grid = grid_of(trials)
    if len(grid.settings) <= MOST_SETTINGS:
        return trials
    known = np.isfinite(grid.log)
    count = known.sum(axis=0)
    mean = np.where(count > 0, np.nansum(grid.log, axis=0) / np.maximum(count, 1), -better.sign * np.inf)
    chosen = np.argsort(-better.sign * mean, kind="stable")[:MOST_SETTINGS].tolist()
    names = {grid.settings[i] for i in chosen}
    keep = [i for i, name in enumerate(trials.setting) if name in names]
    return Trials(trials.block[keep], [trials.setting[i] for i in keep], trials.value[keep])
