"""Pages of many made-up runs, through the code of the commands: none says what its data contradict.

Some runs are those that pages had trouble with, some are drawn by seeds that are new each time; a failure names its seed,
and `drawn_case(SEED).check(FOLDER)` makes that page again.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import page_cases
import pytest

FIXED = page_cases.fixed_cases()
SEEDS = range(16)
NEW = 6
"""Runs with seeds from entropy."""


@pytest.mark.parametrize("case", FIXED, ids=lambda case: case.name)
def test_a_page_says_what_its_data_say(tmp_path: Path, case: page_cases.Case) -> None:
    assert case.check(tmp_path) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_page_says_what_its_data_say(tmp_path: Path, seed: int) -> None:
    assert page_cases.drawn_case(seed).check(tmp_path) == []


def test_new_pages_say_what_their_data_say(tmp_path: Path) -> None:
    for _ in range(NEW):
        seed = secrets.randbits(32)
        found = page_cases.drawn_case(seed).check(tmp_path / str(seed))
        assert found == [], f"page_cases.drawn_case({seed})"


def test_there_are_enough_runs_of_each_kind() -> None:
    kinds = [case.name.partition(":")[0] for case in FIXED]
    assert len(FIXED) >= 40
    assert set(kinds) == {"study", "joined", "mix", "replica"}
