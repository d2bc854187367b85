"""Which ranks wrote into which files: rank sets, effective writers, sharing."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from workalike.facts.counters import bytes_name, operations_of
from workalike.facts.plausible import plausible_stamps
from workalike.facts.rank_sets import RankSet
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload import units
from workalike.workload.model import Direction, Level, Sharing, SharingMode, Turns


def effective_writers(facts: ModuleFacts, nprocs: int, total_bytes: int) -> float:
    """How many of n ranks share B bytes: n / (1 + var n^2 / B^2) (docs/reference/reading-counters.md#rank-set).

    The result is n where the variance is missing or impossible. The deviations of several datasets are added, as if the
    same ranks had written all of them.
    """
    deviation = _deviation_of(facts)
    if nprocs <= 1 or total_bytes <= 0 or deviation is None:
        return float(nprocs)
    relative = deviation / total_bytes * nprocs
    return max(1.0, nprocs / (1 + relative * relative))


def _deviation_of(facts: ModuleFacts) -> float | None:
    """Standard deviation of the ranks' bytes, read and written, in a reduced record; None where it is not known."""
    reduced = facts.ranks < 0
    if not reduced.any() or not facts.has("F_VARIANCE_RANK_BYTES"):
        return None
    variances = facts.fcolumn("F_VARIANCE_RANK_BYTES")[reduced]
    if not np.isfinite(variances).all() or (variances < 0).any():
        return None
    return sum(math.sqrt(v) for v in variances.tolist())


def root_of(
    facts: ModuleFacts, nprocs: int, directions: Collection[Direction] = tuple(Direction)
) -> int | None:
    """The one rank that moved everything in these directions, if the variance says that there is one."""
    total = facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN")
    if nprocs < 2 or effective_writers(facts, nprocs, total) >= min(THRESHOLDS.root_writers, nprocs):
        return None
    if any(shared_alike(facts, direction, nprocs) for direction in directions):
        return None
    for rank_counter in ("SLOWEST_RANK", "FASTEST_RANK"):
        if (
            facts.largest(f"{rank_counter}_BYTES") >= THRESHOLDS.root_bytes * total
            and facts.largest(rank_counter) < nprocs
        ):
            return facts.largest(rank_counter)
    return 0


def shared_alike(facts: ModuleFacts, direction: Direction, nprocs: int) -> bool:
    """Whether all ranks move the same in a direction, though the variance speaks of one rank.

    The variance is that of reads and writes together: where one rank writes much and every rank reads a little, it is
    that of the writes. And that of some old logs is wrong: a rank that moved its equal share contradicts it.
    """
    moved = facts.total(bytes_name(direction))
    total = facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN")
    deviation = _deviation_of(facts)
    if not moved or not deviation or moved % nprocs or operations_of(facts, direction) % nprocs:
        return False
    if moved == total:
        return any(
            facts.largest(f"{who}_BYTES") * nprocs == total for who in ("FASTEST_RANK", "SLOWEST_RANK")
        )
    # Of one rank that moves some bytes, beside what everybody moves equally.
    alone, alike = (size * math.sqrt(nprocs - 1) / nprocs for size in (total, total - moved))
    return abs(deviation - alike) < abs(deviation - alone)


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


def sharing_of_family(
    layers: Sequence[Sharing], nprocs: int, opens: Sequence[int]
) -> list[tuple[Sharing, list[int]]]:
    """The sharings of a family's dumps brought together, as (sharing, indices of the dumps that have it).

    A dump that another single rank wrote is not of another family, nor is one with fewer ranks, unless each rank has files
    of its own and there are fewer `opens` (of all files of each dump) than ranks: all ranks of a family open a file.
    """
    modes = {s.mode for s in layers}
    roots = {str(s.ranks) for s in layers if s.mode is SharingMode.ROOT}
    kind_of_root = SharingMode.ROOT  # the mode that files of a single rank are counted to
    if SharingMode.PER_RANK in modes:
        kind_of_root = SharingMode.PER_RANK
    elif SharingMode.SUBSET in modes or len(roots) > 1:
        kind_of_root = SharingMode.SUBSET
    groups: dict[tuple[SharingMode, int], list[int]] = {}
    for number, sharing in enumerate(layers):
        kind = kind_of_root if sharing.mode is SharingMode.ROOT else sharing.mode
        groups.setdefault((kind, sharing.files), []).append(number)
    return [
        (_union([layers[i] for i in part], mode, nprocs), part)
        for (mode, _), which in groups.items()
        for part in (_by_ranks(layers, which, nprocs, opens) if mode is SharingMode.PER_RANK else [which])
    ]


def _by_ranks(
    layers: Sequence[Sharing], which: list[int], nprocs: int, opens: Sequence[int]
) -> list[list[int]]:
    """Dumps of files of single ranks by the ranks that take part; all together where opens or sets are too many."""
    union = _union([layers[i] for i in which], SharingMode.PER_RANK, nprocs).ranks
    members = nprocs if union is None else units.count_ranks(union)
    if sum(opens[i] for i in which) >= THRESHOLDS.rank_sets_opens * members * len(which):
        return [which]
    parts: dict[str, list[int]] = {}
    for number in which:
        parts.setdefault(str(layers[number].ranks), []).append(number)
    return list(parts.values()) if len(parts) <= THRESHOLDS.rank_sets_most else [which]


def _union(sharings: Sequence[Sharing], mode: SharingMode, nprocs: int) -> Sharing:
    first = sharings[0]
    if all(s == first for s in sharings):
        return first
    if any(s.ranks is None for s in sharings):
        return first.model_copy(update={"mode": mode, "ranks": None})
    ranks = sorted({r for s in sharings for a, b, step in s.ranks or [] for r in range(a, b + 1, step)})
    if len(ranks) == nprocs:
        return first.model_copy(
            update={"mode": SharingMode.SHARED if mode is SharingMode.SUBSET else mode, "ranks": None}
        )
    return first.model_copy(update={"mode": mode, "ranks": units.ranges_of(ranks)})


def turns_of(files: Sequence[FileFacts], level: Level, latest: float) -> Turns:
    """Whether the ranks of a file open, use and close it one after the other (MACSio's MIF) or concurrently."""
    module = MODULE_OF_LEVEL[level]
    facts = [file.modules[module] for file in files if module in file.modules]
    shared = [f for f in facts if len(f.ranks) > 1]
    if not shared:
        return Turns.CONCURRENT
    in_turn = sum(_one_after_the_other(f, latest) for f in shared)
    return Turns.BATON if in_turn >= THRESHOLDS.baton_share * len(shared) else Turns.CONCURRENT


def _one_after_the_other(facts: ModuleFacts, latest: float) -> bool:
    if not facts.has("F_OPEN_START_TIMESTAMP"):
        return False
    opens, closes = facts.fcolumn("F_OPEN_START_TIMESTAMP"), facts.fcolumn("F_CLOSE_END_TIMESTAMP")
    if min(len(plausible_stamps(opens, latest)), len(plausible_stamps(closes, latest))) < len(facts.ranks):
        return False
    order = np.argsort(opens, kind="stable")
    return bool((opens[order][1:] >= closes[order][:-1]).all())
