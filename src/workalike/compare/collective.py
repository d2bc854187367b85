"""How many collective calls a plan's rules come to: all members of a file join every call of its fullest rank."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from workalike.plan import ranks as rank_sets
from workalike.plan.model import PlanFamily, Ranges
from workalike.workload.model import Level, SharingMode, Turns

MAX_FILES = 100_000  # files that are looked at one by one


def counted_together(family: PlanFamily) -> bool:
    """Whether the library counts calls of files that are opened by all members (docs/plan-format.md)."""
    if family.backend in ("null", "record"):
        return family.level not in (Level.POSIX, Level.STDIO)
    return family.backend in ("mpiio", "hdf5", "typhonio", "pnetcdf")


def opened_together(family: PlanFamily) -> bool:
    """Whether opens and syncs are done by all members as often as by one."""
    alone = family.sharing.mode in (SharingMode.PER_RANK, SharingMode.ROOT)
    return counted_together(family) and not alone and family.sharing.turns is not Turns.BATON


def files_of_dump(family: PlanFamily, ranks: int) -> int:
    """Into how many files one dump goes."""
    members = rank_sets.count(family.sharing.ranks, ranks)
    if family.sharing.mode is SharingMode.PER_RANK:
        return members
    return min(family.sharing.files, members) if family.sharing.mode is SharingMode.GROUPS else 1


def collective_calls(family: PlanFamily, stream: Ranges, counts: Sequence[int], ranks: int) -> int:
    """Calls over all members for operations of several entries split among the stream's ranks.

    Args:
        family: whose files they go to.
        stream: the ranks that have operations.
        counts: operations of each entry, each split for itself (T div n, the first T mod n one more).
        ranks: of the plan.
    """
    members = rank_sets.count(family.sharing.ranks, ranks)
    n = rank_sets.count(stream, ranks)
    files = files_of_dump(family, ranks)
    if files == 1:
        return members * sum(-(-count // n) for count in counts)
    if files == members or files > MAX_FILES:
        return sum(counts)  # a file of one rank has nobody to join
    return sum(
        size * sum(share(count, n, first) for count in counts)
        for size, first in _blocks(family, stream, files, ranks)
    )


def share(total: int, n: int, index: int) -> int:
    """Operations of rank `index` of n."""
    return total // n + (index < total % n)


def _blocks(family: PlanFamily, stream: Ranges, files: int, ranks: int) -> Iterator[tuple[int, int]]:
    """(members of a file, index of the stream's first rank in it) for files that the stream touches."""
    members, acting = _listed(family.sharing.ranks, ranks), _listed(stream, ranks)
    small, larger = divmod(len(members), files)
    at = 0
    for file in range(files):
        size = small + (file < larger)
        first = bisect_left(acting, members[at])
        past = bisect_left(acting, members[at + size]) if at + size < len(members) else len(acting)
        if past > first:
            yield size, first
        at += size


def _listed(ranges: Ranges, ranks: int) -> Sequence[int]:
    if ranges == "all":
        return range(ranks)
    return [rank for first, last, step in ranges for rank in range(first, last + 1, step)]
