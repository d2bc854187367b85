"""How far a study scales: planted efficiencies, weak and strong, by a bandwidth and by a time."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_studies import planted_trials
from studies import write_study

from workalike.study.journal import Finished
from workalike.study.objective import Objective
from workalike.study.report.findings import findings_of
from workalike.study.report.scaling import Scaling
from workalike.study.results_page import study_table, write_results_page
from workalike.study.settings import counting_factors
from workalike.study.statistics.scaling import efficiencies, enough_up_to
from workalike.study.statistics.table import Trials
from workalike.study.study_file import read_study

WEAK = {1: 1.0, 2: 0.97, 4: 0.92, 8: 0.6}
"""Efficiency by ranks: enough up to 4, and with 8 ranks more is done than with 4."""
STRONG = {1: 1.0, 2: 0.9, 4: 0.5, 8: 0.2}
"""With 8 ranks less is done than with 4, which do as much as two."""
BYTES, SECONDS = 2**26, 10.0


def trials(
    efficiency: dict[int, float], scaling: str, blocks: int = 8, noise: float = 0.02, **more: Any
) -> list[Finished]:
    """The same work on more ranks, or each rank's own work."""
    dice = random.Random(f"{scaling} {more}")
    found = []
    for block in range(blocks):
        for ranks, share in efficiency.items():
            work = ranks if scaling == "weak" else 1
            seconds = SECONDS * work / (ranks * share) * math.exp(dice.gauss(0, noise))
            row = {
                "block": block,
                "setting": f"ranks={ranks} {more}",
                "arm": "",
                "counted": True,
                "ranks": ranks,
            }
            row |= {"bandwidth": BYTES * work / seconds, "io_time_s": seconds, "wall_s": seconds}
            row |= {"asked": {"ranks": str(ranks), "scaling": scaling}} | more
            dump = {"bytes_written": BYTES * work, "bytes_read": 0, "start_s": 0.0, "end_s": seconds}
            found.append(Finished(row, [dump | {"io_time_s": seconds}]))
    return found


def only(found: list[Scaling]) -> Scaling:
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("objective", [Objective.BANDWIDTH, Objective.IO_TIME])
@pytest.mark.parametrize(("kind", "planted"), [("weak", WEAK), ("strong", STRONG)])
def test_efficiencies_are_those_planted(objective: Objective, kind: str, planted: dict[int, float]) -> None:
    table = study_table("t", ["ranks"], trials(planted, kind), objectives=(objective,))
    scaling = only(findings_of(table).scalings)
    assert (scaling.kind, scaling.counted, scaling.smallest) == (kind, "ranks", "1")
    assert [level.count for level in scaling.levels] == [2, 4, 8]
    for level in scaling.levels:
        assert level.ratio.low < planted[int(level.count)] < level.ratio.high
        assert level.ratio.high / level.ratio.low < 1.15


def answer(table: Any) -> str:
    return {a.question: a.text for a in findings_of(table).answers}["How far does it scale?"]


def test_the_sentence_says_how_far_and_where_more_stop_paying() -> None:
    weak = answer(study_table("t", ["ranks"], trials(WEAK, "weak")))
    assert weak.startswith("Weak scaling, beside 1 rank: efficiency stays above 80 % up to 4 ranks, 9")
    assert "; with 8 it is 6" in weak and weak.endswith(
        "More ranks pay up to 8, the most that were measured."
    )
    strong = answer(study_table("t", ["ranks"], trials(STRONG, "strong")))
    assert "up to 2 ranks, " in strong and "; with 4 it is 5" in strong
    assert strong.endswith("From 4 ranks on, more were not found to pay.")
    good = answer(study_table("t", ["ranks"], trials({1: 1.0, 4: 0.99}, "strong")))
    assert "up to the most that were measured, 4 ranks, " in good
    bad = answer(study_table("t", ["ranks"], trials({1: 1.0, 4: 0.3}, "strong")))
    assert "efficiency is below 80 % with as few as 4 ranks, 3" in bad
    noisy = answer(study_table("t", ["ranks"], trials({1: 1.0, 4: 0.8}, "strong", blocks=3, noise=0.1)))
    assert "is not known to be above 80 % with as few as 4 ranks" in noisy


