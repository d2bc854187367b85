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
