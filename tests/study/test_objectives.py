"""What settings are compared by: each objective has its direction, in ratios, sentences, stopping and search."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path
from typing import Any

import pytest
from studies import BYTES, write_study

from workalike.errors import WorkalikeError
from workalike.study import driver
from workalike.study.driver import DriverOptions, Outcome, run_study
from workalike.study.halving import run_search
from workalike.study.journal import Finished
from workalike.study.measured import objective_value
from workalike.study.objective import Objective
from workalike.study.report.findings import findings_of
from workalike.study.results_page import study_table, write_results_page
from workalike.study.study_file import read_study
from workalike.study.trial import Trial

MIB = 2.0**20
VALUES = {
    # bandwidth, I/O time, run time, times of the dumps
    "large": (400 * MIB, 8.0, 9.0, [1.0, 1.0, 6.0]),
    "small": (200 * MIB, 2.0, 12.0, [0.5, 0.5, 2.0]),
    "even": (100 * MIB, 3.0, 5.0, [0.9, 0.9, 0.9]),
}
"""Each is the best by another objective: `large` by bandwidth, `small` by I/O time, `even` by the others."""
BEST = {
    Objective.BANDWIDTH: "large",
    Objective.IO_TIME: "small",
    Objective.WALL_TIME: "even",
    Objective.SLOWEST_DUMP: "even",
    Objective.P95_DUMP: "even",
}


def finished(setting: str, block: int, noise: float = 1.0, **more: Any) -> Finished:
    bandwidth, io_time, wall, dumps = VALUES[setting]
    row = {"block": block, "setting": setting, "arm": "", "counted": True, "s": setting}
    row |= {"bandwidth": bandwidth / noise, "io_time_s": io_time * noise, "wall_s": wall * noise}
    row |= {"slowest_dump_s": max(dumps) * noise}
    moved = {"bytes_written": 2**20, "bytes_read": 0}
    return Finished(
        row | more,
        [
            moved | {"start_s": i, "end_s": i + 1, "io_time_s": seconds * noise}
            for i, seconds in enumerate(dumps)
        ],
    )


def trials(blocks: int = 6) -> list[Finished]:
    dice = random.Random(1)
    return [
        finished(name, block, math.exp(dice.gauss(0, 0.05))) for block in range(blocks) for name in VALUES
    ]


@pytest.mark.parametrize("objective", Objective)
def test_each_objective_has_its_best_setting(objective: Objective) -> None:
    table = study_table("t", ["s"], trials(), objectives=(objective,))
    found = findings_of(table)
    answers = {answer.question: answer.text for answer in found.answers}
    assert found.rows[0].name == BEST[objective] and found.rows[0].p_best > 0.95
    assert answers["Which setting is the best?"].startswith(f"{BEST[objective]}, with ")
    assert found.rows[0].verdict in ("reference", "faster")
    assert {row.verdict for row in found.rows[1:]} <= {"reference", "slower", "faster"}


def test_a_lower_time_is_faster_and_a_lower_bandwidth_slower() -> None:
    """`small` has a quarter of the I/O time of `large`, the reference, and half of its bandwidth."""
    for objective, verdict, ratio in (
        (Objective.IO_TIME, "faster", 0.25),
        (Objective.BANDWIDTH, "slower", 0.5),
    ):
        found = findings_of(study_table("t", ["s"], trials(), objectives=(objective,)))
        row = next(row for row in found.rows if row.name == "small")
        assert row.verdict == verdict
        assert row.ratio is not None and row.ratio.ratio == pytest.approx(ratio, rel=0.1)


def test_the_page_names_the_objective_with_its_unit(tmp_path: Path) -> None:
    page = write_results_page(
        tmp_path, "t", ["s"], trials(), objectives=(Objective.IO_TIME, Objective.WALL_TIME)
    )
    assert page is not None
    text = page.read_text()
    assert "Settings are compared by I/O time (seconds, less is better)." in text
    assert "small, with an I/O time of 2" in text
    assert "small: 0.2" in text and "times its I/O time" in text
    assert "s: with large, I/O time is 4." in text
    assert "I/O time ÷ I/O time of large" in text
    # The second objective is beside it, and so are the bandwidth and the slow dumps.
    assert "And the run time?" in text and "It is best with even: 5" in text
    assert "And the bandwidth?" in text and "It is best with large: " in text
    with (tmp_path / "figures" / "means.csv").open() as file:
        rows = {row["setting"]: row for row in csv.DictReader(file)}
    assert float(rows["small"]["mean_s"]) == pytest.approx(2, rel=0.1)
    with (tmp_path / "figures" / "objectives.csv").open() as file:
        others = list(csv.DictReader(file))
    assert {row["objective"] for row in others} == {"wall-time", "bandwidth", "slowest-dump", "p95-dump"}
    wall = {row["setting"]: row for row in others if row["objective"] == "wall-time"}
    assert float(wall["even"]["ratio"]) == pytest.approx(5 / 9, rel=0.1)
    assert float(wall["even"]["p_best"]) > 0.95 and wall["even"]["unit"] == "seconds"


def test_where_more_stops_paying_follows_the_direction() -> None:
    """I/O time falls to four and stays: from there on more does not pay. By bandwidth, it never does."""
    dice = random.Random(2)
    rows = [
        finished("large", block, math.exp(dice.gauss(0, 0.01)), s=level)
        for block in range(8)
        for level in (1, 2, 4, 8)
    ]
    times = {1: 8.0, 2: 4.0, 4: 2.0, 8: 2.0}
    for row in rows:
        row.trial["setting"] = f"s={row.trial['s']}"
        row.trial["io_time_s"] *= times[row.trial["s"]]
    found = findings_of(study_table("t", ["s"], rows, objectives=(Objective.IO_TIME,)))
    assert [(knee.level, knee.highest) for knee in found.knees] == [("4", False)]
    by_bandwidth = findings_of(study_table("t", ["s"], rows))
    assert [(knee.level, knee.highest) for knee in by_bandwidth.knees] == [("1", False)]


def test_values_of_trials() -> None:
    assert objective_value(finished("large", 0), Objective.P95_DUMP) == pytest.approx(5.5)
    assert math.isnan(objective_value(finished("large", 0, counted=False), Objective.P95_DUMP))
    counts_only = finished("large", 0, io_time_s=None)
    assert math.isnan(objective_value(counts_only, Objective.WALL_TIME)), (
        "it only counts: its time is not a result"
    )


def planted(**times: float) -> Any:
    """Trials that differ only in what is planted by the level of `seed`."""

    def perform(_file: object, trial: Trial, *_: object) -> Finished:
        dice = random.Random(f"{trial.key}")
        noise = math.exp(dice.gauss(0, 0.05))
        value = times[f"seed{trial.prepared.setting.values['seed']}"] * noise
        row = {"trial": trial.number, "block": trial.block, "position": trial.position}
        row |= {"setting": trial.setting_id, "arm": trial.arm, "state": "ok", "reasons": [], "counted": True}
        row |= {"bandwidth": 100.0 * noise, "wall_s": 1.0, "io_time_s": 1.0, "slowest_dump_s": value}
        row |= {"core_hours": 1.0, "plan": trial.prepared.plan_hash, "reused_from": None}
        row |= {"plan_bytes": trial.prepared.bytes}
        dump = {"bytes_written": BYTES, "bytes_read": 0, "start_s": 0.0, "end_s": 1.0, "io_time_s": value}
        return Finished(row | trial.prepared.setting.levels, [dump])

    return perform


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, objective: str) -> Outcome:
    monkeypatch.setattr(driver, "perform", planted(seed1=1.0, seed2=2.0))
    folder.mkdir()
    study = write_study(folder, factors={"seed": [1, 2]}, blocks=40, stop={}, objective=objective)
    return run_study(read_study(study), DriverOptions(folder / "out"))


def test_a_study_stops_by_its_objective(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slowest dump differs twofold, and is decided at once; the bandwidth is alike, which takes longer to know."""
    by_dump = run(tmp_path / "dump", monkeypatch, "slowest-dump")
    by_bandwidth = run(tmp_path / "bandwidth", monkeypatch, "bandwidth")
    assert by_dump.state == by_bandwidth.state == "decided"
    assert len(by_dump.finished) < len(by_bandwidth.finished)
    assert by_dump.stopping is not None
    standing = by_dump.stopping.review(by_dump.finished).standings[0]
    assert standing.ratio.low < 2 < standing.ratio.high and standing.ratio.low > 1


