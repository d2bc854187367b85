"""P(best), effects, corrections, power, A/A and ranks against closed forms and planted truth."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from planted_studies import planted_trials, sigma_of
from scipy import stats

from workalike.study.statistics.best import p_best
from workalike.study.statistics.effects import interactions, levels_of, main_effects
from workalike.study.statistics.equality import same_setting
from workalike.study.statistics.multiple import holm, simultaneous_ratios
from workalike.study.statistics.power import blocks_needed, detectable, none_found_text, power_of
from workalike.study.statistics.ranks import rank_correlation
from workalike.study.statistics.ratios import paired_ratio, paired_ratios
from workalike.study.statistics.table import Better, Trials
from workalike.study.statistics.tails import percentiles95, slowest


def factorial(blocks: int, seed: int, failed: float = 0.0) -> Trials:
    """Stripes x alignment: more stripes are faster by 1.5 each, alignment by 1.2, and both together by 1.3 more."""
    rng = np.random.default_rng(seed)
    rows = [(b, s, a) for b in range(blocks) for s, a in product((1, 2, 4), ("no", "yes"))]
    true = np.array(
        [
            {1: 1.0, 2: 1.5, 4: 2.25}[s] * (1.2 if a == "yes" else 1) * (1.3 if (s, a) == (4, "yes") else 1)
            for _, s, a in rows
        ]
    )
    level = np.repeat(np.exp(rng.normal(0, 0.5, blocks)), 6)  # blocks differ far more than settings
    values = true * level * np.exp(rng.normal(0, 0.05, len(rows)))
    values[rng.random(len(rows)) < failed] = np.nan
    return Trials(
        np.array([r[0] for r in rows]),
        [f"{s}-{a}" for _, s, a in rows],
        values,
        {"stripes": [str(s) for _, s, _ in rows], "aligned": [a for _, _, a in rows]},
    )


MAIN = {("stripes", "1"): 1.0, ("stripes", "2"): 1.5, ("stripes", "4"): 2.25 * 1.3**0.5}


def test_p_best_of_two_settings_is_students_distribution() -> None:
    trials = planted_trials({"a": 1.0, "b": 1.05}, 8, 0.1, seed=2)
    t = stats.ttest_rel(np.log(trials.value[1::2]), np.log(trials.value[0::2])).statistic
    found = p_best(trials, Better.HIGHER)
    assert found["b"] == pytest.approx(stats.t.cdf(t, 7), abs=0.015)
    assert p_best(trials, Better.LOWER)["a"] == pytest.approx(found["b"], abs=0.015)
    assert sum(found.values()) == pytest.approx(1)


def test_p_best_with_failed_trials_and_dead_settings() -> None:
    trials = planted_trials({"a": 1.0, "b": 1.3, "dead": 9.0}, 12, 0.1, 0.3, seed=3, failed=0.15)
    dead = np.where(np.array(trials.setting) == "dead", np.nan, trials.value)
    found = p_best(Trials(trials.block, trials.setting, dead), Better.HIGHER)
    assert found["b"] > 0.99 and found["dead"] == 0
    single = Trials(np.array([1, 1]), ["a", "b"], np.array([1.0, 5.0]))
    assert p_best(single, Better.HIGHER) == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("failed", [0.0, 0.1])
def test_main_effects_are_those_planted(failed: float) -> None:
    found = {(e.factors[0], e.levels[0]): e for e in main_effects(factorial(20, 1, failed))}
    middle = math.prod(MAIN.values()) ** (1 / 3)
    for key, value in MAIN.items():
        assert found[key].ratio == pytest.approx(value / middle, rel=0.04 if failed else 0.02)
        assert found[key].low < found[key].ratio < found[key].high
    half = math.sqrt(1.2 * 1.3 ** (1 / 3))
    assert found["aligned", "yes"].ratio == pytest.approx(half, rel=0.02)
    assert found["aligned", "yes"].differs and found["aligned", "yes"].p < 0.001


def test_the_interval_of_a_balanced_effect_is_that_of_its_contrasts() -> None:
    trials = factorial(9, 2)
    logs = np.log(trials.value).reshape(9, 3, 2)
    contrast = (logs[:, :, 1] - logs[:, :, 0]).mean(axis=1) / 2
    low, high = stats.t.interval(0.95, 8, contrast.mean(), stats.sem(contrast))
    found = next(e for e in main_effects(trials) if e.levels == ("yes",))
    assert (np.log(found.low), np.log(found.high)) == pytest.approx((low, high))


def test_interactions_are_those_planted_and_no_others() -> None:
    found = {e.levels: e for e in interactions(factorial(20, 3))}
    # 1.3 on one of six cells: what is left after both mean effects
    assert found["4", "yes"].ratio == pytest.approx(1.3 ** (1 - 1 / 2 - 1 / 3 + 1 / 6), rel=0.02)
    assert found["4", "yes"].differs and len(found) == 6
    plain = planted_trials({"x1": 1, "x2": 2, "y1": 3, "y2": 6}, 15, 0.05, seed=4)
    factors = {"letter": [s[0] for s in plain.setting], "number": [s[1] for s in plain.setting]}
    none = interactions(Trials(plain.block, plain.setting, plain.value, factors))
    assert not any(e.p < 0.01 for e in none)


def test_effects_that_cannot_be_told_apart_are_not_made_up() -> None:
    trials = factorial(6, 5)
    same = {**trials.factors, "copy": trials.factors["stripes"]}
    assert main_effects(Trials(trials.block, trials.setting, trials.value, same)) == []
    keep = [not (s == "4" and a == "yes") for s, a in zip(*trials.factors.values(), strict=True)]
    factors = {n: [v for v, k in zip(c, keep, strict=True) if k] for n, c in trials.factors.items()}
    without = Trials(
        trials.block[keep],
        [s for s, k in zip(trials.setting, keep, strict=True) if k],
        trials.value[keep],
        factors,
    )
    assert interactions(without) == [] and main_effects(without)
    assert main_effects(Trials(trials.block, trials.setting, trials.value)) == []


def test_levels_that_are_numbers_are_in_their_order() -> None:
    assert levels_of(["16", "2", "1"]) == ["1", "2", "16"] and levels_of(["b", "1", "a"]) == ["b", "1", "a"]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]) == []


def test_simultaneous_intervals_hold_at_once() -> None:
    """Five equal settings: in at most 5 % of 200 studies (+ 3 deviations) any interval misses 1; single ones miss more."""
    names = dict.fromkeys("abcdef", 1.0)
    studies = [planted_trials(names, 8, 0.15, 0.3, seed) for seed in range(200)]
    at_once = sum(any(r.differs for r in simultaneous_ratios(s, "a")) for s in studies)
    single = sum(any(r.differs for r in paired_ratios(s, "a")) for s in studies)
    assert at_once <= 10 + 9 and single > 2 * at_once


def test_power_of_known_sizes() -> None:
    """By simulation elsewhere, a ratio of 1.2 at 15 and 30 % takes 20 and 72 blocks for 95 %."""
    for cov, blocks in ((0.15, 20), (0.30, 71)):
        assert abs(blocks_needed(1.2, sigma_of(cov) * math.sqrt(2), 0.95) - blocks) <= 1


@pytest.mark.parametrize("pairs", [2, 5, 30])
def test_power_is_that_of_the_noncentral_t(pairs: int) -> None:
    for away in (0.5, 2.0, 4.0):
        bound = stats.t.isf(0.025, pairs - 1)
        known = stats.nct.sf(bound, pairs - 1, away) + stats.nct.cdf(-bound, pairs - 1, away)
        assert power_of(away / math.sqrt(pairs), 1.0, pairs) == pytest.approx(known, abs=0.001)


def test_power_far_out_is_certain() -> None:
    assert power_of(0.11234155791861822, 0.14, 400) == pytest.approx(1.0)
    assert 1 < detectable(0.1, 10_000) < 1.01


def test_a_detectable_difference_is_found_in_eighty_of_a_hundred() -> None:
    sd, blocks = 0.25, 15
    found = detectable(sd, blocks)
    values = np.random.default_rng(6).normal(math.log(found), sd, (4000, blocks))
    assert (stats.ttest_1samp(values, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)
    assert power_of(0.0, sd, blocks) == pytest.approx(0.05, abs=1e-4) and power_of(1.0, 1e-9, 5) == 1.0


def test_no_difference_is_said_with_what_would_have_been_found() -> None:
    ratio = paired_ratio(planted_trials({"a": 1, "b": 1}, 12, 0.1, seed=8), "b", "a")
    least = 100 * (detectable(ratio.sd_log, 12) - 1)
    assert (
        none_found_text(ratio)
        == f"no difference was found; one of less than {least:.0f} % may have been missed."
    )
    assert "nothing can be said" in none_found_text(
        paired_ratio(planted_trials({"a": 1, "b": 1}, 1), "b", "a")
    )


def test_few_blocks_do_not_claim_that_settings_are_equal() -> None:
    trials = planted_trials({"a": 1, "b": 1}, 3, 0.4, seed=8)
    ratio = paired_ratio(trials, "b", "a")
    assert not ratio.differs and detectable(ratio.sd_log, 3) > 2
    assert none_found_text(ratio).startswith("too few blocks to tell; a difference of ")
    checked = same_setting(trials, "a", "b")
    assert checked.is_equal is None and "too few blocks to tell" in checked.text


def test_the_same_setting_under_two_names() -> None:
    equal = same_setting(planted_trials({"a": 1, "a again": 1}, 10, 0.1, 0.3, seed=1), "a", "a again")
    assert equal.is_equal and "no difference was found; one of less" in equal.text
    broken = same_setting(planted_trials({"a": 1, "a again": 1.3}, 10, 0.1, seed=1), "a", "a again")
    assert broken.is_equal is False and "prove nothing" in broken.text
    assert same_setting(planted_trials({"a": 1, "a again": 1}, 1), "a", "a again").is_equal is None


def test_the_interval_of_tau_covers_the_truth() -> None:
    """Normal scores of correlation r have a tau of 2/π · asin(r); 95 % of intervals hold it (± 3 deviations)."""
    rng, r, covered = np.random.default_rng(9), 0.7, 0
    for _ in range(300):
        x = rng.normal(size=30)
        y = r * x + math.sqrt(1 - r * r) * rng.normal(size=30)
        found = rank_correlation({str(i): v for i, v in enumerate(x)}, {str(i): v for i, v in enumerate(y)})
        covered += found.low <= 2 / math.pi * math.asin(r) <= found.high
    assert covered >= 274
    assert math.isnan(rank_correlation({"a": 1.0}, {"a": 2.0}).tau)


def test_tails_of_trials() -> None:
    trial, seconds = np.array([2, 0, 0, 2, 0]), np.array([1.0, 5, 7, 3, np.nan])
    assert slowest(trial, seconds, 3) == pytest.approx([7, np.nan, 3], nan_ok=True)
    assert percentiles95(trial, seconds, 3) == pytest.approx([6.9, np.nan, 2.9], nan_ok=True)
