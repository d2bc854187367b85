"""What two random orders may differ by."""

from __future__ import annotations

import itertools
import random

import pytest

from workalike.predict.agreement import DeterminedRow
from workalike.predict.chance import goes_forward, within_chance, without_chance
from workalike.workload.words import Role


def counts_of(rng: random.Random, sequences: int, places: int) -> tuple[int, int]:
    """SEQ and CONSEC of so many sequences, each in a random order of so many places."""
    ahead = adjacent = 0
    for _ in range(sequences):
        order = rng.sample(range(places), places)
        ahead += sum(b > a for a, b in itertools.pairwise(order))
        adjacent += sum(b == a + 1 for a, b in itertools.pairwise(order))
    return ahead, adjacent


@pytest.mark.parametrize("sequences", [1, 4, 64])
def test_two_random_orders_are_within_chance(sequences: int) -> None:
    """At 99 %: of 300 pairs about 297. CONSEC of one order is a small whole number, whose tail is longer."""
    rng = random.Random(sequences)
    accepted = [0, 0]
    for _ in range(300):
        first, second = counts_of(rng, sequences, 40), counts_of(rng, sequences, 40)
        for place, counter in enumerate(("SEQ_READS", "CONSEC_READS")):
            accepted[place] += within_chance(counter, first[place], second[place], 40 * sequences, sequences)
    assert min(accepted) >= 290


@pytest.mark.parametrize(
    ("counter", "random_order", "sequence"), [("SEQ_READS", 78, 156), ("CONSEC_READS", 4, 156)]
)
def test_a_sequence_is_not_a_random_order(counter: str, random_order: int, sequence: int) -> None:
    assert not within_chance(counter, random_order, sequence, 160, 4)


def test_chance_does_not_grow_with_accesses_of_one_order() -> None:
    assert within_chance("CONSEC_READS", 1, 4, 10_000)
    assert not within_chance("CONSEC_READS", 1, 6, 10_000)


@pytest.mark.parametrize("sequences", [1, 4, 64])
def test_no_random_order_goes_forward(sequences: int) -> None:
    rng = random.Random(sequences)
    found = [
        goes_forward(counts_of(rng, sequences, 40)[0] + sequences, 40 * sequences, sequences)
        for _ in range(300)
    ]
    assert sum(found) <= 3


@pytest.mark.parametrize(("ahead", "excused"), [(25, True), (42, False)])
def test_an_order_that_goes_forward_excuses_no_other_count(ahead: int, excused: bool) -> None:
    """A plan may have been given the log's own count of accesses ahead: what else differs is not a chance."""
    group = ((Role.OUTPUT, 1),)
    counts = {"WRITES": (50, 50), "SEQ_WRITES": (ahead, ahead), "CONSEC_WRITES": (9, 8)}
    rows = [DeterminedRow(group, "POSIX", name, *values) for name, values in counts.items()]
    (row,) = [
        row
        for row in without_chance(rows, [(Role.OUTPUT, 1)], None, {group: 4})
        if row.counter == "CONSEC_WRITES"
    ]
    assert row.agrees is excused
