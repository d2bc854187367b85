"""Successive halving on a known surface."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workalike.errors import WorkalikeError
from workalike.study.search import Rung, advance, start
from workalike.study.statistics.table import Better

RUNGS = (Rung("one dump, 1/16", 1 / 16, 12), Rung("five dumps", 1 / 4, 4), Rung("all", 1.0, 1))


def test_survivors_and_cost_by_hand() -> None:
    names = [f"s{i}" for i in range(48)]
    search = start(names, RUNGS)
    search = advance(search, {n: float(i) for i, n in enumerate(names)}, Better.HIGHER)
    assert search.settings == tuple(f"s{i}" for i in range(47, 35, -1)) and search.cost == 3
    search = advance(search, {n: float(-int(n[1:])) for n in search.settings}, Better.HIGHER)
    assert search.settings == ("s36", "s37", "s38", "s39") and search.cost == 6
    assert search.agreement[0].tau == pytest.approx(-1) and search.agreement[0].settings == 12
    search = advance(search, {"s36": 1.0, "s37": math.nan, "s39": 5.0}, Better.LOWER)
    assert search.settings == ("s36",) and search.cost == 10 and search.next_rung is None
    with pytest.raises(WorkalikeError, match="ended"):
        advance(search, {}, Better.LOWER)


def test_rungs_that_do_not_narrow_are_refused() -> None:
    with pytest.raises(WorkalikeError, match="keep"):
        start(["a", "b"], [Rung("one", 1, 3)])
    with pytest.raises(WorkalikeError, match="nothing"):
        start(["a", "b"], [Rung("one", 0, 1)])


def test_the_winner_on_a_known_surface_is_near_the_best_at_a_quarter_of_the_cost() -> None:
    """48 settings, bandwidths over a factor of five; short trials rank them with an error of 10 %, noise is 5 %."""
    regrets = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        true = {f"s{i}": float(v) for i, v in enumerate(np.exp(rng.uniform(0, math.log(5), 48)))}
        bias = {s: rng.normal(0, 0.1) for s in true}
        search = start(list(true), RUNGS)
        while rung := search.next_rung:
            scores = {
                s: true[s] * math.exp(bias[s] * (1 - rung.cost) + rng.normal(0, 0.05))
                for s in search.settings
            }
            search = advance(search, scores, Better.HIGHER)
        assert search.cost <= 48 / 4
        regrets.append(1 - true[search.settings[0]] / max(true.values()))
    assert np.mean(regrets) <= 0.05
