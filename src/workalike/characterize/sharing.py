"""Who wrote into which file: rank sets, effective writers, sharing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.characterize.facts import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.workload import units
from workalike.workload.model import Level, Sharing, SharingMode

ROOT_BELOW = 1.5  # effective writers


@dataclass(frozen=True)
class RankSet:
    """Ranks of a file; None stands for all ranks of the job."""

    ranks: tuple[int, ...] | None

    def size(self, nprocs: int) -> int:
        return nprocs if self.ranks is None else len(self.ranks)


def ranks_of(file: FileFacts, level: Level) -> RankSet:
    """The ranks that have a record of the file; a reduced record, or all ranks present, means all (facts A6)."""
    facts = file.modules.get(MODULE_OF_LEVEL[level])
    if facts is None:
        return RankSet(None)
    if (facts.ranks < 0).any():
        return RankSet((0,) if file.nprocs == 1 else None)
    ranks = tuple(sorted(set(facts.ranks.tolist())))
    if len(ranks) == file.nprocs and file.nprocs > 1:
        return RankSet(None)
    return RankSet(ranks)


def effective_writers(facts: ModuleFacts, nprocs: int, total_bytes: int) -> float:
    """k = n / (1 + var n^2 / B^2): how many of n ranks share the bytes (facts B, "Rank set").

    n where the variance is missing or cannot be true.
    """
    reduced = facts.ranks < 0
    if (
        nprocs <= 1
        or total_bytes <= 0
        or not reduced.any()
        or "F_VARIANCE_RANK_BYTES" not in facts.fcounter_names
    ):
        return float(nprocs)
    variance = float(facts.fcolumn("F_VARIANCE_RANK_BYTES")[reduced].sum())
    if not np.isfinite(variance) or variance < 0:
        return float(nprocs)
    return nprocs / (1 + variance * nprocs**2 / float(total_bytes) ** 2)


def root_of(facts: ModuleFacts, nprocs: int, total_bytes: int) -> int | None:
    """The one rank that moved everything in a reduced record, if the variance says that there is one."""
    if not len(facts.ranks) or "F_VARIANCE_RANK_BYTES" not in facts.fcounter_names:
        return None
    if float(facts.fcolumn("F_VARIANCE_RANK_BYTES").max()) <= 0 or nprocs <= 2:
        return None
    if effective_writers(facts, nprocs, total_bytes) >= ROOT_BELOW:
        return None
    for who in ("SLOWEST_RANK", "FASTEST_RANK"):
        if facts.largest(f"{who}_BYTES") >= 0.5 * total_bytes and facts.largest(who) < nprocs:
            return facts.largest(who)
    return 0


def sharing_of(sets: list[RankSet], nprocs: int) -> Sharing:
    """The sharing of one dump from the rank sets of its files."""
    if len(sets) == 1:
        ranks = sets[0].ranks
        if ranks is None or nprocs == 1:
            return Sharing(mode=SharingMode.SHARED)
        if len(ranks) == 1:
            return Sharing(mode=SharingMode.ROOT, ranks=[(ranks[0], ranks[0], 1)])
        return Sharing(mode=SharingMode.SUBSET, ranks=units.ranges_of(list(ranks)))
    everyone = sorted({r for s in sets for r in (s.ranks or ())})
    ranges = None if len(everyone) == nprocs else units.ranges_of(everyone)
    if all(s.size(nprocs) == 1 for s in sets):
        return Sharing(mode=SharingMode.PER_RANK, ranks=ranges)
    return Sharing(mode=SharingMode.GROUPS, files=len(sets), ranks=ranges)
