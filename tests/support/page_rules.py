"""What no page may say, whatever its data are; and how a number on a page is held against one of a file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from page_text import Page

WIDEST = 100.0
"""Ends of an interval that differ by a larger factor tell nothing."""
MOST_DIGITS = 9
"""Of a number of bytes; more take a unit."""
NAMED_BEST = 80.0
"""The probability (%) from which on a setting counts as named the best."""
MEMORY_FACTOR = 1.5
"""Data below this many times the memory may be in the page cache."""
ROUNDING = 0.75
"""Of the last digit; half of it is rounding, and the rest is that of the figures on both sides."""

UNITS = {
    **{unit: 1024.0**n for n, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))},
    **{"%": 0.01, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "": 1.0},
}
UNIT = r"(?:(?:[KMGTP]i)?B(?:/s)?|µs|ms|min|s|h|%)(?![A-Za-z])"
NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
QUANTITY = rf"(?:a factor of )?(?:{NUMBER}|∞|no bound)(?: ?{UNIT})?"
INTERVAL = re.compile(rf"(?:\(|interval:? )({QUANTITY}) to ({QUANTITY})\)?")
WHOLE_INTERVAL = re.compile(rf"^({QUANTITY}) to ({QUANTITY})$")
NO_NUMBER = re.compile(r"(?<![\w.])(-?nan|NaN|-?inf|Infinity|None)(?![\w-])")
LONG_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?![\w])")
CLAIM = re.compile(r"\b(is the best|it is best|probably|is slowed down most)\b", re.IGNORECASE)
PROBABILITY = re.compile(r"probability[^.;]*?(\d+) %")
HEDGE = re.compile(
    r"not decided|cannot tell|perhaps|no difference|not known|was measured|too few|nothing can be said|"
    r"no slowdown",
    re.IGNORECASE,
)
ABOVE = re.compile(r"exceed|more than (the ceiling|one process|100 %)|above (the|what|100 %)", re.IGNORECASE)
CACHED = re.compile(r"(memory|page cache)", re.IGNORECASE)
NOT_STORAGE = re.compile(
    r"not (a|of the|the) (performance|storage|result)|may (have|be)|not the storage", re.IGNORECASE
)
TRENDS = re.compile(
    r"\b(slopes?|trends?|scales?|scaling|stops? paying|times grow|growth was|efficiency)\b", re.IGNORECASE
)
UNFINISHED = re.compile(
    r"\b(of (the )?[\d,]+ (planned|trials|rounds)|not run|interrupted|ended early|did not end)\b"
)
LEFT_OUT = re.compile(r"\b(left out|failed|does not count|do not count)\b")


@dataclass(frozen=True)
class Contradiction:
    """A sentence, cell or label of a page, and what the data say."""

    rule: str
    said: str
    data: str


def anywhere(page: Page) -> Iterator[Contradiction]:
    """Texts that no data support: values that are none, bytes without a unit, intervals that tell nothing."""
    for block in page.blocks:
        for match in NO_NUMBER.finditer(block.text):
            yield Contradiction("no number", block.text, match[0])
        for match in LONG_NUMBER.finditer(block.text):
            if len(match[0].replace(",", "")) > MOST_DIGITS:
                yield Contradiction("bytes without a unit", block.text, match[0])
        for low, high in intervals_in(block.text):
            if tells_nothing(low, high):
                yield Contradiction("an interval that tells nothing", block.text, f"{low:g} to {high:g}")
    for table in page.tables:
        place = table.column("interval")
        for row in table.rows if place is not None and "ratio" in " ".join(table.heads) else []:
            match = WHOLE_INTERVAL.match(row[place]) if place is not None and place < len(row) else None
            if match and tells_nothing(value_of(match[1]), value_of(match[2])):
                yield Contradiction("an interval that tells nothing", " | ".join(row), match[0])


def intervals_in(text: str) -> Iterator[tuple[float, float]]:
    for match in INTERVAL.finditer(text):
        low, high = match[1], match[2]
        if not re.search(UNIT + "$", low) and (unit := re.search(UNIT + "$", high)):
            low += " " + unit[0]
        yield value_of(low), value_of(high)


def tells_nothing(low: float, high: float) -> bool:
    """Ends apart by more than a factor of 100, at 0, or without a bound. Differences have ends below 0."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return True
    return low >= 0 and (low == 0 or high / low > WIDEST) and low != high


def value_of(text: str) -> float:
    """A printed quantity in bytes, seconds or as it is."""
    text = text.removeprefix("a factor of ").replace("−", "-").replace(",", "")
    if text.startswith(("∞", "no bound")):
        return math.inf
    match = re.match(rf"({NUMBER}) ?({UNIT})?", text)
    assert match is not None, text
    return float(match[1]) * UNITS[(match[2] or "").removesuffix("/s")]


def agrees(text: str, value: float) -> bool:
    """Whether a printed quantity is a value, rounded."""
    match = re.search(rf"({NUMBER}) ?({UNIT})?", text)
    if match is None:
        return False
    digits = match[1].replace(",", "").replace("−", "-")
    mantissa, _, exponent = digits.partition("e")
    last = 10.0 ** (-len(mantissa.partition(".")[2]) + int(exponent or 0))
    unit = UNITS[(match[2] or "").removesuffix("/s")]
    if "." not in mantissa and len(mantissa.lstrip("-")) < 3 and unit not in (1.0, 0.01):
        last = max(
            0.1, 10.0 ** (len(mantissa.lstrip("-")) - 3)
        )  # three digits, zeros at the end are not printed
    if "<" in text[: match.start()]:
        return value <= float(digits) * unit
    if ">" in text[: match.start()] or "more than" in text[: match.start()]:
        return value >= float(digits) * unit
    return abs(float(digits) * unit - value) <= ROUNDING * last * unit + 1e-9 * abs(value)


def is_claim(clause: str) -> bool:
    if HEDGE.search(clause):
        return False
    chance = PROBABILITY.search(clause)
    return bool(CLAIM.search(clause)) or (chance is not None and float(chance[1]) >= NAMED_BEST)
