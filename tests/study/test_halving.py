"""Studies that choose their settings by short trials, on a planted surface and for real."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from studies import BYTES, trials_in, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.study import driver
from workalike.study.driver import DriverOptions
from workalike.study.halving import run_search
from workalike.study.journal import Finished
from workalike.study.results_page import write_results_page
from workalike.study.study_file import read_study
from workalike.study.trial import Trial

SEEDS = list(range(1, 13))
SEARCH = {"rungs": [{"dumps": 1, "bytes_scale": "1/4", "keep": 6}, {"dumps": 1, "keep": 3}]}


def planted(error: float) -> Callable[..., Finished]:
    """Trials of settings that are the faster the larger their seed; short ones are off by `error`."""

    def perform(_file: object, trial: Trial, *_: object) -> Finished:
        dice = random.Random(f"{trial.prepared.plan_hash} {trial.key}")
        seed = int(trial.prepared.setting.values["seed"])
        short = trial.prepared.bytes < BYTES
        value = 100 * math.exp(0.1 * seed + dice.gauss(0, error if short else 0.01))
        row = {"trial": trial.number, "block": trial.block, "position": trial.position}
        row |= {"setting": trial.setting_id, "arm": trial.arm, "state": "ok", "reasons": [], "counted": True}
        row |= {"bandwidth": value, "wall_s": 1.0, "io_time_s": 1.0, "slowest_dump_s": 1.0}
        row |= {"core_hours": 1.0, "plan": trial.prepared.plan_hash, "reused_from": None}
        row |= {"plan_bytes": trial.prepared.bytes}
        return Finished(row | trial.prepared.setting.levels, [])

    return perform


def study(folder: Path, **fields: object) -> Path:
    return write_study(folder, **({"factors": {"seed": SEEDS}, "blocks": 2, "search": SEARCH} | fields))


def test_the_best_survives_and_the_cost_is_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "perform", planted(0.05))
    out = tmp_path / "out"
    searched = run_search(read_study(study(tmp_path)), DriverOptions(out))
    assert searched.progress is not None and searched.progress.settings == ("seed=12",)
    assert {row["setting"] for row in trials_in(out) if not row["arm"]} == {"seed=12", "seed=11", "seed=10"}
    # 12 trials of 1/8 of the bytes, 6 of 1/2, 3 whole ones twice; the whole design is 24 trials.
    assert searched.share == pytest.approx((12 / 8 + 6 / 2 + 6) / 24)
    assert [len(trials_in(out / "search" / f"rung-{n}")) for n in (1, 2)] == [12, 6]
    found = json.loads((out / "search.json").read_text())
    assert found["best"] == "seed=12" and found["rank_correlations"][0]["tau"] > 0.6
    page = write_results_page(out, "t", ["seed"], searched.outcome.finished, search=searched.text())
    assert page is not None and "for 44 % of the bytes that all would take" in page.read_text()


def test_a_short_cut_that_misleads_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "perform", planted(3.0))
    searched = run_search(read_study(study(tmp_path)), DriverOptions(tmp_path / "out"))
    assert "is not proven" in searched.text()


def test_a_search_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "perform", planted(0.05))
    file, out = read_study(study(tmp_path)), tmp_path / "out"
    done: list[Path] = []

    def stop_after(count: int) -> Callable[..., Finished]:
        inner = planted(0.05)

        def perform(*arguments: object) -> Finished:
            if len(done) >= count:
                raise KeyboardInterrupt
            done.append(out)
            return inner(*arguments)

        return perform

    for count in (5, 14, 20):
        monkeypatch.setattr(driver, "perform", stop_after(count))
        with pytest.raises(KeyboardInterrupt):
            run_search(file, DriverOptions(out))
        assert len(done) == count
    monkeypatch.setattr(driver, "perform", stop_after(10_000))
    searched = run_search(file, DriverOptions(out))
    assert searched.progress is not None and searched.progress.settings == ("seed=12",)
    assert len(done) == 12 + 6 + 2 * (3 + 1), "no trial ran twice"


def test_a_budget_holds_for_the_whole_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each planted trial takes a core-hour: both rungs use up the budget, and nothing is left for the full length."""
    monkeypatch.setattr(driver, "perform", planted(0.05))
    searched = run_search(read_study(study(tmp_path)), DriverOptions(tmp_path / "out", budget=18.0))
    assert searched.outcome.state == "budget" and not searched.is_complete
    assert not (tmp_path / "out" / "trials.jsonl").exists()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"rungs": [{"dumps": 1, "keep": 12}]}, "keeps 12 of 12"),
        ({"rungs": [{"dumps": 1, "keep": 3}, {"dumps": 1, "keep": 3}]}, "fewer settings"),
        ({"rungs": [{"keep": 3}]}, "shortens"),
        ({"rungs": []}, "rungs"),
        ({"rungs": [{"bytes_scale": "x", "keep": 3}]}, "rung 1"),
        ({"rungs": [{"dumps": 0, "keep": 3}]}, "dumps"),
    ],
)
def test_searches_that_make_no_sense(tmp_path: Path, search: object, message: str) -> None:
    with pytest.raises(WorkalikeError, match=message):
        run_search(read_study(study(tmp_path, search=search)), DriverOptions(tmp_path / "out"))


def test_a_factor_and_a_rung_do_not_set_the_same_field(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError, match="set the same field"):
        read_study(study(tmp_path, factors={"bytes_scale": ["1", "1/2", "1/3"]}))


@pytest.mark.mpi
def test_a_real_search(tmp_path: Path) -> None:
    path = study(
        tmp_path,
        fixed={"time_scale": 0, "ranks": 1},
        factors={"sharing": ["shared", "per-rank"], "backend": ["posix", "mpiio"]},
        search={"rungs": [{"dumps": 1, "keep": 2}]},
        blocks=1,
    )
    checked = workalike("study", "check", path)
    assert checked.returncode == 0 and "rung 1: 4 trials" in checked.stdout
    done = workalike("study", path, "-o", tmp_path / "out", "--no-ceiling")
    assert done.returncode == 0, done.stderr
    assert len(trials_in(tmp_path / "out")) == 3 and (tmp_path / "out" / "search.json").exists()
    for row in trials_in(tmp_path / "out" / "search" / "rung-1"):
        assert row["bytes_written"] == BYTES / 2, "one of two dumps"
        assert row["record_matches_plan"]
