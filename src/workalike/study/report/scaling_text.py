"""How far a study scales, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.study.report.scaling import Scaling
from workalike.study.report.table import shown
from workalike.study.statistics.effects import number_of
from workalike.study.statistics.scaling import ENOUGH, Efficiency, enough_up_to
from workalike.text import is_telling, plural

TOO_FEW = "too few blocks to tell how much"
MOST_NAMED = 4
"""Groups that the sentence names; all are in the figure."""


def scaling_text(found: Sequence[Scaling]) -> str:
    """Up to which number efficiency stays high, and where more stop paying, for each group; empty if not known."""
    known = [(scaling, text) for scaling in found if (text := _group_text(scaling))]
    parts = [
        text if len(found) == 1 else f"{shown(scaling.group)}: {text}" for scaling, text in known[:MOST_NAMED]
    ]
    hidden = len(known) - len(parts)
    return " ".join(parts) + (f" The figure has {hidden} more." if hidden else "")


def _group_text(scaling: Scaling) -> str:
    levels = [level for level in scaling.levels if level.ratio.is_known]
    if not levels:
        return _missing_text(scaling)
    kept, unit, limit = enough_up_to(levels), scaling.counted, f"{100 * ENOUGH:.0f} %"
    head = _head(scaling)
    if kept == len(levels):
        text = f"efficiency stays above {limit} up to {_most(scaling)}, {_at(levels[-1], unit)}."
    elif kept == 0:
        verdict = f"is below {limit}" if levels[0].is_too_low else f"is not known to be above {limit}"
        text = f"efficiency {verdict} with as few as {_at(levels[0], unit)}."
    else:
        following = levels[kept]
        verdict = "it is" if following.is_too_low else "it is not decided:"
        text = (
            f"efficiency stays above {limit} up to {_at(levels[kept - 1], unit)}; "
            f"with {following.level} {verdict} {_percent(following)}."
        )
    parts = (f"{head}{text}", _paying_text(scaling), _missing_text(scaling))
    return " ".join(part for part in parts if part)


def _head(scaling: Scaling) -> str:
    """The kind of scaling, and what the efficiency is the mean over; empty where neither is to be said."""
    averaged = f"averaged over {' and '.join(map(shown, scaling.averaged))}" if scaling.averaged else ""
    kind = (
        f"{scaling.kind} scaling, beside {_counted(scaling.smallest, scaling.counted)}"
        if scaling.kind
        else ""
    )
    text = ", ".join(part for part in (kind, averaged) if part)
    return f"{text[:1].upper()}{text[1:]}: " if text else ""


def _most(scaling: Scaling) -> str:
    """What the highest number that was compared is."""
    if scaling.failed:
        return "the most that succeeded"
    return (
        "the most that were measured" if scaling.levels[-1].ratio.is_known else "the most that were compared"
    )


def _paying_text(scaling: Scaling) -> str:
    """Where more ranks no longer do more work per second."""
    knee, unit = scaling.knee, scaling.counted
    if knee is None:
        return ""
    if knee.highest:
        return f"More {unit} pay up to {knee.level}, {_most(scaling)}."
    return f"From {_counted(knee.level, unit)} on, more were not found to pay."


def _missing_text(scaling: Scaling) -> str:
    """Numbers of which nothing is said, and why."""
    unit, parts = scaling.counted, []
    if scaling.failed:
        parts.append(f"{_listed(scaling.failed, unit)}: no trial succeeded.")
    unmatched = [level.level for level in scaling.levels if not level.ratio.is_known]
    if unmatched and scaling.blocks > 1:
        parts.append(
            f"{_listed(unmatched, unit)}: not compared with {_counted(scaling.smallest, unit)}, since fewer than two "
            "blocks have both with the same other factors."
        )
    return " ".join(parts)


def _listed(levels: Sequence[str], unit: str) -> str:
    return _counted(levels[0], unit) if len(levels) == 1 else f"{', '.join(levels)} {unit}"


def _counted(level: str, unit: str) -> str:
    return plural(int(number_of(level)), unit.removesuffix("s"))


def _at(level: Efficiency, unit: str) -> str:
    return f"{level.level} {unit}, {_percent(level)}"


def _percent(level: Efficiency) -> str:
    ratio = level.ratio
    if not is_telling(ratio.low, ratio.high):
        return TOO_FEW
    low = f"{100 * ratio.low:.0f}" if ratio.low >= 0.01 else f"{100 * ratio.low:.2g}"
    return f"{100 * ratio.ratio:.0f} % ({low} to {100 * ratio.high:.0f} %)"
