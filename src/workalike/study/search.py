"""Successive halving: cheap short trials drop most settings, and full ones decide among the rest.

Pure bookkeeping from scores to survivors; who runs trials is not known here. docs/statistics.md#search
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from workalike.errors import ErrorKind, WorkalikeError
from workalike.study.statistics.ranks import RankCorrelation, rank_correlation
from workalike.study.statistics.table import Better


@dataclass(frozen=True)
class Rung:
    """One length of trials.

    Args:
        name: such as "one dump at scale 1/16".
        cost: of a trial, as a share of a full one.
        keep: settings that go on to the next rung; the last rung keeps its best.
    """

    name: str
    cost: float
    keep: int


@dataclass(frozen=True)
class Progress:
    """What was measured so far, rung by rung."""

    rungs: tuple[Rung, ...]
    scores: tuple[Mapping[str, float], ...] = ()
    settings: tuple[str, ...] = ()
    """To be measured at the next rung; after the last one, the best in order."""
    cost: float = 0.0
    """Spent so far, in full trials."""
    agreement: tuple[RankCorrelation, ...] = field(default=())
    """Between each rung and the next, over the settings that both measured. These are the best ones of the first, so
    that it understates how both agree on all settings."""

    @property
    def next_rung(self) -> Rung | None:
        return self.rungs[len(self.scores)] if len(self.scores) < len(self.rungs) else None


def start(settings: Sequence[str], rungs: Sequence[Rung]) -> Progress:
    """A search over these settings.

    Raises:
        WorkalikeError: USAGE where rungs do not narrow down, or a cost is not positive.
    """
    keeps = [len(settings), *(rung.keep for rung in rungs)]
    if not rungs or any(after > before or after < 1 for before, after in pairwise(keeps)):
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"rungs keep {keeps[1:]} of {len(settings)} settings",
            hint="let each rung keep fewer settings than the one before, and at least one",
        )
    if any(not rung.cost > 0 for rung in rungs):
        raise WorkalikeError(ErrorKind.USAGE, "a rung costs nothing", hint="give each a cost above zero")
    return Progress(tuple(rungs), settings=tuple(settings))


def advance(progress: Progress, scores: Mapping[str, float], better: Better) -> Progress:
    """The search after a rung: who goes on. A failed setting (no score, or NaN) is dropped; ties keep their order.

    Raises:
        WorkalikeError: USAGE when the search has ended.
    """
    rung = progress.next_rung
    if rung is None:
        raise WorkalikeError(ErrorKind.USAGE, "the search has ended", hint="start a new one")
    own = {s: scores.get(s, math.nan) for s in progress.settings}
    alive = [s for s, score in own.items() if math.isfinite(score)]
    ranked = sorted(alive, key=lambda s: -better.sign * own[s])
    agreement = progress.agreement
    if progress.scores:
        agreement = (*agreement, rank_correlation(progress.scores[-1], own))
    return Progress(
        progress.rungs,
        (*progress.scores, own),
        tuple(ranked[: rung.keep]),
        progress.cost + rung.cost * len(own),
        agreement,
    )
