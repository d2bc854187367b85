"""The interval that a study asks for: its coverage beside Student's, and where it is used."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from planted_studies import planted_trials
from scipy import stats
from studies import write_study
from study_pages import generated_study

from workalike.errors import WorkalikeError
from workalike.study.report import write_study_report
from workalike.study.report.findings import findings_of
from workalike.study.statistics.intervals import Method, bootstrap, interval_of_mean
from workalike.study.statistics.multiple import simultaneous_ratios
from workalike.study.statistics.ratios import paired_ratio
from workalike.study.study_file import read_study


@pytest.mark.parametrize(
    ("method", "least", "most"),
    [(Method.STUDENT, 0.93, 0.97), (Method.BCA, 0.90, 0.96), (Method.BOOTSTRAP, 0.90, 0.96)],
)
def test_coverage(method: Method, least: float, most: float) -> None:
    """Of 400 studies of 20 blocks: Student's holds the truth as often as it says, both bootstraps a little less."""
    rng = np.random.default_rng(7)
    held = 0
    for seed in range(400):
        low, high = interval_of_mean(rng.normal(0.2, 0.3, 20), 0.95, method, seed)
        held += low <= 0.2 <= high
    deviation = (least * (1 - least) / 400) ** 0.5
    assert least - 2 * deviation <= held / 400 <= most + deviation


def test_the_percentile_bootstrap_is_scipys() -> None:
    values = np.random.default_rng(5).exponential(1.0, 30)
    known = stats.bootstrap((values,), np.mean, n_resamples=9999, method="percentile").confidence_interval
    assert bootstrap(values, resamples=9999) == pytest.approx((known.low, known.high), abs=0.03)


def test_far_tails_take_more_resamples() -> None:
    """With one in 4000 on each side, 4999 resamples would end at the smallest mean of all."""
    values = np.random.default_rng(6).normal(0, 1, 60)
    low, high = interval_of_mean(values, 1 - 1 / 2000, Method.BOOTSTRAP)
    normal = stats.norm.interval(1 - 1 / 2000, values.mean(), values.std() / np.sqrt(60))
    assert (low, high) == pytest.approx(normal, abs=0.06)


@pytest.mark.parametrize("method", [Method.BCA, Method.BOOTSTRAP])
def test_intervals_of_many_settings_are_wider_than_single_ones(method: Method) -> None:
    trials = planted_trials({"a": 1.0, "b": 1.2, "c": 1.0}, 20, 0.1, 0.3, seed=2)
    single = paired_ratio(trials, "b", "a", method=method)
    several = next(r for r in simultaneous_ratios(trials, "a", method=method) if r.setting == "b")
    student = next(r for r in simultaneous_ratios(trials, "a") if r.setting == "b")
    assert several.low < single.low < single.high < several.high
    assert several.ratio == student.ratio and several.p == student.p and several.level == 0.95
    assert (several.low, several.high) != (student.low, student.high)


def test_the_page_has_the_intervals_that_were_asked_for(tmp_path: Path) -> None:
    table = dataclasses.replace(generated_study(12), method=Method.BCA)
    found, usual = findings_of(table), findings_of(generated_study(12))
    asked = {row.name: row.ratio for row in found.rows}
    for row in usual.rows:
        ratio = asked[row.name]
        if ratio is not None and row.ratio is not None:
            assert ratio.ratio == row.ratio.ratio and ratio.low != row.ratio.low
    assert found.scalings[0].levels[0].ratio.low != usual.scalings[0].levels[0].ratio.low
    assert (
        "BCa bootstrap intervals that hold for all" in write_study_report(tmp_path / "a", table).read_text()
    )
    assert (
        "with Student&#39;s intervals" in write_study_report(tmp_path / "b", generated_study(12)).read_text()
    )


def test_what_a_study_may_ask_for(tmp_path: Path) -> None:
    usual = read_study(write_study(tmp_path))
    assert usual.study.interval is Method.STUDENT
    asked = read_study(write_study(tmp_path, interval="bca"))
    assert asked.study.interval is Method.BCA and asked.identity == usual.identity, "the trials are the same"
    with pytest.raises(WorkalikeError, match="interval"):
        read_study(write_study(tmp_path, interval="normal"))
    with pytest.raises(WorkalikeError, match="all looks"):
        read_study(write_study(tmp_path, interval="bca", stop={}))
