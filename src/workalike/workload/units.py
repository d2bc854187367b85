"""Sizes, times and counts as text: `259 MiB`, `12.5 s`, `16384 x 128 MiB`.

Formatting is exact: parsing the text of `format_size` gives the same integer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "PiB": 2**50,
}
TIME_UNITS = {
    "us": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
}
MAX_INT = 2**63 - 1
MAX_SECONDS = 1e9

_NUMBER = r"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?"
_QUANTITY = re.compile(rf"({_NUMBER})\s*([A-Za-z]*)")
# For the JSON schema; the parsers below accept the same text.
SIZE_PATTERN = rf"^\s*{_NUMBER}\s*(?:{'|'.join(SIZE_UNITS)})?\s*$"
TIME_PATTERN = rf"^\s*{_NUMBER}\s*(?:{'|'.join(TIME_UNITS)})?\s*$"
_OPERATIONS = r"^\s*[0-9]{1,18}\s*(?:/\s*rank)?\s*[x\u00d7]\s*"
ENTRY_PATTERN = rf"{_OPERATIONS}(?:{SIZE_PATTERN[4:-1]}|[0-9]{{1,18}}\.\.[0-9]{{1,18}}\s*B\s*)$"
_SPAN = r"\s*[0-9]{1,10}(?:-[0-9]{1,10}(?::[0-9]{1,10})?)?\s*"
RANKS_PATTERN = rf"^(?:all|{_SPAN}(?:,{_SPAN})*)$"


def _split(text: str, units: object, example: str) -> tuple[str, str]:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a number with a unit, such as {example}")
    return match.group(1), match.group(2)


def parse_size(value: object) -> int:
    """Bytes of `259 MiB`, `213 MB`, `1000` (a plain number is bytes).

    Raises:
        ValueError: not a size, negative, or beyond 2^63-1.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"a size is a number or text such as 259 MiB, not {type(value).__name__}")
    if isinstance(value, str):
        number, unit = _split(value, SIZE_UNITS, "259 MiB")
        if unit and unit not in SIZE_UNITS:
            raise ValueError(f"unknown unit {unit!r}; use one of {', '.join(SIZE_UNITS)}")
        size = int((Decimal(number) * SIZE_UNITS[unit or "B"]).to_integral_value())
    else:
        if isinstance(value, float) and not value.is_integer():
            raise ValueError("a size without a unit is a whole number of bytes")
        size = int(value)
    if not 0 <= size <= MAX_INT:
        raise ValueError("a size must lie between 0 and 2^63-1 bytes")
    return size


def format_size(size: int) -> str:
    """The shortest exact text for `size` bytes; among equally short ones, binary units first, then bytes."""
    if size < 1000:
        return f"{size} B"
    texts = [*_in_binary(size), f"{size} B", *_in_decimal(size)]
    return min(texts, key=len)


