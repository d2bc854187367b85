"""Studies that contradict themselves, or ask for what results cannot hold: one clear line, before anything runs."""

from __future__ import annotations

import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from studies import write_study

from workalike.errors import WorkalikeError
from workalike.study.driver import load
from workalike.study.pairwise import covering
from workalike.study.study_file import read_study

INFINITE = float("inf")


def hints(levels: Any) -> dict[str, Any]:
    return {"factors": {"x": {"set": "hint.x", "levels": levels}}}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"constraints": [{"error": "ranks > 'x'"}]}, "constraints[0].error: 1 and 'x' have no order"),
        (
            {"constraints": [{"error": "ranks / 0 > 1"}]},
            "constraints[0].error: a condition cannot be computed",
        ),
        ({"constraints": [{"error": "ranks in 3"}]}, "constraints[0].error: `in` needs a list"),
        ({"constraints": [{"skip": "-bytes_scale > 2"}]}, "constraints[0].skip: '1' is not a number"),
        (
            {"factors": {"ranks": [1, 2], "seed": {"levels": [1, 2], "when": "ranks < 'a'"}}},
            "factors.seed.when: 1 and 'a' have no order",
        ),
        (hints([1, 1.0]), "a level occurs twice"),
        (hints([True, 1]), "a level occurs twice"),
        (hints([0, 2, False]), "a level occurs twice"),
        (hints([1, INFINITE]), "[1]: no number that results can hold"),
        (hints([float("nan")]), "[0]: no number that results can hold"),
        (hints({"few": 1, "many": 2**70}), "many: no number that results can hold"),
        ({"fixed": {"hint.x": INFINITE}}, "hint.x: no number that results can hold"),
        (hints({"a\n\x1b[31m": 1}), "characters that cannot be shown"),
        (hints(["a\tb", "c"]), "characters that cannot be shown"),
        ({"directory": "a\0b"}, "directory: "),
        (
            {"factors": {"few": {"set": "ranks", "levels": [1, 2]}, "ranks": [2, 4]}},
            "few and ranks both set ranks",
        ),
        (
            {"fixed": {"hint.cb_nodes": 2, "tunable.cb_nodes": 1}},
            "hint.cb_nodes: a `tunable` sets this hint, too",
        ),
        (
            {"fixed": {"tunable.data_sieving": False, "hint.romio_ds_read": "enable"}},
            "hint.romio_ds_read: a `tunable` sets this hint, too",
        ),
        (
            {
                "design": "pairwise",
                "factors": {f"f{i}": {"set": f"hint.h{i}", "levels": list(range(1000))} for i in range(8)},
            },
            "pairs of levels",
        ),
    ],
)
def test_a_bad_study_is_one_line(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(WorkalikeError, match=re.escape(words)) as error:
        load(read_study(write_study(tmp_path, **fields)))
    line = error.value.one_line()
    assert error.value.exit_code == 2 and line.isprintable() and "study.yaml" in line


def test_two_factors_may_set_a_field_in_turn(tmp_path: Path) -> None:
    factors = {
        "kind": {"set": "sharing", "levels": ["shared", "per-rank"]},
        "few": {"set": "ranks", "levels": [1, 2], "when": "kind == 'shared'"},
        "many": {"set": "ranks", "levels": [3, 4], "when": "kind != 'shared'"},
    }
    loaded = load(read_study(write_study(tmp_path, factors=factors)))
    assert sorted(prepared.plan.ranks for prepared in loaded.settings) == [1, 2, 3, 4]


def greedy(candidates: list[list[str]]) -> list[int]:
    """The choice written plainly: all are counted each time."""
    pairs = [set(combinations(enumerate(row), 2)) for row in candidates]
    missing, chosen = set().union(*pairs), []
    while missing:
        chosen.append(max(range(len(pairs)), key=lambda i: len(pairs[i] & missing)))
        missing -= pairs[chosen[-1]]
    return chosen


@pytest.mark.parametrize("seed", range(8))
def test_a_pairwise_design_is_the_plain_greedy_choice(seed: int) -> None:
    dice = random.Random(seed)
    levels = [dice.randint(1, 5) for _ in range(dice.randint(2, 6))]
    rows = [[str(dice.randrange(count)) for count in levels] for _ in range(dice.randint(1, 80))]
    assert covering(rows) == greedy(rows)


def test_of_fewer_than_two_factors_there_are_no_pairs() -> None:
    assert covering([]) == covering([["a"], ["b"]]) == []


def test_a_large_pairwise_design_ends() -> None:
    """64 factors have 2,016 pairs of factors: as sets of words they took all memory."""
    dice = random.Random(1)
    rows = [[str(dice.randrange(3)) for _ in range(64)] for _ in range(3000)]
    chosen = covering(rows)
    found = {pair for place in chosen for pair in combinations(enumerate(rows[place]), 2)}
    assert len(found) == 2016 * 9 and len(chosen) < 60
