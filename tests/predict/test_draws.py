"""What several draws of a plan's random orders explain of a log: not what one draw in hundreds comes to."""

from __future__ import annotations

import pytest

from workalike.predict.agreement import DeterminedRow
from workalike.predict.chance import Draws
from workalike.workload.words import Role

GROUP = ((Role.OUTPUT, 1),)
USUAL = [2, 1, 2, 1, 3, 0, 0, 0, 1, 0, 0, 1, 2, 0, 1, 2]
"""Consecutive writes of 36 in random order under 16 seeds: one on average, whatever the number of writes."""


@pytest.mark.parametrize(("drawn", "expected", "explained"), [
    (USUAL, 3, True),
    (USUAL, 7, False),
    ([*USUAL[:-1], 7], 7, False),  # of 400 seeds one has 7, which is among the first 16
    ([*USUAL[:-1], 7], 3, True),
])  # fmt: skip
def test_what_draws_explain(drawn: list[int], expected: int, explained: bool) -> None:
    draws = Draws({(GROUP, "POSIX", "CONSEC_WRITES"): drawn})
    assert draws.explain(DeterminedRow(GROUP, "POSIX", "CONSEC_WRITES", expected, 0)) is explained


def test_a_counter_that_was_not_drawn() -> None:
    assert Draws({}).explain(DeterminedRow(GROUP, "POSIX", "CONSEC_WRITES", 1, 1)) is None
