"""Levels of factors as numbers: plain ones, sizes, fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workalike.study.report.findings import knee_of
from workalike.study.statistics.effects import levels_of, number_of
from workalike.study.statistics.table import Trials


@pytest.mark.parametrize(
    ("level", "number"), [("4", 4), ("0.25", 0.25), ("1/64", 1 / 64), ("4 MiB", 4 * 2**20), ("1MB", 10**6)]
)
def test_numbers_sizes_and_fractions_are_numbers(level: str, number: float) -> None:
    assert number_of(level) == number


@pytest.mark.parametrize("level", ["default", "1/0", "", "MiB", "nodes"])
def test_words_are_none(level: str) -> None:
    assert math.isnan(number_of(level))


def test_sizes_are_in_their_order() -> None:
    assert levels_of(["16 MiB", "1 MiB", "512 KiB", "1 MiB"]) == ["512 KiB", "1 MiB", "16 MiB"]


@pytest.mark.parametrize("words", [[], ["default"]])
def test_larger_sizes_stop_paying_and_a_word_among_them_does_not_hide_it(words: list[str]) -> None:
    levels = ["1 MiB", "2 MiB", "4 MiB", *words]
    rates = {"1 MiB": 100.0, "2 MiB": 200.0, "4 MiB": 200.0, "default": 50.0}
    dice = np.random.default_rng(3)
    block = np.repeat(np.arange(12), len(levels))
    column = levels * 12
    value = np.array([rates[level] for level in column]) * dice.normal(1, 0.005, len(column))
    knee = knee_of(Trials(block, column, value, {"size": column}), "size")
    assert knee is not None and knee.text.startswith("From 2 MiB on")
