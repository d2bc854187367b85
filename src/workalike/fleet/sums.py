"""Sums of real numbers as SQL, the same for any order of the rows and any number of threads."""

from __future__ import annotations


def total(value: str) -> str:
    """The sum of a real expression.

    DuckDB's `sum` adds in the order in which its threads come to the rows, and rounds after each. Its `fsum` compensates
    for that, but promises nothing about orders. So the numbers are sorted first. Sums of whole numbers are exact as they
    are.
    """
    return f"sum({value} ORDER BY {value})"


def mean(value: str) -> str:
    """The mean of a real expression, as `total`."""
    return f"avg({value} ORDER BY {value})"