def test_each_level_of_another_factor_has_its_own(tmp_path: Path) -> None:
    rows = trials(WEAK, "weak", system="a") + trials({1: 1.0, 2: 0.5, 4: 0.3, 8: 0.1}, "weak", system="b")
    page = write_results_page(tmp_path, "t", ["ranks", "system"], rows)
    assert page is not None
    text = page.read_text()
    assert "a: Weak scaling" in text and "b: Weak scaling" in text
    with (tmp_path / "figures" / "efficiency.csv").open() as file:
        points = {(row["group"], row["count"]): row for row in csv.DictReader(file)}
    assert len(points) == 8
    assert float(points["b", "8"]["low"]) < 0.1 < float(points["b", "8"]["high"])
    assert float(points["a", "1"]["efficiency"]) == 1


def test_what_the_study_does_not_say_is_seen_from_the_bytes() -> None:
    """Studies of nodes, and recorded ones of earlier versions."""
    for kind, planted in (("weak", WEAK), ("strong", STRONG)):
        rows = trials(planted, kind)
        for row in rows:
            row.trial["nodes"] = row.trial.pop("ranks")
            del row.trial["asked"]
        scaling = only(findings_of(study_table("t", ["nodes"], rows)).scalings)
        assert (scaling.kind, scaling.counted) == (kind, "nodes")
        assert scaling.levels[0].ratio.ratio == pytest.approx(planted[2], rel=0.05)


def test_a_factor_of_another_name_may_set_ranks(tmp_path: Path) -> None:
    study = read_study(
        write_study(tmp_path, factors={"processes_": {"set": "ranks", "levels": [1, 2]}, "seed": [1]})
    )
    counts = counting_factors(study.study)
    assert counts == {"processes_": "ranks"}
    rows = trials(WEAK, "weak")
    for row in rows:
        row.trial["processes_"] = row.trial.pop("ranks")
    assert findings_of(study_table("t", ["processes_"], rows, counts=counts)).scalings
    assert not findings_of(study_table("t", ["processes_"], rows)).scalings
    page = write_results_page(tmp_path, "t", ["processes_"], rows, counts=counts)
    assert page is not None and "How far does it scale?" in page.read_text()


def test_intervals_of_efficiency_hold_at_once() -> None:
    """Three levels above the smallest: in at most 5 % of 200 studies (and 3 deviations) one of them misses the truth."""
    missed = 0
    for seed in range(200):
        own = planted_trials({str(n): n * share for n, share in WEAK.items()}, 8, 0.1, 0.3, seed)
        found = efficiencies(own, list(own.setting))
        missed += any(not e.ratio.low <= WEAK[int(e.count)] <= e.ratio.high for e in found)
    assert 0 < missed <= 10 + 9


def test_enough_ends_at_the_first_level_that_may_not_be() -> None:
    own = Trials(
        np.repeat(np.arange(4), 4),
        ["1", "2", "4", "8"] * 4,
        np.array([1.0, 2.0, 1.2, 7.9] * 4) * np.exp(np.random.default_rng(1).normal(0, 0.001, 16)),
    )
    assert enough_up_to(efficiencies(own, list(own.setting))) == 1
    assert efficiencies(own, ["many"] * 16) == []


def test_more_nodes_for_fixed_ranks_are_strong_scaling_whatever_the_ranks_were_asked_for() -> None:
    """`scaling: weak` is of ranks. Eight ranks on more nodes do the same work."""
    rows = trials({1: 1.0, 2: 0.5, 4: 0.25}, "strong")
    for row in rows:
        row.trial["nodes"] = row.trial.pop("ranks")
        row.trial["asked"] = {"ranks": "8", "scaling": "weak"}
    table = study_table("t", ["nodes"], rows, objectives=(Objective.IO_TIME,))
    scaling = only(findings_of(table).scalings)
    assert scaling.kind == "strong"
    assert scaling.levels[0].ratio.ratio == pytest.approx(0.5, rel=0.05)


def test_ranks_of_which_all_trials_failed_are_named() -> None:
    rows = trials(STRONG, "strong")
    for row in rows:
        if row.trial["ranks"] in (1, 8):
            for name in ("bandwidth", "io_time_s", "wall_s"):
                del row.trial[name]
    found = findings_of(study_table("t", ["ranks"], rows))
    assert only(found.scalings).smallest == "2"
    said = {a.question: a.text for a in found.answers}["How far does it scale?"]
    assert said.startswith("Strong scaling, beside 2 ranks: ") and said.endswith(
        "1, 8 ranks: no trial succeeded."
    )
    for row in rows:
        row.trial["stripes"] = row.trial.pop("ranks")
    (knee,) = findings_of(study_table("t", ["stripes"], rows, counts={})).knees
    assert knee.text.endswith(" Of 1, 8 no trial succeeded.")
