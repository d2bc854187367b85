"""Named numbers of a finding as text: the terms of its formula, and its evidence. The unit follows from the name."""

from __future__ import annotations

from collections.abc import Mapping

from workalike.text import count_text, percent_text, rate_text, seconds_text, size_text

BYTES = {"asked", "read", "moved", "stripe"}
"""Names without the word bytes whose numbers are bytes."""
RESULTS = {"rank_seconds"}
"""Terms that are what the formula gives; they stand before it."""
SHARES = {"share"}
WHOLE = {"rank", "target", "slowest_rank"}
"""Names of numbers that are identities, not amounts."""


def number_text(name: str, value: float) -> str:
    """A number with the unit of its name: seconds (`_s`), bytes, bytes per second (`rate`), a share, or a count."""
    last = name.rpartition(": ")[2]
    if last.endswith("_s") or last.startswith("seconds"):
        return seconds_text(value)
    if last.endswith("rate"):
        return rate_text(value)
    if last in SHARES:
        return percent_text(100 * value)
    if last in WHOLE:
        return f"{value:.0f}"
    if last in BYTES or ("bytes" in last and "ratio" not in last):
        return size_text(value)
    return count_text(value) if float(value).is_integer() else f"{value:.3g}"


def numbers_text(numbers: Mapping[str, float], without: Mapping[str, float] | None = None) -> str:
    """`redundant bytes 4 GiB, ranks 16`; numbers that `without` holds under the same name are left out."""
    known = without or {}
    return ", ".join(
        f"{_words(name)} {number_text(name, value)}"
        for name, value in numbers.items()
        if known.get(name) != value
    )


def terms_text(terms: Mapping[str, float]) -> str:
    """The numbers of a formula, without its result."""
    return numbers_text({name: value for name, value in terms.items() if name not in RESULTS})


def _words(name: str) -> str:
    return name.removesuffix("_s").replace("_", " ")
