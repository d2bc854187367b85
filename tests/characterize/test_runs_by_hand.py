"""Runs of operations that go over a file again, with figures by hand."""

from __future__ import annotations

from facts_by_hand import file_facts, module_facts

from workalike.characterize.readings.placement.runs import Behaviour, _dumps, _runs, in_runs
from workalike.workload.model import Direction, Family

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


def test_runs_must_explain_both_directions() -> None:
    """Reads: a run of five operations, and two more with one operation between them."""
    written = {"WRITES": 5, "SEQ_WRITES": 4, "CONSEC_WRITES": 4, "MAX_BYTE_WRITTEN": 49}
    streams = [{"direction": d, "sizes": [f"{n} x 10 B"]} for d, n in (("read", 6), ("write", 5))]
    family = Family.model_validate(
        {
            "role": "scratch", "interface": "posix", "sharing": "per-rank", "lifetime": "reused",
            "schedule": {"start": [1]}, "content": {"opens": 1, "streams": streams},
        }
    )  # fmt: skip

    def found(reads: int) -> bool:
        read = {"READS": reads, "SEQ_READS": reads - 3, "CONSEC_READS": reads - 3, "MAX_BYTE_READ": 49}
        module = module_facts("POSIX", {0: written | read | {"RW_SWITCHES": 1}})
        return in_runs(family, [file_facts("a", module)], "POSIX", 1, 1) is not None

    assert found(7)
    assert not found(6)
