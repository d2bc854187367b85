"""Intervals in words, by hand: what is too wide is not printed as a number, and rounding does not cross 1."""

from __future__ import annotations

import math

import pytest

from workalike.text import amount_text, estimate_text, interval_text, is_telling, portion_text, ratio_text


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.92, 1.21, "0.92 to 1.21"),
        (0.0, 146011.74, "cannot tell"),
        (0.01, 1.01, "cannot tell"),
        (0.02, 2.0, "0.02 to 2.00"),
        (0.5, math.inf, "cannot tell"),
        (None, None, "cannot tell"),
        (math.nan, math.nan, "cannot tell"),
        (2.0, 400.0, "above 2.00"),
        (2.0, math.inf, "above 2.00"),
        (0.0, 0.5, "below 0.50"),
        (1.001, 1.2, "1.001 to 1.200"),
        (0.8, 0.9996, "0.8000 to 0.9996"),
        (1000.0, 2345.0, "1,000 to 2,345"),
        (1.0, 1.0, "1.00 to 1.00"),
    ],
)
def test_intervals(low: float | None, high: float | None, said: str) -> None:
    assert interval_text(low, high) == said


def test_estimates() -> None:
    assert estimate_text(1.06, 0.92, 1.21) == "1.06 (0.92 to 1.21)"
    assert estimate_text(1.1, 1.001, 1.2) == "1.100 (1.001 to 1.200)"
    assert estimate_text(0.77, 0.0, 146011.74) == "cannot tell"
    assert estimate_text(20.0, 2.0, 400.0) == "above 2.00"
    assert estimate_text(None, None, None) == estimate_text(math.nan, 1.0, 2.0) == "-"
    assert is_telling(0.1, 10.0) and not is_telling(0.1, 10.1) and not is_telling(-1.0, 2.0)


def test_ratios_and_shares() -> None:
    assert [ratio_text(value) for value in (0.004, 0.77, 12345.6, 1e9)] == [
        "0.004",
        "0.77",
        "12,346",
        "1e+09",
    ]
    assert [portion_text(share) for share in (0.5, 6.68, 12.34, 0.034, 1e-9)] == [
        *("50 %", "668 %", "12.3 times", "3.4 %", "< 0.01 %")
    ]


def test_counters_of_many_digits() -> None:
    assert amount_text("BYTES_WRITTEN", 12_884_901_888) == "12 GiB"
    assert amount_text("BYTES_WRITTEN", 123_456_789) == "123,456,789"
    assert amount_text("WRITES", 12_884_901_888) == "12.9 billion"
    assert amount_text("WRITES", None) == "-"
