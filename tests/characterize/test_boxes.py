"""Boxes of array elements: exact volumes, near shapes and the fastest dimension."""

from __future__ import annotations

import math

import pytest

from workalike.characterize.contents.arrays.arrays import exact_boxes, near_box, run_of, with_exact_total
from workalike.characterize.contents.arrays.dataspace import Geometry, Hyperslab


def volume(boxes: list[tuple[tuple[int, ...], int]]) -> int:
    return sum(math.prod(shape) * count for shape, count in boxes)


@pytest.mark.parametrize(
    ("dims", "elements", "wanted", "boxes"),
    [
        ((10,), 7, 1, [((7,), 1)]),
        ((10,), 7, 3, [((3,), 1), ((2,), 2)]),
        ((4, 10), 10, 1, [((1, 10), 1)]),
        ((4, 10), 23, 2, [((2, 10), 1), ((1, 3), 1)]),
        ((4, 10), 23, 1, [((2, 10), 1), ((1, 3), 1)]),  # no fewer hold it
        ((4, 10), 23, 3, [((1, 10), 2), ((1, 3), 1)]),
        ((4, 10), 30, 2, [((2, 10), 1), ((1, 10), 1)]),
        ((4, 10), 80, 1, [((4, 10), 2)]),  # twice over
        ((4, 10), 3, 2, [((1, 2), 1), ((1, 1), 1)]),
        ((2, 4, 10), 53, 3, [((1, 4, 10), 1), ((1, 1, 10), 1), ((1, 1, 3), 1)]),
    ],
)
def test_exact_boxes(
    dims: tuple[int, ...], elements: int, wanted: int, boxes: list[tuple[tuple[int, ...], int]]
) -> None:
    assert exact_boxes(dims, elements, wanted) == boxes
    assert volume(boxes) == elements


@pytest.mark.parametrize(
    ("dims", "elements", "run", "box"),
    [
        ((10,), 7, 1, (7,)),
        ((10,), 70, 1, (10,)),
        ((8, 10), 20, 5, (4, 5)),
        ((8, 10), 20, 10, (2, 10)),
        ((8, 10), 20, 40, (2, 10)),  # no longer than the dimension
        ((8, 10), 3, 10, (1, 3)),
        ((8, 10), 80, 1, (8, 10)),  # no room for shorter ones
        ((8, 10), 1, 1, (1, 1)),
        ((2, 4, 10), 40, 10, (2, 2, 10)),
        ((2, 4, 10), 80, 10, (2, 4, 10)),
        ((2, 4, 10), 20, 10, (2, 1, 10)),
        ((4, 2, 10), 40, 5, (4, 2, 5)),
    ],
)
def test_near_boxes(dims: tuple[int, ...], elements: int, run: int, box: tuple[int, ...]) -> None:
    assert near_box(dims, elements, run) == box


@pytest.mark.parametrize("owed", [1, 3, 7, -1, -4, -13, 26])
@pytest.mark.parametrize("boxes", [[((2, 3), 5), ((1, 4), 2)], [((1, 10), 4)], [((3, 1), 1), ((2, 2), 8)]])
def test_owed_elements_are_settled_by_as_many_operations(
    owed: int, boxes: list[tuple[tuple[int, ...], int]]
) -> None:
    found = with_exact_total((4, 10), boxes, owed)
    assert volume(found) == volume(boxes) + owed
    assert all(count > 0 and all(0 < n <= d for n, d in zip(s, (4, 10), strict=True)) for s, count in found)
    before, after = (sum(count for _, count in pairs) for pairs in (boxes, found))
    assert abs(after - before) <= 2
    assert with_exact_total((4, 10), boxes, 0) == boxes


def geometry(*dims: int, element: int = 8) -> Geometry:
    return Geometry(dims, element, None, False)


@pytest.mark.parametrize(
    ("runs", "known", "run"),
    [
        ([], [], 10),
        ([80, 40], [], 10),  # the first
        ([40, 80], [], 5),
        ([40, 80], [5], 10),  # what a slab explains is not taken
        ([40], [5], 5),  # unless there is no other
        ([44, 80], [], 10),  # part of an element
        ([8, 24], [], 3),  # one element alone is not a run
        ([8], [], 10),
        ([88, 16], [], 2),  # longer than the dimension
    ],
)
def test_the_fastest_dimension_s_run(runs: list[int], known: list[int], run: int) -> None:
    slabs = [Hyperslab((1, n), (1, 1), 1, 8 * n) for n in known]
    assert run_of(geometry(4, 10), slabs, runs) == run
