"""Reads and writes in turn: in which order the operations of both directions follow each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workalike.workload.model import Direction


@dataclass(frozen=True)
class Turns:
    """The operations of one dump on one file, by direction, and which direction begins."""

    reads: int
    writes: int
    first: Direction
    blocks: int = 0
    """Blocks of operations of one direction."""

    @property
    def least(self) -> int:
        return bool(self.reads) + bool(self.writes)

    @property
    def most(self) -> int:
        """As many blocks as there can be, if `first` begins."""
        begins, follows = self._counts()
        if not begins or not follows:
            return bool(begins) + bool(follows)
        return 2 * begins if begins <= follows else 2 * follows + 1

    @property
    def last(self) -> Direction:
        other = Direction.READ if self.first is Direction.WRITE else Direction.WRITE
        return self.first if self.blocks % 2 else other

    def sequence(self) -> list[Direction]:
        """The direction of each operation: the blocks of a direction are equally long."""
        begins, follows = self._counts()
        other = Direction.READ if self.first is Direction.WRITE else Direction.WRITE
        of_first, of_other = _parts(begins, -(-self.blocks // 2)), _parts(follows, self.blocks // 2)
        out: list[Direction] = []
        for block in range(self.blocks):
            direction, parts = (other, of_other) if block % 2 else (self.first, of_first)
            out += [direction] * parts[block // 2]
        return out

    def _counts(self) -> tuple[int, int]:
        return (self.reads, self.writes) if self.first is Direction.READ else (self.writes, self.reads)


def in_turns(dumps: Sequence[Turns], switches: int) -> list[list[Direction]]:
    """The direction of each operation of each dump, with about as many changes of direction as counted."""
    turns = [replace(dump, blocks=dump.least) for dump in dumps]
    missing = switches - changes_in(turns)
    for place, dump in sorted(enumerate(turns), key=lambda item: -item[1].most):
        # Two blocks more keep the direction that ends a dump, and so do not change what follows.
        room = min(dump.most - dump.blocks, missing)
        more = room if place == len(turns) - 1 else room // 2 * 2
        if more > 0:
            turns[place] = replace(dump, blocks=dump.blocks + more)
            missing -= more
    return [dump.sequence() for dump in turns]


def changes_in(turns: Sequence[Turns]) -> int:
    """How often the direction changes."""
    used = [dump for dump in turns if dump.blocks]
    within = sum(dump.blocks - 1 for dump in used)
    return within + sum(a.last is not b.first for a, b in itertools.pairwise(used))


def _parts(total: int, parts: int) -> list[int]:
    """`total` in equal parts, of which the first are larger by one where it does not divide evenly."""
    if not parts:
        return []
    each, more = divmod(total, parts)
    return [each + (place < more) for place in range(parts)]
