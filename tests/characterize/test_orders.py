"""Orders made from counters: programs of chance are counted, and an order is made of nothing but the counts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from workalike.characterize.orders.counts import Counts
from workalike.characterize.orders.directions import Turns, in_turns
from workalike.characterize.orders.offsets import Place, offsets_of
from workalike.characterize.orders.places import Blocks
from workalike.characterize.orders.sweeps import Gaps, Operation
from workalike.workload.model import Direction

READ, WRITE = Direction.READ, Direction.WRITE


def counted(opens: list[list[Place]]) -> tuple[Counts, Counter[int]]:
    """The counts and the gaps of accesses after each open, as Darshan counts them."""
    back = ahead = next_to = reach = 0
    gaps: Counter[int] = Counter()
    for accesses in opens:
        last = 0
        for offset, size in accesses:
            if offset <= last:
                back += 1
            elif offset == last + 1:
                next_to += 1
            else:
                ahead += 1
                if last:
                    gaps[offset - last - 1] += 1
            if size:
                last = offset + size - 1
                reach = max(reach, last + 1)
    return Counts(back + ahead + next_to, ahead, next_to, reach), gaps


def program(rng: random.Random) -> list[list[Place]]:
    """Accesses of a program of chance: it opens its file a few times, goes on, jumps and goes back."""
    sizes = rng.choice([[4096], [512, 8192], [rng.randint(1, 5000) for _ in range(40)]])
    extent = rng.randint(20, 400) * max(sizes)
    opens: list[list[Place]] = []
    for _ in range(rng.randint(1, 4)):
        offset = 0 if rng.random() < 0.8 else rng.randrange(extent)
        accesses = []
        for _ in range(rng.randint(0, 60)):
            size = min(rng.choice(sizes), extent - offset)
            if size <= 0:
                offset = 0
                continue
            accesses.append((offset, size))
            offset += size
            act = rng.random()
            if act < 0.3:
                offset = rng.randrange(extent)
            elif act < 0.4:
                offset = 0
        opens.append(accesses)
    return opens


def made_of(opens: list[list[Place]], *, with_gaps: bool) -> tuple[list[list[Place]] | None, Counts]:
    counts, gaps = counted(opens)
    operations = [[Operation(size, dump) for _, size in accesses] for dump, accesses in enumerate(opens)]
    known = sorted(gaps.elements(), reverse=True) if with_gaps else []
    return offsets_of(operations, counts, Gaps(tuple(known), complete=with_gaps), seed=1), counts


@pytest.mark.parametrize("with_gaps", [False, True])
def test_an_order_has_the_counts_that_it_was_made_from(with_gaps: bool) -> None:
    rng = random.Random()
    found = 0
    for _ in range(300):
        opens = program(rng)
        made, counts = made_of(opens, with_gaps=with_gaps)
        if made is None:
            continue
        found += 1
        again, gaps = counted(made)
        assert again == counts, opens
        if with_gaps:
            assert gaps == counted(opens)[1], opens
        for before, after in zip(opens, made, strict=True):
            assert Counter(size for _, size in before) == Counter(size for _, size in after)
    assert found >= (150 if with_gaps else 270)


def test_what_the_counts_exclude_is_refused() -> None:
    two = [[Operation(4096, 0), Operation(4096, 0)]]
    assert offsets_of(two, Counts(2, 0, 1, 4096), Gaps(), seed=0) is None  # two blocks in the room of one
    assert offsets_of(two, Counts(2, 0, 1, 9000), Gaps(), seed=0) is None  # nothing leads to the reach
    assert offsets_of(two, Counts(2, 1, 0, 20000), Gaps((200, 100)), seed=0) is None  # more gaps than jumps


def test_sizes_are_exchanged_where_a_gap_needs_room() -> None:
    operations = [[Operation(size, 0) for size in (100, 900, 900, 100)]]
    made = offsets_of(operations, Counts(4, 1, 0, 1000), Gaps((800,), complete=True), seed=0)
    assert made is not None
    counts, gaps = counted(made)
    assert counts == Counts(4, 1, 0, 1000)
    assert gaps == {800: 1}


def test_a_gap_without_room_is_left_out_where_it_need_not_fit() -> None:
    operations = [[Operation(100, 0), Operation(100, 0)]]
    assert offsets_of(operations, Counts(2, 1, 0, 500), Gaps((400,)), seed=0) is None
    assert offsets_of(operations, Counts(2, 1, 0, 500), Gaps((400,), fit=False), seed=0) == [
        [(0, 100), (400, 100)]
    ]


@pytest.mark.parametrize("begun", [2, 5, 20, 30])
def test_as_many_operations_begin_a_block_as_counted(begun: int) -> None:
    operations = [[Operation(512, 0)] * 40]
    made = offsets_of(operations, Counts(40, 10, 0, 10**6), Gaps(), seed=3, blocks=Blocks(4096, begun))
    assert made is not None
    assert abs(sum(offset % 4096 == 0 for offset, _ in made[0]) - begun) <= 2
    assert counted(made)[0] == Counts(40, 10, 0, 10**6)


def test_an_empty_read_is_next_to_the_one_before() -> None:
    """A read at the end of the file moves no byte, and its place is that end."""
    made = offsets_of([[Operation(10, 0), Operation(0, 0)]], Counts(2, 0, 1, 10), Gaps(complete=True), seed=0)
    assert made == [[(0, 10), (10, 0)]]


@pytest.mark.parametrize("switches", range(1, 20))
def test_directions_change_as_often_as_counted(switches: int) -> None:
    order = in_turns([Turns(10, 12, WRITE)], switches)[0]
    assert Counter(order) == {READ: 10, WRITE: 12}
    assert order[0] is WRITE
    assert sum(a is not b for a, b in pairwise(order)) == switches


def test_changes_are_shared_by_dumps_and_each_begins_as_before() -> None:
    orders = in_turns([Turns(5, 5, WRITE), Turns(0, 3, WRITE), Turns(4, 4, READ)], 14)
    assert [order[0] for order in orders] == [WRITE, WRITE, READ]
    joined = [direction for order in orders for direction in order]
    assert abs(sum(a is not b for a, b in pairwise(joined)) - 14) <= 1


def test_more_changes_than_operations_allow_are_as_many_as_they_do() -> None:
    order = in_turns([Turns(2, 7, READ)], 100)[0]
    assert sum(a is not b for a, b in pairwise(order)) == 3


def test_unknown_gaps_are_smaller_than_those_that_a_record_names() -> None:
    """But for the gap that leads to the reach."""
    operations = [[Operation(512, 0)] * 60]
    gaps = Gaps((90_112, 81_920), less_than=81_920)
    made = offsets_of(operations, Counts(60, 40, 0, 10**6), gaps, seed=4)
    assert made is not None
    large = [gap for gap in counted(made)[1].elements() if gap >= 81_920]
    assert {90_112, 81_920} <= set(large)
    assert len(large) <= 3


def test_operations_that_move_nothing_go_ahead_by_bytes() -> None:
    """As reads of a journal after each open: none has a size that others could be whole multiples of."""
    found = offsets_of([[Operation(0, 0)] * 7], Counts(7, 7, 0, 8720), Gaps(), seed=1)
    assert found is not None
    (places,) = found
    assert counted([places])[0].ahead == 7
