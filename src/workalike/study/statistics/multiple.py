"""Several comparisons at once: Holm's correction, and simultaneous intervals by the studentized maximum.

docs/statistics.md#many-settings
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workalike.study.statistics.any_look import ONE_LOOK, Looks
from workalike.study.statistics.influence import Estimates, draws
from workalike.study.statistics.intervals import LEVEL, Method
from workalike.study.statistics.ratios import Ratio, exp, of_log_ratios
from workalike.study.statistics.table import Floats, Trials, grid_of

DRAWS = 4000


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected so that any false difference among them is as rare as each says (Holm 1979)."""
    count = len(p_values)
    out = [1.0] * count
    largest = 0.0
    for place, index in enumerate(sorted(range(count), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (count - place) * p_values[index]))
        out[index] = largest
    return out


def simultaneous_ratios(
    trials: Trials, reference: str, *, level: float = LEVEL, seed: int = 0, method: Method = Method.STUDENT
) -> list[Ratio]:
    """Ratios to the reference whose intervals all hold at once with the chance `level`; p is Holm's.

    The largest |t| over all settings is simulated by blocks with random weights, so that what ratios have in common
    through their reference is kept. Never narrower than single intervals, nor wider than Bonferroni's. Bootstrapped
    intervals are Bonferroni's.
    """
    columns = grid_of(trials).log_ratios(reference)
    return simultaneous_of(columns, reference, level=level, seed=seed, method=method)


def simultaneous_of(
    columns: Mapping[str, Floats],
    reference: str,
    *,
    level: float = LEVEL,
    seed: int = 0,
    method: Method = Method.STUDENT,
    looks: Looks = ONE_LOOK,
) -> list[Ratio]:
    """`simultaneous_ratios` of log-ratios to the reference: a column of all blocks for each setting, NaN where missing.

    Where the study may have ended at several looks, intervals are Bonferroni's, too.
    """
    if method is not Method.STUDENT or looks.blocks:
        return _bonferroni(columns, reference, level, seed, method, looks)
    single = _each(columns, reference, level)
    known = [ratio for ratio in single if ratio.is_known and ratio.sd_log > 0]
    corrected = dict(zip((r.setting for r in known), holm([r.p for r in known]), strict=True))
    if len(known) < 2:
        return single
    table = np.column_stack([columns[r.setting] for r in known])
    centred = np.where(np.isfinite(table), table - np.nanmean(table, axis=0), 0.0)
    pairs = np.array([r.pairs for r in known])
    error = np.array([r.sd_log for r in known]) / np.sqrt(pairs)
    shifts = draws(Estimates(np.zeros(len(known)), centred / np.sqrt(pairs * (pairs - 1))), DRAWS, seed)
    bonferroni = _each(columns, reference, 1 - (1 - level) / len(known))
    widest = {r.setting: r.half_width for r in bonferroni}
    critical = float(np.quantile(np.max(np.abs(shifts) / error, axis=1), level))
    out = []
    for ratio in single:
        if ratio.setting in corrected:
            own = ratio.sd_log / math.sqrt(ratio.pairs)
            reach = min(max(critical * own, ratio.half_width), widest[ratio.setting])
            middle = math.log(ratio.ratio)
            ratio = replace(
                ratio, low=exp(middle - reach), high=exp(middle + reach), p=corrected[ratio.setting]
            )
        out.append(ratio)
    return out


def _each(
    columns: Mapping[str, Floats],
    reference: str,
    level: float,
    method: Method = Method.STUDENT,
    seed: int = 0,
) -> list[Ratio]:
    """Single ratios, each with an interval of its own."""
    return [of_log_ratios(column, name, reference, level, method, seed) for name, column in columns.items()]


def _bonferroni(
    columns: Mapping[str, Floats], reference: str, level: float, seed: int, method: Method, looks: Looks
) -> list[Ratio]:
    """Single intervals that each have an equal share of the error; p is Holm's."""
    single = _each(columns, reference, LEVEL)
    known = [ratio for ratio in single if ratio.is_known and ratio.sd_log > 0]
    corrected = dict(zip((r.setting for r in known), holm([looks.p(r.p) for r in known]), strict=True))
    share = looks.level(1 - (1 - level) / max(1, len(known)))
    ratios = _each(columns, reference, share, method, seed)
    return [replace(ratio, level=level, p=corrected.get(ratio.setting, ratio.p)) for ratio in ratios]
