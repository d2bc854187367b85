"""The content of each event: streams or arrays, and the calls that move no data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from workalike.characterize.contents.arrays.arrays import build_arrays, share_arrays
from workalike.characterize.contents.arrays.dataspace import KnownExtents
from workalike.characterize.contents.streams.bytes_by_size import sizes_are_reported
from workalike.characterize.contents.streams.streams import build_streams
from workalike.characterize.grouping.events import Event, metadata_of_event, shared_out
from workalike.characterize.grouping.growth import apportion
from workalike.characterize.grouping.states import States
from workalike.facts.counters import Pair
from workalike.facts.levels import WITH_DATASETS
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.traces import Traces
from workalike.plan.scale import fit_bytes
from workalike.workload import units
from workalike.workload.content import Arrays
from workalike.workload.model import Assumption, Content, Direction, Entry, Interface, Level, Stream


def content_of_event(
    event: Event, nprocs: int, known: KnownExtents, traces: Traces
) -> tuple[Content, list[Assumption]]:
    """The content of one event, and what was assumed."""
    level = event.files[0].level
    files = [d.file for d in event.files]
    content = metadata_of_event(event)
    if not event.directions and not content.opens:
        content.seeks = 0  # in a descriptor that the process inherited
    if level is Level.MPIIO and Direction.WRITE not in event.directions:
        content.fsyncs = 0  # MPI syncs no file that is only read: another family of the file writes it
    assumed: list[Assumption] = []
    if level in WITH_DATASETS:
        built = build_arrays(files, 1, known, level)
        if built is not None:
            content.arrays, assumptions = built
            content.arrays = of_directions(content.arrays, event.directions)
            return content, assumptions
    for direction in event.directions:
        traced = traces.of_files(files, level, direction)
        streams, assumptions = build_streams(files, level, direction, nprocs, traced)
        content.streams += streams
        assumed += assumptions
    return content, list(dict.fromkeys(assumed))


def of_directions(arrays: Sequence[Arrays], directions: Collection[Direction]) -> list[Arrays]:
    """The datasets with the accesses of some directions alone.

    A dataset is known by its place in the list, so that what is read back is what was written: those without
    such an access stay in the list, up to the last one that has one.
    """
    out = [
        a.model_copy(update={"access": [access for access in a.access if access.direction in directions]})
        for a in arrays
    ]
    while out and not out[-1].access:
        out.pop()
    return out


def contents_of_states(
    event: Event, states: States, nprocs: int, known: KnownExtents, traces: Traces
) -> tuple[list[Content], list[Assumption]]:
    """The contents of the states of one file: by the trace where there is one, else operations shared out evenly.

    Where sizes of operations are known (of STDIO by the side file alone), every state has the same small operations.
    Larger operations go to the states in order of size, so that counts, bytes and histogram stay those of the file.
    """
    level = event.files[0].level
    files = [d.file for d in event.files]
    count = len(states.intervals)
    contents = shared_out(metadata_of_event(event), count, opens_once=True)
    if level in WITH_DATASETS:
        built = build_arrays(files, count, known, level)
        if built is not None and all(a.extendible for a in built[0]):
            for content, arrays in zip(contents, share_arrays(built[0], count), strict=True):
                content.arrays = arrays
            return contents, built[1]
    assumed: list[Assumption] = []
    for direction in event.directions:
        trace = (
            traces.of_file(files[0], level, direction)
            if direction is Direction.WRITE and states.cut
            else None
        )
        if trace is not None:
            for content, (first, last) in zip(contents, states.cut, strict=True):
                streams, assumptions = build_streams(
                    files, level, direction, nprocs, [trace.part(first, last)]
                )
                content.streams += [stream.model_copy(update={"base": None}) for stream in streams]
                assumed += assumptions
        else:
            streams, assumptions = build_streams(files, level, direction, nprocs)
            if level is not Level.STDIO:
                streams = passes_as_one(streams, count)
            if event.files[0].interface is Interface.PNETCDF and direction is Direction.WRITE:
                header, streams = header_apart(streams, count, nprocs)
                contents[0].streams += header
            sized = level is not Level.STDIO or sizes_are_reported(files[0].modules["STDIO"], direction)
            _share_streams(contents, streams, states.sizes or [1] * count, nprocs, level, sized)
            assumed += [*assumptions, Assumption.STATE_SIZES]
    return contents, list(dict.fromkeys(assumed))


def passes_as_one(streams: list[Stream], states: int) -> list[Stream]:
    """Streams that go over the same bytes again, as one, if the states can share them equally: each has a pass.

    Small operations (a header) that they cannot share come first, on their own.
    """
    if all(stream.base is None for stream in streams):
        return streams
    merged: dict[str, Stream] = {}
    for stream in streams:
        key = stream.model_dump_json(exclude={"base", "sizes"})
        sizes = Counter[tuple[int, bool]]()
        for entry in [*(merged[key].sizes if key in merged else ()), *stream.sizes]:
            sizes[entry.size, entry.per_rank] += entry.count
        entries = [Entry(count=count, size=size, per_rank=each) for (size, each), count in sizes.items()]
        merged[key] = stream.model_copy(update={"base": None, "sizes": entries})
    odd: list[Stream] = []
    for key, stream in merged.items():
        uneven = [entry for entry in stream.sizes if entry.count % states]
        if any(entry.size > THRESHOLDS.small_operation for entry in uneven):
            return streams
        if uneven:
            odd.append(stream.model_copy(update={"sizes": uneven}))
            merged[key] = stream.model_copy(update={"sizes": [e for e in stream.sizes if e not in uneven]})
    return odd + [stream for stream in merged.values() if stream.sizes]


def header_apart(streams: Sequence[Stream], states: int, nprocs: int) -> tuple[list[Stream], list[Stream]]:
    """(what is written once, what every state has): PnetCDF writes a file's header when its definition ends.

    One rank writes it, in operations that are fewer than the states.
    """
    once: list[Stream] = []
    always: list[Stream] = []
    for stream in streams:
        n = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
        alone = n == 1 < nprocs and not stream.collective
        few = [entry for entry in stream.sizes if alone and stream.repeat * entry.total(n) < states]
        for entries, out in ((few, once), ([e for e in stream.sizes if e not in few], always)):
            if entries:
                out.append(stream.model_copy(update={"sizes": entries}))
    return once, always


def _share_streams(
    contents: Sequence[Content],
    streams: Sequence[Stream],
    sizes: Sequence[int],
    nprocs: int,
    level: Level,
    known: bool,
) -> None:
    alike = max(sizes) - min(sizes) <= 1  # equal parts of all bytes
    # Dumps of equal bytes are in order of time: where calls show that they differ, files grow.
    order = sorted(range(len(sizes)), key=lambda k: 0 if level is Level.STDIO and alike else sizes[k])
    ascending = [sizes[k] for k in order]
    for stream in streams:
        if alike and stream.repeat >= len(sizes) > 1:
            # Each state has whole repetitions; a share of each repetition would be other operations.
            shares = apportion(stream.repeat, [1.0] * len(sizes))
            for content, share in zip(contents, shares, strict=True):
                content.streams.append(stream.model_copy(update={"repeat": share, "base": None}))
            continue
        if stream.collective and stream.repeat > 1:  # the calls are shared out, not the ranks of each call
            calls = [e.model_copy(update={"count": e.count * stream.repeat}) for e in stream.sizes]
            stream = stream.model_copy(update={"repeat": 1, "sizes": calls})
        for place, pairs in zip(order, cut_stream(stream, ascending, nprocs, level, known), strict=True):
            if pairs:
                entries = [Entry(count=c, size=s) for c, s in pairs]
                contents[place].streams.append(stream.model_copy(update={"sizes": entries, "base": None}))


def cut_stream(
    stream: Stream, sizes: Sequence[int], nprocs: int, level: Level, known: bool
) -> list[list[Pair]]:
    """The stream's operations for each state. The states' sizes ascend.

    Where the sizes of operations are not `known`, each state has exactly its bytes.
    """
    n = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
    pairs = sorted(((e.total(n), e.size) for e in stream.sizes), key=lambda p: p[1])
    if not known:
        return _in_proportion(pairs, sizes)
    if level is Level.STDIO:
        return _largest_first(pairs, sizes, n)
    if stream.collective:
        return _whole_calls(pairs, sizes, n)
    metadata = [
        [(c, size) for c in apportion(count, [1.0] * len(sizes))]
        for count, size in pairs
        if size <= THRESHOLDS.small_operation
    ]
    large = [pair for pair in pairs if pair[1] > THRESHOLDS.small_operation]
    shares = apportion(_operations(large), [1.0] * len(sizes))
    out = [[part[k] for part in metadata if part[k][0]] for k in range(len(sizes))]
    for state, operations in zip(out, shared_by_size(large, shares, sizes), strict=True):
        state += operations
    return out


def _operations(pairs: Sequence[Pair]) -> int:
    return sum(count for count, _ in pairs)


def _largest_first(pairs: Sequence[Pair], sizes: Sequence[int], ranks: int) -> list[list[Pair]]:
    """Small operations in equal numbers; each larger one, from the largest down, for the state that lacks most bytes.

    A dump is a header, the same in all dumps, and data that grow. Operations that all ranks have stay together.
    """
    together = ranks if all(count % ranks == 0 for count, _ in pairs) else 1
    least = THRESHOLDS.small_operation if pairs[-1][1] > THRESHOLDS.small_operation else 0
    total = sum(count * size for count, size in pairs)
    parts = [1] * len(sizes) if max(sizes) - min(sizes) <= 1 else [size or 1 for size in sizes]
    lacks = [total * part / sum(parts) for part in parts]
    out: list[list[Pair]] = [[] for _ in sizes]
    for count, size in reversed(pairs):
        if size <= least:
            shares = apportion(count // together, [1.0] * len(sizes))
        else:
            shares = _dealt(count // together, size * together, lacks)
        for state, share in zip(out, shares, strict=True):
            if share:
                state.insert(0, (share * together, size))
    return out


def _dealt(operations: int, size: int, lacks: list[float]) -> list[int]:
    """The operations of one size for each state, which lack fewer bytes then; of equal ones the last state has more."""
    if operations >= len(lacks):
        shares = apportion(operations, [max(0.0, missing) for missing in lacks])
    else:
        shares = [0] * len(lacks)
        for _ in range(operations):
            most = max(range(len(lacks)), key=lambda k: (lacks[k] - shares[k] * size, k))
            shares[most] += 1
    for k, share in enumerate(shares):
        lacks[k] -= share * size
    return shares


def _in_proportion(pairs: Sequence[Pair], sizes: Sequence[int]) -> list[list[Pair]]:
    """An equal number of operations for each state, with bytes in proportion to the states' sizes."""
    total = sum(count * size for count, size in pairs)
    shares = apportion(_operations(pairs), [1.0] * len(sizes))
    # A state without operations has no bytes.
    bytes_of = apportion(
        total, [float(size or 1) if share else 0.0 for size, share in zip(sizes, shares, strict=True)]
    )
    size = max(1, total // max(1, sum(shares)))
    return [
        (fit_bytes([(share, size)], b) if b else [(share, 0)]) if share else []
        for share, b in zip(shares, bytes_of, strict=True)
    ]


def _whole_calls(pairs: Sequence[Pair], sizes: Sequence[int], ranks: int) -> list[list[Pair]]:
    """An equal number of collective calls for each state, with empty operations (of ranks that only join) spread evenly."""
    data = [pair for pair in pairs if pair[1]]
    calls = apportion(-(-_operations(pairs) // ranks), [1.0] * len(sizes))
    full = [number * ranks for number in calls]
    shares = apportion(_operations(data), [float(number) for number in full])
    return [
        ([(room - share, 0)] if room > share else []) + operations
        for operations, room, share in zip(shared_by_size(data, shares, sizes), full, shares, strict=True)
    ]


def shared_by_size(pairs: Sequence[Pair], shares: Sequence[int], sizes: Sequence[int]) -> list[list[Pair]]:
    """`shares[k]` operations for state k, of such sizes that its bytes are near to its part of all bytes.

    The states' sizes ascend. All operations are used, so counts, bytes and histogram stay those of the whole.
    """
    left = {size: count for count, size in pairs}
    total = sum(size * count for size, count in left.items())
    targets = apportion(
        total, [float(size or 1) if n else 0.0 for size, n in zip(sizes, shares, strict=True)]
    )
    return [_mixed(left, share, target) for share, target in zip(shares, targets, strict=True)]


def _mixed(left: dict[int, int], operations: int, target: int) -> list[Pair]:
    """Take operations out of `left`, of the sizes next to the average that the target still needs."""
    taken: Counter[int] = Counter()
    while operations and left:
        average = target / operations
        small = max((s for s in left if s <= average), default=None)
        large = min((s for s in left if s > average), default=None)
        if small is None or large is None:
            size = large if large is not None else small
            assert size is not None
            wanted = {size: operations}
        else:
            large_count = min(operations, max(0, round((target - operations * small) / (large - small))))
            wanted = {large: large_count, small: operations - large_count}
        for size, number in wanted.items():
            used = min(number, left[size])
            if used:
                taken[size] += used
                operations -= used
                target -= used * size
                left[size] -= used
                if not left[size]:
                    del left[size]
    return sorted((count, size) for size, count in taken.items())
