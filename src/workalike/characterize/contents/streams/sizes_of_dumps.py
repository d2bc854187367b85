"""Dumps that differ only in size: one content and a list of sizes, instead of one content per dump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workalike.darshan.bins import bin_of
from workalike.facts.counters import Pair
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import fit_bytes
from workalike.workload import units
from workalike.workload.model import Content, Direction, Level, Stream


def series_of(
    contents: Sequence[Content], level: Level, members: int, *, own_files: bool = False
) -> tuple[Content, list[int]] | None:
    """(the content, the bytes of each dump), if the dumps differ only in size; else None.

    A replica scales the sizes of operations. It is None where scaled sizes would be in other bins of the histogram, and with
    `own_files` of the ranks where these would no longer be equally large.
    """
    if len(contents) < THRESHOLDS.series_least or any(c.arrays or c.fit or not c.streams for c in contents):
        return None
    if len({_shape(content) for content in contents}) > 1:
        return None
    counts = [tuple(_operations(pairs) for pairs in _pairs(content, members)) for content in contents]
    usual = Counter(counts).most_common(1)[0][0]
    base = contents[counts.index(usual)]
    total = sum(map(sum, counts))
    if abs(total - len(contents) * sum(usual)) > THRESHOLDS.series_operations * total:
        return None
    sizes = [sum(content.moved(members, d) for d in Direction) for content in contents]
    if min(sizes) <= 0 or len(set(sizes)) == 1:
        return None
    pattern = _pairs(base, members)
    exact = level is Level.STDIO  # it has no histogram
    follows = all(
        _follows(pattern, _pairs(content, members), exact, members if own_files else 1)
        for content in contents
        if content is not base
    )
    return (base, sizes) if follows else None


def _shape(content: Content) -> str:
    """A content without the sizes of its operations, as text."""
    streams = [stream.model_dump_json(exclude={"sizes"}) for stream in content.streams]
    return content.model_dump_json(exclude={"streams"}) + "".join(streams)


def _pairs(content: Content, members: int) -> list[list[Pair]]:
    return [_pairs_of(stream, members) for stream in content.streams]


def _pairs_of(stream: Stream, members: int) -> list[Pair]:
    n = members if stream.ranks is None else units.count_ranks(stream.ranks)
    return [(stream.repeat * e.total(n), e.size) for e in stream.sizes]


def _operations(pairs: Sequence[Pair]) -> int:
    return sum(count for count, _ in pairs)


def _bytes(pairs: Sequence[Pair]) -> int:
    return sum(count * size for count, size in pairs)


def _follows(pattern: list[list[Pair]], dump: list[list[Pair]], exact: bool, files: int) -> bool:
    """Whether the pattern, scaled to the dump's bytes, has the dump's shares of streams and its histogram.

    Operations that all of so many files have alike must still be so.
    """
    whole, wanted = sum(map(_bytes, pattern)), sum(map(_bytes, dump))
    for scaled, actual in zip(pattern, dump, strict=True):
        share = _bytes(scaled) * wanted / whole
        if abs(share - _bytes(actual)) >= 1:
            return False
        made = fit_bytes(scaled, round(share))
        if _are_alike(actual, files) and not _are_alike(made, files):
            return False
        if not exact and _histogram(made) != _histogram(actual):
            return False
    return True


def _are_alike(pairs: Sequence[Pair], files: int) -> bool:
    return all(count % files == 0 for count, _ in pairs)


def _histogram(pairs: Sequence[Pair]) -> Counter[int]:
    """Operations by bin of their size."""
    histogram: Counter[int] = Counter()
    for count, size in pairs:
        histogram[bin_of(size)] += count
    return histogram
