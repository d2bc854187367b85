"""The plan's streams of a dump: its operations at the plan's ranks and bytes, and where in the file they begin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise

from workalike.plan import plan_schema as plan
from workalike.plan.blocks import BLOCK, in_blocks, in_bytes
from workalike.plan.contents import length_of
from workalike.plan.dump_scale import DumpScale, FamilyScale
from workalike.plan.placing import place_after, place_streams
from workalike.plan.scale import Pair, bytes_of, fit_bytes, scale_count, scale_pairs
from workalike.workload import model as wl
from workalike.workload import units


def resolve_streams(content: wl.Content, dump: DumpScale) -> list[plan.PlanStream]:
    """The streams of a content; those of a direct family are scaled in whole blocks."""
    blocks = in_blocks(content) if dump.scale.family.direct and dump.scaled else None
    if blocks is None:
        return _all_passes(content, dump)
    return in_bytes(_all_passes(blocks, replace(dump, held=dump.held // BLOCK)))


def _all_passes(content: wl.Content, dump: DumpScale) -> list[plan.PlanStream]:
    """The streams of a content, those of one pass after the other."""
    passes = zip(*(_cut(moved, content.passes) for moved in _scaled_bytes(content, dump)[0]), strict=True)
    return [stream for targets in passes for stream in _one_pass(content, targets, dump)]


def with_buffered(
    streams: list[plan.PlanStream], content: wl.Content, dump: DumpScale
) -> list[plan.PlanStream]:
    """The streams of a dump with its buffered ones: writes among the writes before a first read, the rest at the end."""
    if not content.buffered:
        return streams
    scale = dump.scale
    own: list[plan.PlanStream] = []
    free = [False] * len(streams)
    for stream, moved in zip(content.buffered, _scaled_bytes(content, dump)[1], strict=True):
        parts = _repeated(stream, moved, dump)
        for part, seeks, flushes in zip(
            parts, _cut(stream.seeks, len(parts)), _cut(stream.flushes, len(parts)), strict=True
        ):
            part.buffered = "name" if stream.by_name else "descriptor"
            part.buffer_seeks = scale_count(seeks, scale.factor) or None
            part.buffer_flushes = scale_count(flushes, scale.by_members) or None
        own += parts
        free += [stream.base is None or k > 0 for k in range(len(parts))]
    all_streams = [*streams, *own]
    lengths = [length_of(s, scale.share_in_one_file(s), scale.count(s.ranks)) for s in all_streams]
    place_after(all_streams, lengths, free, own_files=scale.own_files)
    directions = [s.direction for s in streams]
    first_read = len(streams)
    if directions[:1] == [wl.Direction.WRITE] and wl.Direction.READ in directions:
        first_read = directions.index(wl.Direction.READ)
    writes = [s for s in own if s.direction is wl.Direction.WRITE]
    reads = [s for s in own if s.direction is wl.Direction.READ]
    return [*streams[:first_read], *writes, *streams[first_read:], *reads]


def _one_pass(content: wl.Content, targets: Sequence[int], dump: DumpScale) -> list[plan.PlanStream]:
    """The streams of one pass; `targets` are the scaled bytes of each stream of the workload."""
    scale = dump.scale
    streams: list[plan.PlanStream] = []
    free: list[bool] = []
    for stream, moved in zip(content.streams, targets, strict=True):
        repeated = _repeated(stream, moved, dump)
        streams += repeated
        free += [stream.base is None or k > 0 for k in range(len(repeated))]
    lengths = [
        length_of(stream, scale.share_in_one_file(stream), scale.count(stream.ranks)) for stream in streams
    ]
    if scale.places_are_known(bool(content.arrays)):
        place_streams(streams, lengths, free, dump.held, own_files=scale.own_files)
    else:
        place_after(streams, lengths, free, own_files=scale.own_files)
    return streams


def _repeated(stream: wl.Stream, moved: int, dump: DumpScale) -> list[plan.PlanStream]:
    """The plan's streams for one stream of the workload, one per repetition, which move `moved` bytes together.

    Scaling by count drops repetitions first.
    """
    scale = dump.scale
    ranges = scale.ranks_within(stream.ranks)
    members = scale.count(ranges)
    pairs = _pairs(stream, scale)
    repeats = stream.repeat
    by_bytes = scale.factor / scale.weak  # with fewer ranks alone, each rank keeps all of its operations
    if scale.options.scale_by == "count" and by_bytes < 1:
        repeats = max(1, round(repeats * by_bytes))
    streams = []
    for part in _cut(moved, repeats):
        grown = pairs
        if dump.grown != 1:  # growth changes sizes, and scaling what `scale_by` names
            unscaled = round(Fraction(moved, stream.repeat) / scale.factor)
            grown = fit_bytes(pairs, part if scale.factor == 1 else unscaled or part)
        entries = _entries(grown, part, members, scale)
        streams.append(
            plan.PlanStream(
                ranks=ranges,
                direction=stream.direction,
                pattern=stream.pattern,
                collective=stream.collective,
                nonblocking=stream.nonblocking or None,
                base=round((stream.base or 0) * dump.grown * scale.factor),
                entries=entries,
                mixed=stream.mixed,
                stride=_round(stream, scale, entries, members)
                if stream.pattern is wl.Pattern.INTERLEAVED
                else _stride(stream.stride, pairs, entries),
                # Scaled sizes may no longer be cut into as many equal pieces.
                pieces=math.gcd(stream.pieces, *(size for _, size in entries)) if stream.pieces > 1 else 1,
            )
        )
    return streams


def _entries(pairs: list[Pair], target: int, members: int, scale: FamilyScale) -> list[Pair]:
    """One repetition's operations by `members` ranks of the plan, which move exactly `target` bytes."""
    moved = bytes_of(pairs)
    if target == moved and scale.factor == 1:
        return pairs
    by = scale.options.scale_by
    if moved == 0:
        return [
            (scale_count(count, scale.weak if by == "size" else scale.factor), size) for count, size in pairs
        ]
    if by == "size" and scale.weak != 1:  # more ranks do more operations, whatever --bytes-scale lowers
        grown = scale_pairs(pairs, scale.weak, members, "count")
        if bytes_grown := bytes_of(grown):
            pairs, moved = grown, bytes_grown
    return scale_pairs(pairs, Fraction(target, moved), members, by)


