"""Where combinations of factors are missing: a planted efficiency of 100 %, and stripes that do nothing, are found as such."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from workalike.study.journal import Finished
from workalike.study.objective import Objective
from workalike.study.report.findings import findings_of
from workalike.study.report.slopes import lines_of
from workalike.study.results_page import study_table

Levels = dict[str, Any]
BLOCKS = 8


def trials(
    settings: Iterable[Levels],
    seconds_of: Callable[[Levels], float],
    fails: Callable[[Levels], bool] | None = None,
) -> list[Finished]:
    """Each setting in each block; those that fail have no values."""
    dice, found = random.Random(5), []
    chosen = list(settings)
    for block in range(BLOCKS):
        for levels in chosen:
            seconds = seconds_of(levels) * math.exp(dice.gauss(0, 0.02))
            row = {"block": block, "setting": str(levels), "arm": "", "counted": True} | levels
            row |= {"asked": {"ranks": str(levels.get("ranks", 1)), "scaling": "strong"}}
            if fails is None or not fails(levels):
                row |= {"bandwidth": 2**28 / seconds, "io_time_s": seconds, "wall_s": seconds}
            found.append(Finished(row, []))
    return found


ONE_AT_A_TIME = [
    *({"ranks": ranks, "files": "A", "transfer": "x"} for ranks in (1, 2, 4)),
    {"ranks": 1, "files": "B", "transfer": "x"},
    {"ranks": 1, "files": "A", "transfer": "y"},
]
SKIPPED = [
    {"ranks": ranks, "files": files, "transfer": transfer}
    for ranks in (1, 2, 4)
    for files in "AB"
    for transfer in "xy"
    if (ranks, transfer) != (4, "y")
]
MANY = [{"ranks": ranks, "way": way} for ranks in (1, 2, 4) for way in "PQRSTUV"]
"""Seven ways: too many for a line each."""


def perfect(levels: Levels) -> float:
    """Twice the ranks take half the time; one transfer, and each way, is several times slower."""
    slower = 1 + 3 * "PQRSTUV".index(levels.get("way", "P"))
    return 4.0 / levels["ranks"] * (5 if levels.get("transfer") == "y" else 1) * slower


@pytest.mark.parametrize("objective", [Objective.IO_TIME, Objective.BANDWIDTH])
@pytest.mark.parametrize(
    ("settings", "fails"),
    [
        (ONE_AT_A_TIME, None),
        (SKIPPED, None),
        (MANY, lambda levels: (levels["ranks"], levels["way"]) == (4, "V")),
    ],
    ids=["one at a time", "skipped", "one combination fails"],
)
def test_perfect_scaling_is_one_hundred_percent(settings: Any, fails: Any, objective: Objective) -> None:
    rows = trials(settings, perfect, fails)
    found = findings_of(study_table("t", list(settings[0]), rows, objectives=(objective,)))
    assert found.scalings
    for scaling in found.scalings:
        assert [level.count for level in scaling.levels] == [2, 4]
        for level in scaling.levels:
            assert level.ratio.low < 1 < level.ratio.high and level.ratio.high / level.ratio.low < 1.2


def stripes(combinations: Iterable[tuple[int, str]]) -> list[Finished]:
    """Stripes do nothing, and one transfer takes three times as long."""
    settings = [{"stripes": number, "transfer": transfer} for number, transfer in combinations]
    return trials(settings, lambda levels: 6.0 if levels["transfer"] == "y" else 2.0)


def test_stripes_that_do_nothing_do_not_pay_and_do_not_grow() -> None:
    rows = stripes(
        (number, transfer) for number in (1, 2, 4) for transfer in "xy" if (number, transfer) != (4, "y")
    )
    table = study_table("t", ["stripes", "transfer"], rows, objectives=(Objective.IO_TIME,))
    found = findings_of(table)
    (knee,) = found.knees
    assert (knee.level, knee.highest) == ("1", False)
    (growth,) = found.growths
    slope = growth.slopes["x"]
    assert slope.low < 0 < slope.high and slope.high < 0.05 and not growth.slopes["y"].is_known


def test_lines_are_of_whole_combinations() -> None:
    """Seven ways have one line; that which lacks a number has no part in it."""
    rows = trials(MANY, perfect, lambda levels: (levels["ranks"], levels["way"]) == (4, "V"))
    table = study_table("t", ["ranks", "way"], rows, objectives=(Objective.IO_TIME,))
    (growth,) = findings_of(table).growths
    (line,) = lines_of(table, growth)
    assert line.means == pytest.approx([34.0, 17.0, 8.5], rel=0.02), "4, 2 and 1 s times the mean of 1 to 16"
    assert growth.slopes["all settings"].value == pytest.approx(-7.89, rel=0.02)


def test_what_an_efficiency_is_averaged_over_is_said() -> None:
    found = findings_of(study_table("t", ["ranks", "way"], trials(MANY, perfect)))
    said = {answer.question: answer.text for answer in found.answers}["How far does it scale?"]
    assert said.startswith("Strong scaling, beside 1 rank, averaged over way: efficiency stays above")


def test_no_growth_is_said_as_such() -> None:
    rows = stripes((number, "x") for number in (1, 2, 4))
    found = findings_of(study_table("t", ["stripes"], rows))
    said = {answer.question: answer.text for answer in found.answers}["How do times grow with stripes?"]
    assert said.startswith("I/O time: no growth was found (-") and said.endswith(
        " for each step of 1 of stripes."
    )


def test_an_interaction_says_of_what_it_is_and_whether_it_is_good() -> None:
    settings = [{"stripes": number, "files": files} for number in (1, 4) for files in "AB"]
    rows = trials(settings, lambda levels: 4.0 if levels == {"stripes": 4, "files": "B"} else 1.0)
    factors = ["stripes", "files"]
    for objective, words in ((Objective.IO_TIME, "I/O time is "), (Objective.BANDWIDTH, "bandwidth is ")):
        found = findings_of(study_table("t", factors, rows, objectives=(objective,)))
        said = {a.question: a.text for a in found.answers}["Do the factors depend on each other?"]
        most = max(found.pairs, key=lambda e: abs(math.log(e.ratio)))
        is_better = (most.ratio > 1) == (objective is Objective.BANDWIDTH)
        assert said.startswith("Yes: with stripes ") and words in said
        assert said.endswith("which is better." if is_better else "which is worse.")


def test_what_trials_cannot_tell_is_said() -> None:
    rows = stripes([(1, "x"), (2, "y"), (4, "z")])
    found = findings_of(study_table("t", ["stripes", "transfer"], rows))
    assert not found.knees and not found.growths
    said = {answer.question: answer.text for answer in found.answers}["What can these trials not tell?"]
    assert "From where on more stops paying is not known of stripes" in said
    assert "How times grow is not known of stripes" in said


def test_ranks_that_are_never_compared_are_named() -> None:
    settings = [
        {"ranks": n, "way": w} for n, w in ((1, "P"), (1, "Q"), (2, "P"), (4, "R"), *((1, w) for w in "STUV"))
    ]
    found = findings_of(study_table("t", ["ranks", "way"], trials(settings, perfect)))
    said = {answer.question: answer.text for answer in found.answers}["How far does it scale?"]
    assert "up to the most that were compared, 2 ranks, " in said
    assert (
        "4 ranks: not compared with 1 rank, since fewer than two blocks have both with the same other" in said
    )


def test_nodes_that_go_with_ranks_are_no_other_factor() -> None:
    rows = trials(({"ranks": n, "nodes": 2 * n} for n in (1, 2, 4)), perfect)
    (scaling,) = [s for s in findings_of(study_table("t", ["ranks", "nodes"], rows)).scalings if s.levels]
    assert all(level.ratio.is_known for level in scaling.levels)
