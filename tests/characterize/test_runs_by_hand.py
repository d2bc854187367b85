"""Runs of operations that go over a file again, with figures by hand."""

from __future__ import annotations

from workalike.characterize.runs import Behaviour, _dumps, _runs
from workalike.workload.model import Direction

READ, WRITE = Direction.READ, Direction.WRITE


def behaviour(
    runs: tuple[int, int], operations: tuple[int, int], *, switches: int = 0, first: Direction = WRITE
) -> Behaviour:
    return Behaviour(runs, operations, reach=(5, 5), gaps=((), ()), switches=switches, first=first)


def test_one_run_covers_the_file_and_the_others_share_what_is_left() -> None:
    assert _runs(behaviour((3, 1), (8, 5)), READ) == [[(0, 5)], [(0, 2)], [(0, 1)]]
    assert _runs(behaviour((3, 1), (7, 5)), READ) == [[(0, 5)], [(0, 1)], [(0, 1)]]
    assert _runs(behaviour((3, 1), (6, 5)), READ) is None, "a run has an operation"
    assert _runs(behaviour((3, 1), (8, 5)), WRITE) == [[(0, 5)]]


def test_blocks_of_the_first_direction_are_one_more_where_their_number_is_odd() -> None:
    """Written, read, written: a dump of both, and one that only writes."""
    whole = [(0, 5)]
    runs = {WRITE: [whole, whole], READ: [whole]}
    found = _dumps(behaviour((1, 2), (5, 10), switches=2), runs, opens=1)
    assert found is not None
    assert [[direction for direction, _ in dump] for dump in found] == [[WRITE], [READ, WRITE]]
