"""Where sweeps begin and how large their unknown gaps are: one ends at the reach of the file, no other goes beyond it."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate

from workalike.characterize.orders.sweeps import Step, Sweep


@dataclass(frozen=True)
class Blocks:
    """Blocks of the file system: `size` in bytes, and how many operations should begin one."""

    size: int = 1
    begun: int = 0


class Placer:
    """Places the sweeps of one file, in their order.

    What the counters leave open is left to chance, in whole `unit`s: the largest that divides all sizes and known gaps.
    """

    def __init__(
        self,
        sweeps: Sequence[Sweep],
        reach: int,
        seed: int,
        blocks: Blocks,
        less_than: int | None = None,
        *,
        overlap_least: bool = False,
    ) -> None:
        self.sweeps = sweeps
        self.reach = reach
        self.block = blocks.size
        self.rng = random.Random(seed)
        self.unit = _unit(sweeps, reach)
        self.most = (
            reach if less_than is None else max(0, (less_than - 1) // self.unit * self.unit - self.unit)
        )
        """Bytes that an unknown gap may have beside its first unit."""
        self.overlap_least = overlap_least
        """Sweeps that go back on the way to the reach go back by one byte, not by a unit, to come there at all."""
        self.furthest = _furthest(sweeps)
        self.alone = _alone(sweeps)
        self.met = False
        """Whether a sweep has ended at the reach."""
        self.last = -1
        """The last byte of the operation before."""
        self.before = 0
        """Where the operation before began."""
        self.left = sum(len(sweep.sizes) for sweep in sweeps)
        """Operations without a place."""
        self.begun = blocks.begun
        """How many of them should begin a block."""

    def placed(self) -> list[int] | None:
        """The offset of each operation; None where the sweeps do not meet the reach."""
        out: list[int] = []
        for place, sweep in enumerate(self.sweeps):
            ends_there = not self.met and self.furthest in (place, None)
            begin = self._begin(place, ends_there)
            if begin is None:
                return None
            offsets = self._filled(sweep, begin, ends_there)
            if offsets is None:
                return None
            out += offsets
        return out if self.met else None

    def _begin(self, place: int, ends_there: bool) -> int | None:
        """Where a sweep begins; None where it cannot."""
        sweep, unit = self.sweeps[place], self.unit
        most = self.reach - _least(sweep, unit)
        if sweep.begins is Step.START:
            return 0
        if sweep.begins is Step.FURTHER:
            if most < 1:
                return None
            return most if ends_there else max(min(unit, most), self._by_chance(most))
        most = min(most, self.last // unit * unit)
        if most < 0:
            return None
        if ends_there and not sweep.unknown:
            return min(self.reach - sweep.length, self.last if self.overlap_least else most)
        if len(sweep.sizes) > 1:
            begin = self._by_chance(most)
        else:  # one that goes back after another: evenly down to the file's beginning
            left = self.alone[place]
            begin = min(most, self.before * left // (left + 1) // unit * unit)
        group = next(iter(sweep.groups()))
        return self._in_block(begin, 0, most, group)

    def _by_chance(self, most: int) -> int:
        return self.rng.randrange(most // self.unit + 1) * self.unit

    def _filled(self, sweep: Sweep, begin: int, ends_there: bool) -> list[int] | None:
        """The offsets of a sweep, whose unknown gaps get all of the room if it ends at the reach, else a part of it."""
        room = self.reach - begin - _least(sweep, self.unit)
        if room < 0:
            return None
        first, *others = sweep.groups()
        shares = self._shares(room, len(others), ends_there)
        free = room - sum(shares)
        out: list[int] = []
        offset = self._run(begin, first, out)
        for number, (group, share) in enumerate(zip(others, shares, strict=True), start=1):
            wanted = offset + self.unit + share
            if ends_there and number == len(others):
                at = wanted + free
            else:
                most = min(wanted + free, offset + self.unit + max(share, self.most))
                at = self._in_block(wanted, offset + 1, most, group)
                free += wanted - at
            offset = self._run(at, group, out)
        self.met |= offset == self.reach
        return out

    def _run(self, offset: int, group: Sequence[tuple[int, int]], out: list[int]) -> int:
        """Place a group from an offset on, and return its end."""
        for gap, size in group:
            offset += gap
            self._note(offset, size)
            out.append(offset)
            offset += size
        return offset

    def _shares(self, room: int, number: int, ends_there: bool) -> list[int]:
        """A part of the room for each gap, by chance and none too large. A sweep that ends at the reach uses all of it."""
        weights = [self.rng.random() for _ in range(number)]
        total = sum(weights) + (0.0 if ends_there else self.rng.random()) or 1.0
        shares = [min(self.most, int(room * weight / total) // self.unit * self.unit) for weight in weights]
        left = room - sum(shares) if ends_there else 0
        for place, share in enumerate(shares[:-1]):
            more = min(self.most - share, left // self.unit * self.unit)
            shares[place] += more
            left -= more
        return shares

    def _in_block(self, wanted: int, least: int, most: int, group: Sequence[tuple[int, int]]) -> int:
        """An offset near the wanted one, at the begin of a block or not, as more operations should begin one or not."""
        if self.block <= 1:
            return wanted
        inside = list(accumulate((gap + size for gap, size in group), initial=0))[:-1]
        share = sum(at % self.block == 0 for at in inside) / len(inside)
        aligned = self.rng.random() * self.left * share < self.begun
        if (wanted % self.block == 0) == aligned:
            return wanted
        down, odd = wanted // self.block * self.block, max(1, min(self.unit, self.block // 2))
        nearest = (down, down + self.block) if aligned else (wanted + odd, wanted - odd)
        return next((offset for offset in nearest if least <= offset <= most), wanted)

    def _note(self, offset: int, size: int) -> None:
        self.left -= 1
        self.begun -= self.block > 1 and offset % self.block == 0
        if size:
            self.last, self.before = offset + size - 1, offset


def _unit(sweeps: Sequence[Sweep], reach: int) -> int:
    """What divides all sizes, gaps and the reach; 1 of operations that move nothing."""
    values = [size for sweep in sweeps for size in sweep.sizes if size]
    known = [gap for sweep in sweeps for gap in sweep.gaps if gap]
    return max(1, reduce(math.gcd, [*values, *known], reach)) if values else 1


def _least(sweep: Sweep, unit: int) -> int:
    """Bytes of a sweep, with unknown gaps of one unit."""
    return sweep.length + sweep.unknown * (unit - 1)


def _furthest(sweeps: Sequence[Sweep]) -> int | None:
    """The sweep that is made to end at the reach: one that has a choice; None: whichever comes there."""
    for has_choice in (lambda s: s.begins is Step.FURTHER, lambda s: s.unknown):
        found = [place for place, sweep in enumerate(sweeps) if has_choice(sweep)]
        if found:
            return max(found, key=lambda place: sweeps[place].length)
    return None


def _alone(sweeps: Sequence[Sweep]) -> list[int]:
    """How many sweeps of one operation that goes back follow each other from each one on."""
    out = [0] * (len(sweeps) + 1)
    for place in range(len(sweeps) - 1, -1, -1):
        sweep = sweeps[place]
        out[place] = out[place + 1] + 1 if len(sweep.sizes) == 1 and sweep.begins is Step.BACK else 0
    return out
