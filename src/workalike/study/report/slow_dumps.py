"""The slow side of a study: the slowest dump and the 95th percentile of dumps, compared as the bandwidth is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from workalike.study.report.table import StudyTable, shown
from workalike.study.statistics.best import p_best
from workalike.study.statistics.power import none_found_text
from workalike.study.statistics.ratios import Ratio, paired_ratios
from workalike.study.statistics.table import Better, Trials
from workalike.study.statistics.tails import percentile95
from workalike.text import seconds_text


@dataclass(frozen=True)
class SlowDumps:
    """Ratios of times to the reference, by setting, and the setting that is most likely the best by P95.

    Args:
        slowest: of the slowest dump of a trial.
        p95: of the 95th percentile of a trial's dumps; empty where no trial has two dumps.
        best: the setting with the shortest 95th percentile; empty where that is not known.
        best_s: its geometric mean, seconds.
        chance: the probability that it is the best.
    """

    slowest: Mapping[str, Ratio] = field(default_factory=dict)
    p95: Mapping[str, Ratio] = field(default_factory=dict)
    best: str = ""
    best_s: float = math.nan
    chance: float = math.nan


def slow_dumps_of(table: StudyTable) -> SlowDumps:
    """Compare the slow dumps of settings within blocks, one number for each trial."""
    base = table.base()
    slowest = {ratio.setting: ratio for ratio in paired_ratios(table.trials(table.slowest_dump_s), base)}
    dumps = table.dumps
    if not len(dumps.trial) or np.bincount(dumps.trial[dumps.trial >= 0]).max(initial=0) < 2:
        return SlowDumps(slowest)
    trials = table.trials(percentile95(dumps.trial, dumps.seconds, len(table.block)))
    means = _means(trials)
    if not means:
        return SlowDumps(slowest)
    p95 = {ratio.setting: ratio for ratio in paired_ratios(trials, base)}
    chances = p_best(trials, Better.LOWER)
    best = min(means, key=lambda name: (-chances[name], means[name]))
    return SlowDumps(slowest, p95, best, means[best], chances[best])


def _means(trials: Trials) -> dict[str, float]:
    """Setting -> the geometric mean of its trials, without settings that never worked."""
    log, names = trials.log_value(), np.array(trials.setting, dtype=object)
    values = {name: log[(names == name) & np.isfinite(log)] for name in dict.fromkeys(trials.setting)}
    return {name: math.exp(float(logs.mean())) for name, logs in values.items() if len(logs)}


def slowest_text(slow: SlowDumps, name: str) -> str:
    """The slowest dump of a setting beside the reference; empty where that is not known."""
    tail = slow.slowest.get(name)
    return _beside(name, tail) if tail is not None and tail.is_known else ""


def p95_text(slow: SlowDumps) -> str:
    """Which setting has the shortest 95th percentile, and how it stands beside the reference; empty if not known."""
    if not slow.best:
        return ""
    chance = "more than 99 %" if slow.chance >= 0.995 else f"{100 * slow.chance:.0f} %"
    text = f"It is shortest with {shown(slow.best)}: {seconds_text(slow.best_s)} (probability {chance})."
    tail = slow.p95.get(slow.best)
    return f"{text} {_beside(slow.best, tail)}" if tail is not None and tail.is_known else text


def _beside(name: str, tail: Ratio) -> str:
    if not tail.differs:
        return f"Of {shown(name)}, it takes about as long as of the reference. {none_found_text(tail)}"
    word = "shorter" if tail.high < 1 else "longer"
    return (
        f"Of {shown(name)}, it is {word}: {tail.ratio:.2f} times the time of the reference "
        f"({tail.low:.2f} to {tail.high:.2f})."
    )
