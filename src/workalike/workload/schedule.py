"""When the dumps of a family are due, and when in a dump its operations are."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from workalike.workload.quantities import MAX_DUMPS, Ranks, Seconds, Strict
from workalike.workload.words import Direction

MAX_SKEWS = 64  # groups of a window, as in the engine (engine/core/plan/limits.hpp)


class Skew(Strict):
    """Ranks that begin their operations of a window later than the others, by `delay` seconds.

    They do so in every dump, or in one: `dump` is its number from 0 on. Its delays count there instead of those of
    every dump.
    """

    ranks: Ranks
    delay: Seconds
    dump: Annotated[int, Field(ge=0, lt=MAX_DUMPS)] | None = None


class Window(Strict):
    """When a dump's operations of one direction are, in seconds from its start; one value for all dumps or a list.

    `first` is the start of the first operation, `last` the end of the last one (by default that of the dump), `busy`
    the time that a rank is inside its calls (by default all of the window). A window ends with its dump, and `busy`
    counts up to the length of the window. `skew` names ranks whose window is later, in every dump or in one.
    """

    first: Seconds | list[Seconds] = 0.0
    last: Seconds | list[Seconds] | None = None
    busy: Seconds | list[Seconds] | None = None
    skew: Annotated[list[Skew], Field(max_length=MAX_SKEWS)] = Field(default_factory=list)

    def of_dumps(self, lengths: list[float]) -> list[tuple[float, float, float]]:
        """(first, last, busy) of each dump, of which `lengths` has the seconds."""
        dumps = len(lengths)
        firsts = of_each(self.first, dumps)
        lasts = lengths if self.last is None else of_each(self.last, dumps)
        out = []
        for dump, length in enumerate(lengths):
            last = min(lasts[dump], length)
            first = min(firsts[dump], last)
            out.append((first, last, last - first))
        if self.busy is None:
            return out
        spent = of_each(self.busy, dumps)
        return [(first, last, min(busy, most)) for (first, last, most), busy in zip(out, spent, strict=True)]


class Schedule(Strict):
    """When the dumps are due: `start` of each, or `first` and `every`, or `gaps` (start to start).

    `duration` is how long a dump took, if that was observed. `compute_time` is how long each rank computes between its
    operations of a dump; a replica waits as long (× time-scale). `barrier`: the ranks wait for each other before each
    dump. `writes` and `reads` are when a dump's operations are; without them they are spread over all of the dump.
    `metadata` is how long each rank is in opens, closes, stats, syncs and flushes of a dump.
    """

    count: Annotated[int, Field(ge=1, le=MAX_DUMPS)] | None = None
    start: list[Seconds] | None = None
    first: Seconds | None = None
    every: Seconds | None = None
    gaps: list[Seconds] | None = None
    duration: Seconds | list[Seconds] = 0.0
    compute_time: Seconds | list[Seconds] = 0.0
    barrier: bool = False
    writes: Window | None = None
    reads: Window | None = None
    metadata: Seconds | list[Seconds] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.start is None and self.gaps is None and self.count is None:
            raise ValueError("a schedule needs `start`, or `gaps`, or `count` with `first` and `every`")
        if self.start is not None and (self.gaps, self.every, self.first) != (None, None, None):
            raise ValueError("`start` lists every dump: leave out `first`, `every` and `gaps`")
        if self.gaps is not None and self.every is not None:
            raise ValueError("give `every` or `gaps`, not both")
        for listed in (self.start, self.gaps):
            if listed is not None and not 1 <= len(listed) <= MAX_DUMPS:
                raise ValueError(f"a schedule has 1 to {MAX_DUMPS} dumps")
            if listed is not None and self.count not in (None, len(listed)):
                raise ValueError(f"count says {self.count}, the list has {len(listed)}")
        for values, word in (
            (self.compute_time, "compute times"),
            (self.duration, "durations"),
            (self.metadata, "times of metadata"),
        ):
            if isinstance(values, list) and len(values) != self.dumps:
                raise ValueError(f"{len(values)} {word} for {self.dumps} dumps")
        for direction in Direction:
            self._check_window(f"{direction.value}s", self.window(direction))
        return self

    def _check_window(self, name: str, window: Window | None) -> None:
        if window is None:
            return
        for field in ("first", "last", "busy"):
            value = getattr(window, field)
            if isinstance(value, list) and len(value) != self.dumps:
                raise ValueError(f"`{name}` has {len(value)} values of `{field}` for {self.dumps} dumps")
        if any(late.dump is not None and late.dump >= self.dumps for late in window.skew):
            raise ValueError(
                f"`skew` of `{name}` names a dump that is not one of {self.dumps} (the first is 0)"
            )
        if not any(self.lengths()):
            raise ValueError(f"`{name}` are a part of the dump's time: they need `duration`")
        if window.last is None:
            return
        pairs = zip(of_each(window.first, self.dumps), of_each(window.last, self.dumps), strict=True)
        if any(first > last for first, last in pairs):
            raise ValueError(f"`{name}` end before they begin: `first` must not be above `last`")

    def window(self, direction: Direction) -> Window | None:
        """When a dump's operations of a direction are; None: anywhere in it."""
        return self.writes if direction is Direction.WRITE else self.reads

    @property
    def dumps(self) -> int:
        if self.start is not None:
            return len(self.start)
        if self.gaps is not None:
            return len(self.gaps)
        return self.count or 1

    def starts(self) -> list[float]:
        """The start of each dump, in seconds since the job's start."""
        if self.start is not None:
            return list(self.start)
        if self.gaps is not None:
            now, starts = self.first or 0.0, []
            for gap in self.gaps:
                now += gap
                starts.append(now)
            return starts
        first, every = self.first or 0.0, self.every or 0.0
        return [first + i * every for i in range(self.dumps)]

    def compute_times(self) -> list[float]:
        """Seconds that a rank computes between its operations of each dump."""
        return of_each(self.compute_time, self.dumps)

    @property
    def computes_within(self) -> bool:
        """Whether ranks compute between the operations of a dump."""
        return any(self.compute_times()) or self.writes is not None or self.reads is not None

    def lengths(self) -> list[float]:
        """Seconds that each dump took."""
        return of_each(self.duration, self.dumps)

    def ends(self) -> list[float]:
        return [start + length for start, length in zip(self.starts(), self.lengths(), strict=True)]


def of_each(value: float | list[float], dumps: int) -> list[float]:
    """The value of each dump, of one for all or a list."""
    return list(value) if isinstance(value, list) else [value] * dumps
