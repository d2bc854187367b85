"""Stopping: bounds against published tables and against simulated walks, error rates against planted truth."""

from __future__ import annotations

import numpy as np
import pytest
from planted_studies import planted_trials, planted_values
from scipy import stats

from workalike.study.statistics.looks import look_blocks, mixture_bound, normal_bounds, spent, student_bound
from workalike.study.statistics.sequential import Correction, Rule, State, Why, review, review_differences
from workalike.study.statistics.table import Trials


def test_one_look_is_a_plain_test() -> None:
    assert normal_bounds((1.0,), 0.05) == pytest.approx((1.95996,), abs=1e-4)
    assert student_bound(1.959964, 10) == pytest.approx(stats.t.isf(0.025, 9), abs=1e-5)


def test_bounds_of_five_looks_are_those_of_the_literature() -> None:
    """Lan-DeMets bounds of O'Brien-Fleming's shape, two-sided 5 %, five equal looks."""
    found = normal_bounds((0.2, 0.4, 0.6, 0.8, 1.0), 0.05)
    assert found == pytest.approx((4.877, 3.357, 2.680, 2.290, 2.031), abs=0.002)


def test_random_walks_cross_the_bounds_as_often_as_stated() -> None:
    times = (0.1, 0.3, 0.35, 0.7, 1.0)
    bounds = np.array(normal_bounds(times, 0.1))
    steps = np.random.default_rng(1).normal(size=(40_000, 5)) * np.sqrt(np.diff([0, *times]))
    crossed = np.abs(np.cumsum(steps, axis=1)) > bounds * np.sqrt(times)
    assert crossed.any(axis=1).mean() == pytest.approx(0.1, abs=0.005)


def test_an_end_before_the_planned_one_spends_the_rest() -> None:
    early, plain = normal_bounds((0.25, 0.5), 0.05, True), normal_bounds((0.25, 0.5), 0.05)
    assert early[0] == plain[0] and early[1] < plain[1]
    assert early[1] == pytest.approx(1.96, abs=0.01)
    assert spent(0.05, 0.5) < 0.01 < spent(0.05, 1.0) == 0.05


def test_looks_are_few_and_the_last_is_the_end() -> None:
    assert look_blocks(8, 3, 12) == (3, 4, 5, 6, 7, 8)
    assert len(look_blocks(1000, 3, 12)) == 12 and look_blocks(1000, 3, 12)[-1] == 1000
    assert look_blocks(2, 3, 12) == (2,)


def test_walks_without_end_cross_the_mixture_bound_rarely() -> None:
    """Watched after each of 400 blocks, at most 5 % of studies without a difference cross, and nearly none early."""
    rng, n = np.random.default_rng(2), np.arange(1, 401)
    values = rng.normal(size=(1000, 400))
    mean = np.cumsum(values, axis=1) / n
    variance = (np.cumsum(values**2, axis=1) - n * mean**2)[:, 1:] / (n[1:] - 1)
    t = np.abs(mean[:, 1:]) / np.sqrt(variance / n[1:])
    bounds = np.array([mixture_bound(int(k), 0.05) for k in n[1:]])
    assert (t > bounds).any(axis=1).mean() <= 0.05
    assert mixture_bound(1, 0.05) == np.inf


def stopped(effect: float, cov: float, most: int, drift: float, seed: int) -> tuple[State, int]:
    """Planned blocks are measured until the review says to stop."""
    rule = Rule(most)
    rng = np.random.default_rng(seed)
    logs = np.log(planted_values(np.array([1, 1 + effect]), most, cov, drift, rng))
    difference = logs[:, 1] - logs[:, 0]
    for count in rule.schedule():
        found = review_differences([("b", difference[:count])], "a", rule)
        if found.stops:
            break
    return found.standings[0].state, found.blocks


@pytest.mark.parametrize(("cov", "most"), [(0.05, 8), (0.15, 26), (0.30, 90)])
def test_a_planted_difference_is_found_and_none_is_invented(cov: float, most: int) -> None:
    """100 studies each under drift. Rates are up to 4 % (benchmarks), and 10 is three deviations beyond."""
    null = [stopped(0.0, cov, most, 0.3, seed)[0] for seed in range(100)]
    real = [stopped(0.2, cov, most, 0.3, 1000 + seed) for seed in range(100)]
    assert sum(state is State.DIFFERENT for state in null) <= 10
    assert sum(state is State.DIFFERENT for state, _ in real) >= 90
    assert np.mean([blocks for _, blocks in real]) < 0.8 * most


def test_a_narrow_interval_ends_a_study_without_a_difference() -> None:
    trials = planted_trials({"a": 1.0, "b": 1.0}, 30, 0.02, 0.3, seed=5)
    found = review(trials, "a", Rule(60))
    assert found.why is Why.ALL_KNOWN and found.next_look is None
    standing = found.standings[0]
    assert standing.state is State.NARROW and standing.ratio.half_width <= np.log(1.05)
    assert standing.ratio.low < 1 < standing.ratio.high


def test_open_settings_go_on_until_the_budget_ends() -> None:
    trials = planted_trials({"a": 1.0, "b": 1.5, "c": 1.02}, 12, 0.15, seed=6)
    found = review(trials, "a", Rule(26))
    assert found.why is Why.GOES_ON and found.open_settings == ["c"] and found.next_look == 13
    assert found.blocks == 11  # the last look
    assert review(trials, "a", Rule(12)).why is Why.BUDGET
    cut = review(trials, "a", Rule(26), ended=True)
    assert cut.why is Why.BUDGET and cut.blocks == 12


def test_a_decided_setting_may_be_left_out_of_later_blocks() -> None:
    trials = planted_trials({"a": 1.0, "b": 2.0, "c": 1.02}, 26, 0.1, seed=7)
    keep = np.array([(b < 7 or s != "b") for b, s in zip(trials.block, trials.setting, strict=True)])
    fewer = Trials(
        trials.block[keep], [s for s, k in zip(trials.setting, keep, strict=True) if k], trials.value[keep]
    )
    found = {s.ratio.setting: s for s in review(fewer, "a", Rule(26)).standings}
    assert found["b"].state is State.DIFFERENT and found["b"].ratio.pairs == 7


def test_intervals_of_all_looks_hold_at_once() -> None:
    """Truth is outside the running interval in at most 3 % of studies (± 3 deviations of 300)."""
    rng, rule, missed = np.random.default_rng(8), Rule(20, precision=1e-6, early=False), 0
    for _ in range(300):
        values = rng.normal(0.1, 0.3, 20)
        ratio = review_differences([("b", values)], "a", rule).standings[0].ratio
        missed += not ratio.low <= np.exp(0.1) <= ratio.high
    assert missed <= 9 + 3 * 3


@pytest.mark.parametrize("correction", list(Correction))
def test_studies_without_pairs_are_open_to_the_end(correction: Correction) -> None:
    dead = Trials(np.repeat(np.arange(5), 2), ["a", "b"] * 5, np.array([1.0, np.nan] * 5))
    found = review(dead, "a", Rule(5, correction=correction))
    assert found.why is Why.BUDGET and found.standings[0].state is State.OPEN
    assert not found.standings[0].ratio.is_known