def _stride(stride: int, before: list[Pair], after: list[Pair]) -> int:
    """The scaled stride: holes shrink with the operations (docs/reference/terms.md#scaling)."""
    if not stride:
        return 0
    old, new = (max(pairs, key=lambda p: p[0] * p[1])[1] for pairs in (before, after))
    return max(round(Fraction(stride * new, old)) if old else stride, *(size for _, size in after))


def _round(stream: wl.Stream, scale: FamilyScale, entries: list[Pair], members: int) -> int:
    """The scaled distance of rounds, in shares of a round's bytes; 0 where they are no longer whole and of one size."""
    if not stream.stride or len(entries) != 1 or entries[0][0] % members:
        return 0
    pieces = math.gcd(stream.pieces, entries[0][1])
    ranks = scale.old_members if stream.ranks is None else units.count_ranks(stream.ranks)
    before, after = stream.sizes[0].size * ranks, entries[0][1] * members
    if not before:  # reads that return nothing
        return stream.stride
    return max(round(Fraction(stream.stride * after, before)), after if pieces > 1 else entries[0][1])


def _scaled_bytes(content: wl.Content, dump: DumpScale) -> tuple[list[int], list[int]]:
    """Scaled bytes of each stream with all its passes and repetitions, and of each buffered one.

    Their sum is exactly round(bytes x factor).

    Where the family states the dump's bytes, the streams keep their shares of them.
    """
    passes = [content.passes] * len(content.streams) + [1] * len(content.buffered)
    stated = [
        n * s.repeat * bytes_of(_pairs(s, dump.scale))
        for n, s in zip(passes, content.all_streams, strict=True)
    ]
    # Cumulative rounding gives each stream its share of the target, and an exact sum.
    ends = [round(end * dump.grown * dump.scale.factor) for end in accumulate(stated, initial=0)]
    out = [end - begin for begin, end in pairwise(ends)]
    for write, read in _read_back(content.streams):
        # Of an odd number of bytes the read has the smaller half, so that it finds what was written.
        both = out[write] + out[read]
        out[write], out[read] = both - both // 2, both // 2
    return out[: len(content.streams)], out[len(content.streams) :]


def _pairs(stream: wl.Stream, scale: FamilyScale) -> list[Pair]:
    """(operations, size) pairs of a stream over all of its ranks in the workload."""
    members = scale.old_members if stream.ranks is None else units.count_ranks(stream.ranks)
    return [(entry.total(members), entry.size) for entry in stream.sizes]


def _cut(total: int, parts: int) -> list[int]:
    """`total` bytes in parts that differ by at most one byte."""
    return [total * (k + 1) // parts - total * k // parts for k in range(parts)]


def _read_back(streams: Sequence[wl.Stream]) -> list[tuple[int, int]]:
    """Pairs of streams, of which the second reads what the first has written."""
    written: dict[str, int] = {}
    pairs = []
    for i, stream in enumerate(streams):
        key = stream.model_dump_json(exclude={"direction"})
        if stream.direction is wl.Direction.WRITE:
            written[key] = i
        elif key in written:
            pairs.append((written.pop(key), i))
    return pairs