def test_a_search_keeps_the_shortest_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = {f"seed{n}": float(n) for n in range(1, 13)}
    monkeypatch.setattr(driver, "perform", planted(**times))
    rungs = {"rungs": [{"dumps": 1, "keep": 3}]}
    for objective in ("slowest-dump", "p95-dump"):
        (folder := tmp_path / objective).mkdir()
        study = write_study(
            folder, factors={"seed": list(range(1, 13))}, blocks=1, search=rungs, objective=objective
        )
        searched = run_search(read_study(study), DriverOptions(folder / "out"))
        assert searched.progress is not None and searched.progress.settings == ("seed=1",)
        own = {row.trial["setting"] for row in searched.outcome.finished if not row.trial["arm"]}
        assert own == {"seed=1", "seed=2", "seed=3"}


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("speed", "objective"),
        ([], "objective"),
        (["bandwidth", "bandwidth"], "twice"),
        (["bandwidth", 3], "objective"),
    ],
)
def test_words_that_are_no_objectives(tmp_path: Path, objective: object, message: str) -> None:
    with pytest.raises(WorkalikeError, match=message):
        read_study(write_study(tmp_path, objective=objective))


def test_what_settings_are_compared_by_does_not_change_the_study(tmp_path: Path) -> None:
    plain = read_study(write_study(tmp_path))
    stop = read_study(write_study(tmp_path, stop={}))
    by_time = read_study(write_study(tmp_path, objective=["io-time", "bandwidth"]))
    assert by_time.identities == plain.identities
    by_both = read_study(write_study(tmp_path, stop={}, objective=["bandwidth", "io-time"]))
    assert by_both.identities == stop.identities
    decided = read_study(write_study(tmp_path, stop={}, objective="io-time"))
    assert not set(decided.identities) & set(stop.identities), "it decides the end"
