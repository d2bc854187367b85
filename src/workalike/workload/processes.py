"""The processes of a job: which ranks began later than the run, or ended before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from workalike import _core
from workalike.workload.quantities import Ranks, Seconds, Strict

MAX_PROCESSES = 65_536  # groups, as in the engine (engine/core/plan/limits.hpp)
_ROUNDING = 1e-6
"""Times are rounded: an end that is later than the run by this share is its end."""


class Processes(Strict):
    """Ranks that began and ended together, in seconds since the job's start; without `end` they live to its end."""

    ranks: Ranks = None
    start: Seconds = 0.0
    end: Seconds | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end is not None and self.end < self.start:
            raise ValueError("processes end before they begin: `start` must not be above `end`")
        return self


ProcessGroups = Annotated[list[Processes], Field(max_length=MAX_PROCESSES)]


def contradiction(groups: Sequence[Processes], ranks: int, runtime: float) -> str | None:
    """Why groups of processes cannot be those of a job; None if they can. `runtime` 0 is not known."""
    for number, group in enumerate(groups):
        if runtime and max(group.start, group.end or 0.0) > runtime * (1 + _ROUNDING):
            return f"processes[{number}] are later than the run, which ends after {runtime:g} s"
    return named_twice([group.ranks for group in groups], ranks, "processes")


def named_twice(groups: Sequence[Ranks], ranks: int, field: str) -> str | None:
    """Why groups of ranks of a list `field` do not name each rank of the job once; None if they do."""
    spans = [group or [(0, ranks - 1, 1)] for group in groups]
    for number, group in enumerate(spans):
        highest = max(last for _, last, _ in group)
        if highest >= ranks:
            return f"{field}[{number}] names rank {highest}, but the job has {ranks} ranks (the first is 0)"
    found = _core.named_twice([[(a, b, min(step, ranks)) for a, b, step in group] for group in spans], ranks)
    if found is None:
        return None
    return f"{field}[{found[0]}] names rank {found[1]}, which another of them names, too: name each rank once"
