"""The processes of a job: which ranks began later than the run, or ended before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

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
    named = np.zeros(ranks if groups else 0, dtype=np.bool_)
    for number, group in enumerate(groups):
        for first, last, step in group or [(0, ranks - 1, 1)]:
            if last >= ranks:
                return f"{field}[{number}] names rank {last}, but the job has {ranks} ranks (the first is 0)"
            if named[first : last + 1 : step].any():
                return f"{field}[{number}] names a rank that another of them names, too: name each rank once"
            named[first : last + 1 : step] = True
    return None
