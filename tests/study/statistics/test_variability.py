"""Variance between and within blocks against a least-squares fit, and its intervals against planted truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from workalike.study.statistics.table import Grid, Trials, grid_of
from workalike.study.statistics.variability import variability_of


def planted(between: float, within: float, blocks: int, settings: int, dice: np.random.Generator) -> Grid:
    """Settings that differ tenfold, in blocks whose level has one deviation, with the noise of another."""
    log = (
        np.log(10) * np.arange(settings)
        + dice.normal(0, between, (blocks, 1))
        + dice.normal(0, within, (blocks, settings))
    )
    return Grid(np.arange(blocks), tuple("abcdefgh"[:settings]), log)


def test_the_test_of_blocks_is_that_of_a_least_squares_fit() -> None:
    grid = planted(0.2, 0.1, 6, 4, np.random.default_rng(7))
    found = variability_of(grid)
    assert found is not None
    rows, columns = np.divmod(np.arange(24), 4)
    whole = np.column_stack([np.eye(6)[rows], np.eye(4)[columns]])
    only_settings = np.eye(4)[columns]
    rest, rest_without = (
        float(np.sum((y - x @ np.linalg.lstsq(x, y, rcond=None)[0]) ** 2))
        for x, y in ((whole, grid.log.ravel()), (only_settings, grid.log.ravel()))
    )
    statistic = (rest_without - rest) / 5 / (rest / 15)
    assert found.p == pytest.approx(stats.f.sf(statistic, 5, 15))
    assert found.within.value == pytest.approx(math.sqrt(rest / 15))
    assert found.levels == pytest.approx(grid.log.mean(axis=1) - grid.log.mean())


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.05), (0.1, 0.1), (0.02, 0.1)])
def test_intervals_hold_the_planted_deviations(between: float, within: float) -> None:
    dice = np.random.default_rng(11)
    studies = [variability_of(planted(between, within, 8, 4, dice)) for _ in range(600)]
    held = [s.between.low <= between <= s.between.high for s in studies if s]
    assert 0.92 <= sum(held) / 600 <= 0.98
    held = [s.within.low <= within <= s.within.high for s in studies if s]
    assert 0.92 <= sum(held) / 600 <= 0.98


def test_a_steady_system_is_seldom_said_to_change() -> None:
    dice = np.random.default_rng(13)
    studies = [variability_of(planted(0, 0.1, 8, 4, dice)) for _ in range(600)]
    assert sum(s is not None and s.is_seen for s in studies) / 600 < 0.05
    assert sum(s is not None and s.p < 0.05 for s in studies) / 600 == pytest.approx(0.05, abs=0.03)


def test_settings_that_lack_a_trial_are_left_out_and_blocks_where_all_do() -> None:
    grid = planted(0.2, 0.1, 6, 4, np.random.default_rng(3))
    log = grid.log.copy()
    log[2, 1] = np.nan
    lacking = variability_of(Grid(grid.blocks, grid.settings, log))
    assert lacking is not None and (len(lacking.blocks), lacking.settings) == (6, 3)
    log[3, [0, 2]] = np.nan
    fewer = variability_of(Grid(grid.blocks, grid.settings, log))
    assert fewer is not None and list(fewer.blocks) == [0, 1, 4, 5] and fewer.settings == 4


def test_what_says_nothing_and_what_says_all() -> None:
    two_blocks = Trials(np.array([1, 1, 2, 2]), ["a", "b"] * 2, np.array([1.0, 2.0, 3.0, 6.0]))
    assert variability_of(grid_of(two_blocks)) is None
    one_setting = Trials(np.arange(5), ["a"] * 5, np.arange(1.0, 6.0))
    assert variability_of(grid_of(one_setting)) is None
    no_noise = Trials(np.array([1, 1, 2, 2, 3, 3]), ["a", "b"] * 3, np.array([1.0, 2, 3, 6, 9, 18]))
    found = variability_of(grid_of(no_noise))
    assert found is not None and found.is_seen and found.within.value == pytest.approx(0, abs=1e-9)
    assert math.exp(found.levels[2] - found.levels[0]) == pytest.approx(9)
    equal = variability_of(grid_of(Trials(np.repeat([1, 2, 3], 2), ["a", "b"] * 3, np.full(6, 4.0))))
    assert equal is not None and not equal.is_seen and equal.between.high == 0 and equal.p == 1
