"""The A/A check: one setting under two names must come out equal. docs/statistics.md#a-a"""

from __future__ import annotations

from dataclasses import dataclass

from workalike.study.statistics.intervals import Method
from workalike.study.statistics.power import MOST_TOLD, detectable, none_found_text
from workalike.study.statistics.ratios import Ratio, paired_ratio
from workalike.study.statistics.table import Trials
from workalike.text import ratio_text


@dataclass(frozen=True)
class SameSetting:
    """The verdict of an A/A check."""

    ratio: Ratio
    is_equal: bool | None
    """None: too few blocks to tell."""
    text: str


def same_setting(
    trials: Trials,
    first: str,
    other: str,
    *,
    alpha: float = 0.05,
    ratio: Ratio | None = None,
    error: float | None = None,
    method: Method = Method.STUDENT,
) -> SameSetting:
    """Compare a setting with itself under another name.

    Args:
        alpha: the chance of a false difference.
        ratio: that of a study with several looks.
        error: of that ratio's interval at its last look alone, by which goes what it would have found.
    """
    error = alpha if error is None else error
    ratio = ratio or paired_ratio(trials, other, first, level=1 - alpha, method=method)
    if not ratio.is_known:
        return SameSetting(ratio, None, "The A/A check has too few blocks to tell.")
    if not ratio.differs:
        said = none_found_text(ratio, error)
        is_told = detectable(ratio.sd_log, ratio.pairs, alpha=error) <= MOST_TOLD
        return SameSetting(ratio, True if is_told else None, f"The same setting under two names: {said}")
    text = (
        f"The same setting under two names came out different ({ratio_text(ratio.ratio, 3)}, interval "
        f"{ratio.interval}): differences of this size between other settings prove nothing. By chance alone this "
        f"happens in {100 * alpha:.0f} of 100 studies; else look at the order of the trials and at caches."
    )
    return SameSetting(ratio, False, text)
