"""Parts of the rule for files of two interfaces, against results by hand."""

from __future__ import annotations

import numpy as np
import pytest

from workalike.characterize.readings import buffered
from workalike.facts.counters import opens_in
from workalike.facts.records import ModuleFacts
from workalike.workload.model import Content, Direction, Family, Role, Schedule, Stream


def streams(*sizes: str, **more: object) -> Content:
    return Content(
        streams=[Stream.model_validate({"direction": "write", "sizes": [size], **more}) for size in sizes]
    )


def family(content: Content) -> Family:
    return Family(
        role=Role.OUTPUT,
        interface="posix",
        schedule=Schedule(start=[0, 1]),
        sizes=[300, 603],
        content=content,
    )


def test_a_dump_with_a_stated_size_has_streams_of_that_size() -> None:
    grown = family(streams("1 x 100 B", "2/rank x 50 B"))
    first, second = (buffered._of_its_bytes(grown, number, 2) for number in range(2))
    assert first == grown.content
    assert [[(e.count, e.size) for e in s.sizes] for s in second.streams] == [
        [(1, 201)],
        [(2, 101), (2, 100)],
    ]
    assert second.moved(2, Direction.WRITE) == 603


def test_streams_with_places_are_left() -> None:
    placed = family(streams("1 x 300 B", base=10))
    with pytest.raises(buffered._CannotSay):
        buffered._of_its_bytes(placed, 1, 2)


@pytest.mark.parametrize(
    ("operations", "moved", "extent", "streams_", "parts"),
    [
        (4, 400, 500, 1, [(((4, 100),), 100, 1)]),  # once, up to the last byte
        (3, 10, 10, 1, [(((1, 4), (2, 3)), 0, 1)]),  # sizes that are not equal
        (3, 2400, 928, 1, [(((1, 800),), 128, 3)]),  # all at one place
        (4, 2400, 1200, 1, [(((2, 600),), 0, 1), (((2, 600),), 0, 1)]),  # two passes
        (4, 400, 400, 2, [(((2, 100),), 0, 1), (((2, 100),), 200, 1)]),  # two streams, one after the other
    ],
)
def test_operations_of_a_record(
    operations: int, moved: int, extent: int, streams_: int, parts: list[tuple[object, int, int]]
) -> None:
    found = buffered._in_parts(Direction.READ, operations, moved, extent, streams_, by_name=streams_ > 1)
    assert [(part.entries, part.base, part.times) for part in found] == parts


def test_operations_that_two_streams_cannot_share() -> None:
    with pytest.raises(buffered._CannotSay):
        list(buffered._in_parts(Direction.READ, 3, 300, 300, 2, by_name=True))


def records(module: str, **counters: int) -> ModuleFacts:
    zero = np.zeros(1, dtype=np.int64)
    row = np.array([list(counters.values())], dtype=np.int64)
    ids, times = zero.astype(np.uint64), np.zeros((1, 0))
    return ModuleFacts(module, ids, zero, row, times, tuple(counters), ())


@pytest.mark.parametrize(
    ("stdio", "posix", "opens"),
    [
        ({"OPENS": 2, "FDOPENS": 2}, {"OPENS": 4, "DUPS": 2, "FILENOS": 0}, 2),  # POSIX opened it twice
        ({"OPENS": 2, "FDOPENS": 2}, {"OPENS": 2, "DUPS": 2, "FILENOS": 0}, 1),  # somebody else did
        ({"OPENS": 3, "FDOPENS": 2}, {"OPENS": 4, "DUPS": 2, "FILENOS": 0}, 1),  # the stream itself, once
    ],
)
def test_opens_of_streams_on_descriptors(stdio: dict[str, int], posix: dict[str, int], opens: int) -> None:
    assert opens_in(records("STDIO", **stdio), 1, records("POSIX", **posix)) == opens
