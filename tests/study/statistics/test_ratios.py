"""Ratios against scipy's closed forms and against planted truth."""

from __future__ import annotations

import numpy as np
import pytest
from planted_studies import planted_trials
from scipy import stats

from workalike.errors import WorkalikeError
from workalike.study.statistics.intervals import Method, bca
from workalike.study.statistics.ratios import paired_ratio, paired_ratios, unpaired_ratio
from workalike.study.statistics.table import Trials


def three_blocks() -> Trials:
    """Ratios 2, 2.2 and 1.8 within blocks whose level differs tenfold."""
    return Trials(
        np.array([1, 1, 2, 2, 3, 3]), ["a", "b"] * 3, np.array([10.0, 20.0, 100.0, 220.0, 1000.0, 1800.0])
    )


def test_the_paired_ratio_is_scipys_paired_t_interval_of_logarithms() -> None:
    found = paired_ratio(three_blocks(), "b", "a")
    known = stats.ttest_rel(np.log([20, 220, 1800]), np.log([10, 100, 1000]))
    low, high = np.exp(known.confidence_interval(0.95))
    assert found.ratio == pytest.approx((2 * 2.2 * 1.8) ** (1 / 3))
    assert (found.low, found.high, found.p) == pytest.approx((low, high, known.pvalue))
    assert found.pairs == 3 and found.differs


def test_the_unpaired_ratio_is_welchs() -> None:
    found = unpaired_ratio(three_blocks(), "b", "a")
    known = stats.ttest_ind(np.log([20, 220, 1800]), np.log([10, 100, 1000]), equal_var=False)
    low, high = np.exp(known.confidence_interval(0.95))
    assert (found.low, found.high, found.p) == pytest.approx((low, high, known.pvalue))
    assert not found.differs  # the levels of the blocks hide a factor of two


def test_failed_trials_take_their_block_away_and_nothing_else() -> None:
    trials = three_blocks()
    for bad in (np.nan, 0.0, -5.0, np.inf):
        values = np.append(trials.value, [bad, 70.0])
        more = Trials(np.append(trials.block, [4, 4]), [*trials.setting, "a", "b"], values)
        assert paired_ratio(more, "b", "a") == paired_ratio(trials, "b", "a")


def test_a_setting_that_never_worked_has_no_ratio() -> None:
    trials = Trials(np.array([1, 1, 2, 2]), ["a", "b"] * 2, np.array([1.0, np.nan, 2.0, np.nan]))
    found = paired_ratio(trials, "b", "a")
    assert not found.is_known and not found.differs and found.half_width == np.inf and found.p == 1


def test_one_block_says_nothing_and_equal_blocks_say_all() -> None:
    single = Trials(np.array([1, 1]), ["a", "b"], np.array([1.0, 2.0]))
    assert not paired_ratio(single, "b", "a").is_known
    same = Trials(np.array([1, 1, 2, 2]), ["a", "b"] * 2, np.array([1.0, 2.0, 3.0, 6.0]))
    found = paired_ratio(same, "b", "a")
    assert (found.low, found.ratio, found.high, found.p) == pytest.approx((2, 2, 2, 0))


def test_all_ratios_are_those_of_single_settings() -> None:
    trials = planted_trials({"a": 1.0, "b": 1.2, "c": 0.7}, 9, seed=3, failed=0.1)
    assert paired_ratios(trials, "a") == [paired_ratio(trials, name, "a") for name in ("b", "c")]


def test_the_bootstrap_interval_is_near_the_normal_one_for_many_blocks() -> None:
    values = np.random.default_rng(4).normal(0.2, 0.3, 400)
    low, high = bca(values)
    error = np.std(values, ddof=1) / 20
    assert (low, high) == pytest.approx(
        (np.mean(values) - 1.96 * error, np.mean(values) + 1.96 * error), abs=0.004
    )


def test_the_bootstrap_interval_is_scipys() -> None:
    """Two random bootstraps of a skewed sample agree within their Monte Carlo error."""
    values = np.random.default_rng(5).exponential(1.0, 30)
    known = stats.bootstrap((values,), np.mean, n_resamples=9999, method="BCa").confidence_interval
    assert bca(values, resamples=9999) == pytest.approx((known.low, known.high), abs=0.03)


def test_the_bootstrap_of_few_distinct_values_is_finite() -> None:
    trials = Trials(np.array([1, 1, 2, 2, 3, 3]), ["a", "b"] * 3, np.array([1.0, 2, 1, 2, 1, 3]))
    found = paired_ratio(trials, "b", "a", method=Method.BCA)
    assert 1.9 < found.low <= found.ratio <= found.high < 3.1


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    """Planted ratio 1.2 under noise of 15 % and drift; 300 studies of 8 blocks, of which 285 ± 3 × 3.8 cover."""
    seen = [
        paired_ratio(planted_trials({"a": 1, "b": 1.2}, 8, 0.15, 0.3, seed), "b", "a") for seed in range(300)
    ]
    covered = sum(r.low <= 1.2 <= r.high for r in seen)
    assert 273 <= covered <= 297


def test_pairing_removes_drift() -> None:
    """With noise of 5 % and drift of ±30 %, unpaired intervals are more than twice as wide."""
    studies = [planted_trials({"a": 1, "b": 1.2}, 12, 0.05, 0.3, seed) for seed in range(40)]
    paired = np.mean([paired_ratio(s, "b", "a").half_width for s in studies])
    unpaired = np.mean([unpaired_ratio(s, "b", "a").half_width for s in studies])
    assert unpaired > 2 * paired


def test_columns_of_different_length_and_unknown_settings_are_refused() -> None:
    with pytest.raises(WorkalikeError, match="rows"):
        Trials(np.array([1]), ["a", "b"], np.array([1.0, 2.0]))
    with pytest.raises(WorkalikeError, match="settings are a, b"):
        paired_ratio(three_blocks(), "c", "a")
