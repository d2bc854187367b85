"""Quantities for people: rounded, with a unit. For exact text see `workload.units`."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def size_text(size: float) -> str:
    """Bytes with three significant digits and a binary unit."""
    for unit, factor in (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size) >= factor * 0.9995:
            value = size / factor
            return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"
    return f"{size:.0f} B"


def rate_text(rate: float | None) -> str:
    """Bytes per second; `-` for None."""
    return "-" if rate is None else f"{size_text(rate)}/s"


def seconds_text(seconds: float | None) -> str:
    """A time with a unit that suits its length."""
    if seconds is None:
        return "-"
    if seconds == 0:
        return "0 s"
    if abs(seconds) >= 7200:
        return f"{seconds / 3600:.3g} h"
    if abs(seconds) >= 120:
        return f"{seconds / 60:.3g} min"
    if abs(seconds) >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if abs(seconds) >= 1e-3 else "< 1 ms"


def day_text(seconds: float | None) -> str:
    """The date and time (UTC) of seconds since 1970; a clock that cannot be true is shown as the number."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    if not 0 <= seconds < 2**37:
        return f"{seconds:.0f} s"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def percent_text(value: float | None) -> str:
    """A percentage with two significant digits, or as a whole number."""
    if value is None:
        return "-"
    if value == 0:
        return "0 %"
    if abs(value) < 0.005:
        return "< 0.01 %"
    return f"{value:.2g} %" if abs(value) < 10 else f"{value:,.0f} %"


def within_text(value: float) -> str:
    """A percentage as an upper bound in prose: `within 0.01 %`."""
    return percent_text(value).removeprefix("< ")


def factor_text(factor: float) -> str:
    """A factor on the bytes in prose: `97 %`, `1/2,048`, `4 times`."""
    if factor >= 1:
        return f"{factor:.3g} times"
    return f"{100 * factor:.2g} %" if factor >= 0.01 else f"1/{1 / factor:,.0f}"


def count_text(count: float | None) -> str:
    """A count with thousands separated; a fraction (from a scaling law) keeps one digit."""
    if count is None:
        return "-"
    return f"{count:,.0f}" if float(count).is_integer() or abs(count) >= 1000 else f"{count:,.1f}"


def plural(count: int, word: str) -> str:
    """`1 dump`, `27 dumps`, `2 families`."""
    if count == 1:
        return f"1 {word}"
    many = f"{word[:-1]}ies" if word.endswith("y") and word[-2:] not in ("ay", "ey", "oy") else f"{word}s"
    return f"{count:,} {many}"


WIDEST = 100.0
"""An interval of a ratio whose ends differ by a larger factor says nothing."""
CANNOT_TELL = "cannot tell"
MOST_DECIMALS = 6


def is_telling(low: float | None, high: float | None) -> bool:
    """Whether an interval of a ratio says anything: it has both ends, above 0, and within a factor of 100."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return False
    return 0 < low <= high <= WIDEST * low


def ratio_text(value: float, decimals: int = 2) -> str:
    """A ratio: two decimals, or two digits of a small one; `-` for NaN."""
    if not math.isfinite(value):
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e6 else f"{value:.3g}"
    return f"{value:.{decimals}f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"


def interval_text(low: float | None, high: float | None) -> str:
    """An interval of a ratio: `0.92 to 1.21`; where it is too wide, its side of 1, or `cannot tell`.

    The printed ends are on the same side of 1 as the true ones.
    """
    if low is None or high is None or not is_telling(low, high):
        if low is not None and math.isfinite(low) and low > 1:
            return f"above {_beside_1(low)}"
        return f"below {_beside_1(high)}" if high is not None and high < 1 else CANNOT_TELL
    if low <= 1 <= high:
        return f"{ratio_text(low)} to {ratio_text(high)}"
    decimals = _decimals(low if low > 1 else high)
    return f"{ratio_text(low, decimals)} to {ratio_text(high, decimals)}"


def _decimals(end: float) -> int:
    """As many as an end that is not 1 needs in order not to be printed as 1."""
    return next((d for d in range(2, MOST_DECIMALS) if float(f"{end:.{d}f}") != 1), MOST_DECIMALS)


def _beside_1(end: float) -> str:
    return ratio_text(end, _decimals(end))


def estimate_text(value: float | None, low: float | None, high: float | None) -> str:
    """A ratio with its interval: `1.06 (0.92 to 1.21)`; `cannot tell` where the interval says nothing."""
    if value is None or not math.isfinite(value):
        return "-"
    interval = interval_text(low, high)
    if not is_telling(low, high):
        return interval
    decimals = 2 if low is None or high is None or low <= 1 <= high else _decimals(low if low > 1 else high)
    return f"{ratio_text(value, decimals)} ({interval})"


def portion_text(share: float) -> str:
    """A share of what was possible: `62 %`; above 1,000 % as a factor."""
    if share > 10:
        return f"{ratio_text(share, 1)} times"
    if share < 1e-4:
        return "< 0.01 %"
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


MANY = 10**9


def amount_text(counter: str, count: float | None) -> str:
    """The value of a counter: bytes of ten digits or more have a unit, as so many calls have."""
    if count is None or abs(count) < MANY:
        return count_text(count)
    return size_text(count) if "BYTE" in counter.upper() else f"{count / MANY:,.3g} billion"
