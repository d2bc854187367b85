"""Figures of single dumps and of the spread, and the best setting of each workload: their numbers."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from study_pages import generated_study

from workalike.study.report import DumpTable, StudyTable, write_study_report
from workalike.study.report.best_of_workloads import best_of_workloads
from workalike.study.report.findings import findings_of

MIB = 2.0**20


def numbers(page: Path, name: str) -> list[dict[str, str]]:
    with (page.parent / "figures" / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def two_workloads(blocks: int = 6) -> StudyTable:
    """Workloads a and b with two settings each; in a the second is 1.5 times as fast, in b the first.

    Dumps of a have 1 and 3 MiB, dumps of b 2 and 2 MiB; the second dump of b writes half of what was planned.
    """
    rng = np.random.default_rng(1)
    settings = [(w, s) for w in "ab" for s in ("x", "y")]
    count = len(settings) * blocks
    speed = {("a", "x"): 1.0, ("a", "y"): 1.5, ("b", "x"): 3.0, ("b", "y"): 2.0}
    rate = np.array([speed[pair] for pair in settings] * blocks) * 1e6 * np.exp(rng.normal(0, 0.02, count))
    size = np.array([[1, 3] if w == "a" else [2, 2] for w, _ in settings] * blocks).ravel() * MIB
    planned = np.array([[1, 3] if w == "a" else [2, 4] for w, _ in settings] * blocks).ravel() * MIB
    trial = np.repeat(np.arange(count), 2)
    end = np.tile([10.0, 20.0], count)
    dumps = DumpTable(trial, np.tile([0, 1], count), size, np.ones(2 * count), size, end, planned)
    nothing = np.full(count, np.nan)
    return StudyTable(
        block=np.repeat(np.arange(blocks), len(settings)),
        setting=[f"workload={w} s={s}" for w, s in settings] * blocks,
        bandwidth=rate,
        wall_s=nothing,
        io_time_s=nothing,
        slowest_dump_s=nothing,
        factors={"workload": [w for w, _ in settings] * blocks, "s": [s for _, s in settings] * blocks},
        dumps=dumps,
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study_report(tmp_path_factory.mktemp("page"), two_workloads())


def test_sizes_of_dumps_are_a_line_for_each_workload(page: Path) -> None:
    rows = {(row["settings"], row["dump"]): float(row["bytes"]) / MIB for row in numbers(page, "growth")}
    assert rows == {
        **{("workload=a", "0"): 1.0, ("workload=a", "1"): 3.0},
        **{("workload=b", "0"): 2.0, ("workload=b", "1"): 2.0},
    }


def test_output_adds_up_over_the_run(page: Path) -> None:
    rows = [row for row in numbers(page, "output") if row["setting"] == "workload=a s=y"]
    assert [(float(r["end_s"]), float(r["bytes_written_so_far"]) / MIB) for r in rows] == [(10, 1), (20, 4)]


def test_errors_are_those_of_the_bytes_so_far(page: Path) -> None:
    """Of b, 2 of 2 and then 4 of 6 MiB were written: a third is missing. The largest error comes first."""
    rows = numbers(page, "errors")
    assert [(r["settings"], float(r["difference_pct"])) for r in rows] == [
        ("workload=b", 0.0),
        ("workload=b", pytest.approx(-100 / 3)),
        ("workload=a", 0.0),
        ("workload=a", 0.0),
    ]


def test_dumps_of_trials_that_do_not_count_are_in_errors_only(tmp_path: Path) -> None:
    """Trials of b were left out, so their dumps have no time; but that their bytes are missing is shown."""
    table = two_workloads()
    of_b = np.array([name.startswith("workload=b") for name in table.setting])
    seconds = np.where(of_b[table.dumps.trial], np.nan, table.dumps.seconds)
    left_out = dataclasses.replace(
        table,
        bandwidth=np.where(of_b, np.nan, table.bandwidth),
        dumps=dataclasses.replace(table.dumps, seconds=seconds),
    )
    page = write_study_report(tmp_path, left_out)
    assert {row["settings"] for row in numbers(page, "errors")} == {"workload=a", "workload=b"}
    assert {row["settings"] for row in numbers(page, "growth")} == {"all settings"}


def test_boxes_and_outliers(tmp_path: Path) -> None:
    """Of nine trials, one is far out: it is a circle, and the whisker ends before it."""
    table = generated_study(9, cov=0.0, dumps=1)
    rate = np.array(table.bandwidth)
    own = [i for i, name in enumerate(table.setting) if name == "stripes 8, aligned yes, 64 ranks"]
    rate[own] = [10, 11, 12, 13, 14, 15, 16, 17, 60]
    page = write_study_report(tmp_path, dataclasses.replace(table, bandwidth=rate))
    (row,) = [
        row
        for row in numbers(page, "spread")
        if row["setting"] == "stripes 8, aligned yes, 64 ranks" and row["value"] == "bytes_per_s"
    ]
    found = [float(row[name]) for name in ("whisker_low", "quartile_low", "median", "quartile_high")]
    assert found == [10, 12, 14, 16]
    assert (float(row["whisker_high"]), row["outliers"], row["trials"]) == (17, "60", "9")


def test_the_best_setting_of_each_workload(page: Path) -> None:
    found = {best.workload: best for best in best_of_workloads(two_workloads())}
    assert (found["a"].setting, found["b"].setting) == ("s=y", "s=x")
    assert all(best.p_best > 0.99 and best.settings == 2 for best in found.values())
    answers = {a.question: a.text for a in findings_of(two_workloads()).answers}
    text = answers["Which is the best for each workload?"]
    assert text == "a: s=y (probability more than 99 %); b: s=x (probability more than 99 %)."
    assert [row["setting"] for row in numbers(page, "best_of_workloads")] == ["s=y", "s=x"]


def test_the_best_by_the_slow_dumps_need_not_be_the_best_on_average(tmp_path: Path) -> None:
    """Each trial has 18 dumps of 1 s and two of 2 s, or 20 of 1.2 s: the second is slower, and has the shorter P95."""
    count, per_trial = 12, 20
    rng = np.random.default_rng(2)
    uneven, even = [1.0] * 18 + [2.0] * 2, [1.2] * per_trial
    seconds = np.array([even if i % 2 else uneven for i in range(count)]) * np.exp(
        rng.normal(0, 0.01, (count, 1))
    )
    trial, size = np.repeat(np.arange(count), per_trial), np.full(count * per_trial, MIB)
    dumps = DumpTable(trial, np.tile(np.arange(per_trial), count), size, seconds.ravel(), size, size, size)
    table = StudyTable(
        block=np.arange(count) // 2,
        setting=["uneven", "even"] * (count // 2),
        bandwidth=per_trial * MIB / seconds.sum(axis=1),
        wall_s=seconds.sum(axis=1),
        io_time_s=seconds.sum(axis=1),
        slowest_dump_s=seconds.max(axis=1),
        dumps=dumps,
    )
    found = findings_of(table)
    assert found.rows[0].name == "uneven" and found.rows[0].p_best > 0.95
    answers = {answer.question: answer.text for answer in found.answers}
    slow = answers["And the slowest dump?"]
    assert slow.startswith("It is best with even: ") and "Of even, it is shorter: " in slow
    assert slow.endswith("The 95th percentile of dumps says the same: 1.2 s with even.")
    assert "And the 95th percentile of dumps?" not in answers
    assert "95th percentile of dumps,<br>mean, ratio" in write_study_report(tmp_path, table).read_text()


def test_without_a_choice_there_is_no_best_of_each_workload() -> None:
    table = two_workloads()
    alone = dataclasses.replace(table, factors={"workload": list(table.setting)})
    assert best_of_workloads(alone) == []
    assert best_of_workloads(generated_study(3, dumps=2)) == []


def test_dumps_of_one_size_that_are_as_planned_are_two_sentences(tmp_path: Path) -> None:
    """Figures of sizes would show one point, and that of errors a line at nothing."""
    ones = np.ones(8)
    dumps = DumpTable(
        np.repeat(np.arange(4), 2), np.tile([0, 1], 4), MIB * ones, ones, MIB * ones, ones, MIB * ones
    )
    table = StudyTable(
        block=np.arange(4) // 2,
        setting=["a", "b"] * 2,
        bandwidth=MIB * np.ones(4),
        wall_s=np.ones(4),
        io_time_s=np.ones(4),
        slowest_dump_s=np.ones(4),
        dumps=dumps,
    )
    text = write_study_report(tmp_path, table).read_text()
    assert "All dumps have the same size, 1 MiB. Each has the bytes that the plan says." in text
    names = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert "dumps" in names and not names & {"sizes", "growth", "errors"}
