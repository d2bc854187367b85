"""Studies that end by their results, on trials whose bandwidth is planted."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from studies import trials_in, write_study

from workalike.errors import WorkalikeError
from workalike.study import driver
from workalike.study.driver import DriverOptions, Outcome, run_study
from workalike.study.journal import Finished
from workalike.study.results_page import study_table, write_results_page
from workalike.study.study_file import read_study
from workalike.study.trial import Trial

FACTORS = {"seed": [1, 2, 3]}
TRUE = {"seed=1": 100.0, "seed=2": 150.0, "seed=3": 100.0}


def planted(noise: float, seed: int = 1) -> object:
    """Trials whose bandwidth is that of their setting, times a drift of ±30 % that all of a block share, times noise."""

    def perform(_file: object, trial: Trial, *_: object) -> Finished:
        dice = random.Random(f"{seed} {trial.key}")
        drift = 1 + 0.3 * math.sin(trial.block)
        value = TRUE[trial.prepared.setting.id] * drift * math.exp(dice.gauss(0, noise))
        row = {"trial": trial.number, "block": trial.block, "position": trial.position}
        row |= {"setting": trial.setting_id, "arm": trial.arm, "state": "ok", "reasons": [], "counted": True}
        row |= {"bandwidth": value, "wall_s": 1.0, "io_time_s": 1.0, "slowest_dump_s": 1.0}
        row |= {"core_hours": 1.0, "plan": trial.prepared.plan_hash, "reused_from": None}
        return Finished(row | trial.prepared.setting.levels, [])

    return perform


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: float, **fields: object) -> Outcome:
    monkeypatch.setattr(driver, "perform", planted(noise))
    file = read_study(write_study(tmp_path, factors=FACTORS, **{"blocks": 40, "stop": {}, **fields}))
    return run_study(file, DriverOptions(tmp_path / "out"))


def blocks_of(outcome: Outcome) -> dict[str, int]:
    names = [row.trial["setting"] for row in outcome.finished]
    return {name: names.count(name) for name in dict.fromkeys(sorted(names))}


def test_a_decided_setting_leaves_and_the_study_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(tmp_path, monkeypatch, 0.08)
    blocks = blocks_of(outcome)
    assert outcome.state == "decided"
    assert blocks["seed=2"] < blocks["seed=3"] < 40, "50 % is decided before equality is known within 5 %"
    assert blocks["seed=1"] == blocks["seed=1 (a-a)"] == blocks["seed=3"], "reference and A/A arm stay"


def test_with_noise_that_hides_everything_all_blocks_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = run(tmp_path, monkeypatch, 1.0, blocks=6)
    assert outcome.state == "done" and set(blocks_of(outcome).values()) == {6}


def test_narrow_asks_for_more_than_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = run(tmp_path, monkeypatch, 0.08)
    (other := tmp_path / "narrow").mkdir()
    narrow = run(other, monkeypatch, 0.08, stop={"when": "narrow", "precision": 4})
    assert blocks_of(narrow)["seed=2"] > blocks_of(decided)["seed=2"]


def test_a_resumed_study_ends_as_an_undisturbed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path, monkeypatch, 0.08)
    (other := tmp_path / "cut").mkdir()
    ended = [run(other, monkeypatch, 0.08)]
    lines = (other / "out" / "trials.jsonl").read_bytes().splitlines(keepends=True)
    for keep in (7, 18, len(lines) - 1):
        (other / "out" / "trials.jsonl").write_bytes(b"".join(lines[:keep]))
        ended.append(run(other, monkeypatch, 0.08))
        keys = [(row["block"], row["setting"]) for row in trials_in(other / "out")]
        assert len(keys) == len(set(keys))
    for outcome in ended:
        assert {row.key for row in outcome.finished} == {row.key for row in whole.finished}


def test_the_page_has_the_intervals_of_all_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(tmp_path, monkeypatch, 0.08)
    assert outcome.stopping is not None
    table = study_table("t", ["seed"], outcome.finished, outcome.stopping)
    assert table.reviews is not None and table.reviews.same is not None
    shown = table.reviews.ratios()["seed=2"]
    assert shown.low < 1.5 < shown.high and shown.low > 1
    assert table.reviews.same.standings[0].ratio.low < 1 < table.reviews.same.standings[0].ratio.high
    page = write_results_page(tmp_path, "t", ["seed"], outcome.finished, outcome.stopping)
    assert page is not None and "Intervals hold at all looks at once" in page.read_text()


def test_the_rule_is_part_of_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is spent over the most blocks that were stated, so that these may not change on the way."""
    run(tmp_path, monkeypatch, 1.0, blocks=6)
    with pytest.raises(WorkalikeError, match="another study"):
        run(tmp_path, monkeypatch, 1.0, blocks=7)
    with pytest.raises(WorkalikeError, match="least_blocks"):
        run(tmp_path, monkeypatch, 1.0, stop={"least_blocks": 1})