def _in_binary(size: int) -> list[str]:
    """Exact texts in binary units with at most two decimals: `5.25 KiB`, `64 MiB`."""
    zeros = (size & -size).bit_length() - 1
    return [
        f"{Decimal(size) / SIZE_UNITS[unit]:f} {unit}"
        for unit, bits in (("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10))
        if zeros >= bits - 2 and size >> bits
    ]


def _in_decimal(size: int) -> list[str]:
    """Exact texts in decimal units with at most two decimals: `1.75 GB`, `213 MB`."""
    digits = str(size)
    zeros = len(digits) - len(digits.rstrip("0"))
    return [
        f"{Decimal(size) / SIZE_UNITS[unit]:f} {unit}"
        for unit, tens in (("PB", 15), ("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3))
        if zeros >= tens - 2 and len(digits) > tens
    ]


def parse_time(value: object) -> float:
    """Seconds of `12.5 s`, `2 min`, `1.5` (a plain number is seconds).

    Raises:
        ValueError: not a time, negative, not finite, or too large.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"a time is a number or text such as 12.5 s, not {type(value).__name__}")
    if isinstance(value, str):
        number, unit = _split(value, TIME_UNITS, "12.5 s")
        if unit and unit not in TIME_UNITS:
            raise ValueError(f"unknown unit {unit!r}; use one of {', '.join(TIME_UNITS)}")
        seconds = float(Decimal(number) * TIME_UNITS[unit or "s"])
    else:
        seconds = float(value)
    if not math.isfinite(seconds) or not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"a time must lie between 0 and {MAX_SECONDS:.0f} seconds")
    return seconds


def round_time(seconds: float, digits: int) -> float:
    """Seconds with `digits` significant digits."""
    return float(f"{seconds:.{digits - 1}e}")


def format_time(seconds: float) -> str:
    """Seconds without trailing zeros: in microseconds if that is exact (logs have no more), else with all digits."""
    text = f"{seconds:.6f}"
    if float(text) != seconds:
        return f"{seconds!r} s"
    return f"{text.rstrip('0').rstrip('.')} s"


_ENTRY = re.compile(r"\s*([0-9]{1,18})\s*(/\s*rank)?\s*[x\u00d7]\s*(.+)")
_SIZES = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})\s*B\s*")
MOST_SIZES_OF_RANGE = 10_000


def parse_entry(value: object) -> tuple[int, bool, range]:
    """(operations of each size, whether per rank, sizes in bytes) of `16384 x 128 MiB` or `2/rank x 500..509 B`.

    Raises:
        ValueError: not of that form.
    """
    if not isinstance(value, str):
        raise ValueError("an entry is text of the form `16384 x 128 MiB` or `8/rank x 128 MiB`")
    match = _ENTRY.fullmatch(value)
    if match is None:
        raise ValueError(f"{value[:40]!r} is not of the form `16384 x 128 MiB` or `8/rank x 128 MiB`")
    return int(match.group(1)), match.group(2) is not None, _sizes_of(match.group(3))


def _sizes_of(text: str) -> range:
    several = _SIZES.fullmatch(text)
    if several is None:
        size = parse_size(text)
        return range(size, size + 1)
    first, last = (int(number) for number in several.groups())
    if not first <= last < first + MOST_SIZES_OF_RANGE:
        raise ValueError(
            f"{text[:40]!r} is not a range of at most {MOST_SIZES_OF_RANGE:,} sizes, the smallest first"
        )
    return range(first, last + 1)


def format_entry(count: int, per_rank: bool, first: int, last: int) -> str:
    """`16384 x 128 MiB`, or `2/rank x 500..509 B` for so many operations of each size."""
    sizes = format_size(first) if first == last else f"{first}..{last} B"
    return f"{count}{'/rank' if per_rank else ''} x {sizes}"


_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10})(?::([0-9]{1,10}))?)?")


def parse_ranks(value: object) -> list[tuple[int, int, int]] | None:
    """Rank ranges of `all` (None), `0`, `0-55`, `0-511:8`, `0,8-15`: (first, last, step), inclusive.

    Raises:
        ValueError: not of that form, not ascending, or overlapping.
    """
    if value == "all":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError("ranks are `all` or ranges such as `0-55`, `0-511:8` or `0,8-15`")
    ranges: list[tuple[int, int, int]] = []
    for part in value.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{value[:40]!r} is not a list of rank ranges such as `0-55` or `0-511:8`")
        first = int(match.group(1))
        last = int(match.group(2)) if match.group(2) else first
        step = int(match.group(3)) if match.group(3) else 1
        if last < first or step < 1:
            raise ValueError("a rank range must ascend, with a step of at least 1")
        last -= (last - first) % step
        step = step if last > first else 1  # as `format_ranks` writes it
        if ranges and first <= ranges[-1][1]:
            raise ValueError("rank ranges must ascend and not overlap")
        ranges.append((first, last, step))
    return ranges


def format_ranks(ranges: list[tuple[int, int, int]] | None) -> str:
    """The ranges as text for `parse_ranks`."""
    if ranges is None:
        return "all"
    parts = []
    for first, last, step in ranges:
        if first == last:
            parts.append(str(first))
        else:
            parts.append(f"{first}-{last}" + (f":{step}" if step != 1 else ""))
    return ",".join(parts)


def ranges_of(ranks: Sequence[int]) -> list[tuple[int, int, int]]:
    """Ascending distinct ranks as (first, last, step) ranges, as few as a greedy search from the left finds."""
    if not ranks:
        return []
    runs = [(step, len(list(group))) for step, group in groupby(b - a for a, b in pairwise(ranks))]
    return ranges_of_runs(ranks[0], runs)


def ranges_of_array(ranks: npt.NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """As `ranges_of`, for an array of shape [n]."""
    import numpy as np

    if not len(ranks):
        return []
    steps = np.diff(ranks)
    begins = np.flatnonzero(np.diff(steps, prepend=-1))
    lengths = np.diff(begins, append=len(steps))
    return ranges_of_runs(int(ranks[0]), list(zip(steps[begins].tolist(), lengths.tolist(), strict=True)))


def ranges_of_runs(first: int, runs: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """The ranges of ranks that are given by the first rank and (step, number of steps) runs after it.

    A range has at least three ranks, or adjacent ones; every other rank is a range of its own.
    """
    merged: list[list[int]] = []
    for step, length in runs:
        if merged and merged[-1][0] == step:
            merged[-1][1] += length
        elif length:
            merged.append([step, length])
    ranges: list[tuple[int, int, int]] = []
    rank, joined = first, False  # joined: the rank belongs to the previous range
    for step, length in merged:
        if joined:  # the first step leads from that range to the next rank
            rank, length, joined = rank + step, length - 1, False
        if length >= 2 or (length and step == 1):
            ranges.append((rank, rank + length * step, step))
            joined = True
        elif length:
            ranges.append((rank, rank, 1))
        rank += length * step
    if not joined:
        ranges.append((rank, rank, 1))
    return ranges


def count_ranks(ranges: list[tuple[int, int, int]]) -> int:
    """The number of ranks in the ranges."""
    return sum((last - first) // step + 1 for first, last, step in ranges)


def is_subset(inner: list[tuple[int, int, int]], outer: list[tuple[int, int, int]]) -> bool:
    """Whether every rank of `inner` is in `outer`."""
    import numpy as np

    if len(outer) == 1:
        first, last, step = outer[0]
        return all(
            first <= a and b <= last and (a - first) % step == 0 and (s % step == 0 or a == b)
            for a, b, s in inner
        )
    members = _members(tuple(outer))
    return all(members[np.arange(a, b + 1, s)].all() if b < len(members) else False for a, b, s in inner)


@lru_cache(maxsize=4)
def _members(ranges: tuple[tuple[int, int, int], ...]) -> npt.NDArray[np.bool_]:
    """Whether each rank up to the last is in the ranges, shape [last + 1]."""
    import numpy as np

    out = np.zeros(max(last for _, last, _ in ranges) + 1, dtype=np.bool_)
    for first, last, step in ranges:
        out[first : last + 1 : step] = True
    return out
