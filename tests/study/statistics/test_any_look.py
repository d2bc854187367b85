"""Intervals at the look that ended a study: the bound against Pocock's table, and against simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from workalike.study.report.findings import findings_of
from workalike.study.report.slopes import growths_of
from workalike.study.report.table import StudyTable
from workalike.study.statistics.any_look import ONE_LOOK, Looks, crossed_at_any
from workalike.study.statistics.effects import main_effects
from workalike.study.statistics.multiple import simultaneous_of
from workalike.study.statistics.sequential import Rule, review_differences
from workalike.study.statistics.table import Trials


@pytest.mark.parametrize(("looks", "nominal"), [(2, 0.0294), (5, 0.0158), (10, 0.0106), (20, 0.0075)])
def test_the_error_of_one_look_is_that_of_pococks_table(looks: int, nominal: float) -> None:
    """Pocock 1977, Table 1: nominal levels of two-sided 5 %."""
    found = Looks(tuple(range(4, 4 * looks + 1, 4)))
    assert found.error(0.05) == pytest.approx(nominal, abs=1e-4)
    assert found.p(found.error(0.05)) == pytest.approx(0.05)


def test_one_look_corrects_nothing() -> None:
    for looks in (ONE_LOOK, Looks((8,))):
        assert (looks.error(0.03), looks.level(0.95), looks.p(0.2)) == (0.03, pytest.approx(0.95), 0.2)


def test_small_and_large_errors_stay_in_order() -> None:
    looks = Looks((3, 7, 10, 14, 40))
    errors = np.array([looks.error(p) for p in (1e-300, 1e-20, 1e-12, 1e-6, 0.05, 0.5, 0.99, 1.0)])
    assert (np.diff(errors) > 0).all() and errors[-1] == 1.0
    p = np.array([looks.p(value) for value in (0.0, 1e-300, 1e-20, 1e-6, 0.01, 0.5, 1.0)])
    assert (np.diff(p) > 0).all() and p[0] == 0 and p[-1] == 1.0
    assert looks.p(1e-20) <= 5e-20, "never more than Bonferroni's"


def test_random_walks_cross_a_constant_bound_as_often_as_computed() -> None:
    blocks = (3, 4, 9, 10, 30)
    steps = np.random.default_rng(1).normal(size=(40_000, 5)) * np.sqrt(np.diff([0, *blocks]))
    z = np.abs(np.cumsum(steps, axis=1)) / np.sqrt(blocks)
    assert (z > 2.2).any(axis=1).mean() == pytest.approx(crossed_at_any(blocks, 2.2), abs=0.004)


def test_intervals_hold_where_the_study_ends_at_its_worst_look() -> None:
    """Who stops at the look that shows an answer best finds it by chance in one of 20 studies, and not in four."""
    blocks = (4, 8, 12, 16, 20)
    looks, values = Looks(blocks), np.random.default_rng(3).normal(size=(2000, 20))
    t = np.stack(
        [
            np.abs(values[:, :n].mean(axis=1)) / (values[:, :n].std(axis=1, ddof=1) / np.sqrt(n))
            for n in blocks
        ]
    )
    plain = np.array([[stats.t.isf(0.025, n - 1)] for n in blocks])
    corrected = np.array([[stats.t.isf(looks.error(0.05) / 2, n - 1)] for n in blocks])
    assert (t > plain).any(axis=0).mean() > 0.12
    assert (t > corrected).any(axis=0).mean() <= 0.065


def test_simultaneous_intervals_and_effects_get_wider_with_looks() -> None:
    rng, looks = np.random.default_rng(4), Looks((4, 8, 12))
    columns = {name: rng.normal(0.1, 0.1, 12) for name in "bcd"}
    plain = {r.setting: r for r in simultaneous_of(columns, "a")}
    for ratio in simultaneous_of(columns, "a", looks=looks):
        assert ratio.half_width > plain[ratio.setting].half_width and ratio.p >= plain[ratio.setting].p
    block = np.repeat(np.arange(12), 2)
    level = ["x", "y"] * 12
    trials = Trials(block, level, np.tile([1.0, 1.1], 12) * np.exp(rng.normal(0, 0.1, 24)), {"f": level})
    last, many = main_effects(trials)[0], main_effects(trials, looks=looks)[0]
    assert (many.low, many.high) != (last.low, last.high) and many.high / many.low > last.high / last.low
    assert many.p > last.p and many.ratio == last.ratio


def table_of(looks: Looks) -> StudyTable:
    """Eight blocks of three ranks, with a time that grows with them."""
    rng = np.random.default_rng(5)
    block, ranks = np.repeat(np.arange(8), 3), np.tile([1, 2, 4], 8)
    seconds = (1 + 0.5 * ranks) * np.exp(rng.normal(0, 0.05, 24))
    names = [str(number) for number in ranks.tolist()]
    return StudyTable(
        block, names, 1e6 * ranks / seconds, seconds, seconds, seconds, {"ranks": names}, looks=looks
    )


def test_all_intervals_of_the_page_are_corrected() -> None:
    plain, looked = table_of(ONE_LOOK), table_of(Looks((3, 5, 8)))
    last, many = growths_of(plain)[0].slopes["all settings"], growths_of(looked)[0].slopes["all settings"]
    assert many.value == last.value and many.high - many.low > 1.2 * (last.high - last.low)
    few, more = findings_of(plain), findings_of(looked)
    for narrow, wide in zip(few.scalings[0].levels, more.scalings[0].levels, strict=True):
        assert wide.ratio.half_width > narrow.ratio.half_width
    for narrow, wide in zip(few.beside, more.beside, strict=True):
        assert all(wide.ratios[name].half_width > ratio.half_width for name, ratio in narrow.ratios.items())
    assert more.mains[0].high / more.mains[0].low > few.mains[0].high / few.mains[0].low


def test_before_any_error_is_spent_nothing_is_said_to_have_been_missed() -> None:
    found = review_differences([("b", np.random.default_rng(6).normal(size=2))], "a", Rule(40))
    assert found.error == 0.0 and found.blocks == 0
    later = review_differences([("b", np.random.default_rng(6).normal(size=40))], "a", Rule(40))
    assert 0.005 < later.error < 0.03
