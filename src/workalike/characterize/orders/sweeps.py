"""The sweeps of operations of one direction: what each operation does, how large it is, and which gaps are where.

A sweep begins at or before the last byte of the operation before it, and goes forward. Where a file is opened, the first
operation is counted as going back only at offset 0.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from heapq import heapify, heappop, heappush, heapreplace

from workalike.characterize.orders.counts import Counts


class Step(Enum):
    """How an operation lies to the one before it."""

    START = "the first after an open, at 0"
    FURTHER = "the first after an open, further on"
    BACK = "at or before the last byte"
    NEXT = "right after the last byte"
    AHEAD = "further on"


@dataclass
class Sweep:
    """Operations that go forward. `sizes` and `gaps` are bytes; a gap that is None is still unknown."""

    begins: Step
    sizes: list[int] = field(default_factory=list)
    gaps: list[int | None] = field(default_factory=list)
    """Before each operation but the first; 0 where it is next to the one before."""

    @property
    def length(self) -> int:
        """Bytes from its begin to its end, as far as its gaps are known; an unknown one has one byte at least."""
        return sum(self.sizes) + sum(1 if gap is None else gap for gap in self.gaps)

    @property
    def unknown(self) -> int:
        return sum(gap is None for gap in self.gaps)

    def groups(self) -> list[list[tuple[int, int]]]:
        """(gap before it, size) of each operation, in groups between the unknown gaps; these are 0 here."""
        out = [[(0, self.sizes[0])]]
        for gap, size in zip(self.gaps, self.sizes[1:], strict=True):
            if gap is None:
                out.append([])
            out[-1].append((gap or 0, size))
        return out


@dataclass(frozen=True)
class Gaps:
    """What is known of the gaps of a direction."""

    known: tuple[int, ...] = ()
    """Bytes of each, the largest first."""
    complete: bool = False
    """There are no others after an operation since the same open."""
    fit: bool = True
    """All of them have to find room."""
    less_than: int | None = None
    """Bytes that others should stay below, so that a record of them names the known ones."""


@dataclass(frozen=True)
class Operation:
    """An operation of a file that is to be placed: its size in bytes, and the dump that it is of."""

    size: int
    dump: int


def steps_of(
    opens: Sequence[Sequence[int]], counts: Counts, further: int, packed: bool = False
) -> list[Step]:
    """What each operation does: those that go back are spread evenly, and so are gaps between the others.

    With `packed`, those go back first that would otherwise pass the last byte of all.
    """
    begins = len(opens)
    firsts = [Step.START] * (begins - further) + [Step.FURTHER] * further
    empty = [
        size == 0 for sizes in opens for size in sizes[1:]
    ]  # where the file ended: no byte is passed over
    if sum(empty) > counts.next_to:  # some of them in an empty file
        empty = [False] * len(empty)
    others = len(empty) - sum(empty)
    has_to = [False] * others
    if packed:
        passing = [place for sizes in opens for place in _passing(sizes, counts.reach)]
        has_to = [place for place, is_empty in zip(passing, empty, strict=True) if not is_empty]
    backs = _and_spread(has_to, counts.back - (begins - further))
    aheads = _spread(counts.ahead - further, others - sum(backs))
    after_backs = iter(aheads)
    full = iter(Step.BACK if back else Step.AHEAD if next(after_backs) else Step.NEXT for back in backs)
    followers = iter([Step.NEXT if is_empty else next(full) for is_empty in empty])
    return [
        first if place == 0 else next(followers)
        for first, sizes in zip(firsts, opens, strict=True)
        for place in range(len(sizes))
    ]


def _passing(sizes: Sequence[int], reach: int) -> list[bool]:
    """Which operations but the first would pass the last byte, if each other one followed that before it."""
    out = []
    end = sizes[0]
    for size in sizes[1:]:
        out.append(end + size > reach)
        end = size if out[-1] else end + size
    return out


def _and_spread(first: Sequence[bool], number: int) -> list[bool]:
    """As `_spread`, but those of `first` are among them, where these are not too many."""
    if sum(first) > number:
        return _spread(number, len(first))
    others = iter(_spread(number - sum(first), len(first) - sum(first)))
    return [own or next(others) for own in first]


def _spread(number: int, places: int) -> list[bool]:
    """Which of the places have one, so that there are as many others before, between and after them."""
    out = [False] * places
    for place in range(1, number + 1):
        out[place * (places + 1) // (number + 1) - 1] = True
    return out


def sweeps_of(steps: Sequence[Step]) -> list[Sweep]:
    """The sweeps, still without sizes."""
    out: list[Sweep] = []
    for step in steps:
        if step in (Step.NEXT, Step.AHEAD):
            out[-1].gaps.append(0 if step is Step.NEXT else None)
        else:
            out.append(Sweep(step))
    return out


def as_they_are(
    sweeps: Sequence[Sweep], operations: Sequence[Operation], gaps: Gaps, reach: int
) -> list[int] | None:
    """Operations in their order, and each gap where it has most room; None where there is none."""
    sizes = [operation.size for operation in operations]
    _fill_sizes(sweeps, sizes)
    return sizes if _with_gaps(sweeps, gaps, reach) else None


def exchanged(
    sweeps: Sequence[Sweep], operations: Sequence[Operation], gaps: Gaps, reach: int
) -> list[int] | None:
    """Gaps first, then the largest operations of each dump where they have most room; None where there is none."""
    if not _with_gaps(sweeps, gaps, reach):
        return None
    room = [reach - sweep.length for sweep in sweeps]
    sweep_of = [place for place, sweep in enumerate(sweeps) for _ in range(len(sweep.gaps) + 1)]
    slots: dict[tuple[int, bool], dict[int, deque[int]]] = defaultdict(lambda: defaultdict(deque))
    for slot, (place, operation) in enumerate(zip(sweep_of, operations, strict=True)):
        slots[operation.dump, operation.size == 0][place].append(slot)
    free = [len(sweep.gaps) + 1 for sweep in sweeps]

    def room_for_each(place: int) -> float:
        """Bytes that each operation of a sweep that has no size yet may have, as a heap sorts them."""
        return -room[place] / max(1, free[place])

    heaps = {key: [(room_for_each(place), place) for place in of_sweep] for key, of_sweep in slots.items()}
    for heap in heaps.values():
        heapify(heap)
    out = [0] * len(operations)
    for operation in sorted(operations, key=lambda operation: -operation.size):
        key = operation.dump, operation.size == 0
        heap = heaps[key]
        while heap[0][0] != room_for_each(heap[0][1]):  # another dump has used that sweep
            heapreplace(heap, (room_for_each(heap[0][1]), heap[0][1]))
        place = heappop(heap)[1]
        out[slots[key][place].popleft()] = operation.size
        room[place] -= operation.size
        free[place] -= 1
        if slots[key][place]:
            heappush(heap, (room_for_each(place), place))
    if min(room) < 0:
        return None
    _fill_sizes(sweeps, out)
    return out


def _fill_sizes(sweeps: Sequence[Sweep], sizes: Sequence[int]) -> None:
    rest = iter(sizes)
    for sweep in sweeps:
        sweep.sizes = [next(rest) for _ in range(len(sweep.gaps) + 1)]


def _with_gaps(sweeps: Sequence[Sweep], gaps: Gaps, reach: int) -> bool:
    """Give each gap to the sweep that has the most room for it; False where one that has to fit finds none."""
    room = [reach - sweep.length for sweep in sweeps]
    if min(room, default=0) < 0:
        return False
    unknown = [deque(i for i, gap in enumerate(sweep.gaps) if gap is None) for sweep in sweeps]
    heap = [(-room[place], place) for place, places in enumerate(unknown) if places]
    heapify(heap)
    for gap in gaps.known:
        if not heap:
            return not gaps.fit
        if -heap[0][0] < gap - 1:
            if gaps.fit:
                return False
            continue
        place = heappop(heap)[1]
        sweeps[place].gaps[unknown[place].popleft()] = gap
        room[place] -= gap - 1
        if unknown[place]:
            heappush(heap, (-room[place], place))
    return True
