"""Operations whose sizes a log does not name: in so many sizes that those which it names stay the most frequent.

A record names the four most frequent sizes of its operations. Of the others a log has numbers and bytes by bins. Where
they are given one size, or two, these would be among the most frequent of a replica, and take the place of the named ones.
Ranks have tables of their own, which are merged to one, so that a named size must be among the first four of its ranks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from itertools import count as counting
from itertools import product

from workalike.characterize.contents.streams.sizes import BIN_BOUNDS, lower_bound, spread
from workalike.characterize.readings.changes import changed, with_contents
from workalike.characterize.readings.reading import Case, Reading
from workalike.darshan.bins import bin_of
from workalike.facts.counters import Pair
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.predict.determined import determined_of_log
from workalike.workload import units
from workalike.workload.model import Content, Entry, Family, Lifetime, Stream


def candidates(case: Case) -> Iterator[Family]:
    """Operations that the log does not name by size, in more sizes.

    The log names the most frequent sizes, so that others are at most as frequent as the last of them.
    """
    yield from _by_dump(case)
    log = case.evidence.log
    known = log.common["ACCESS"]
    if "ACCESS" not in log.cut or not known or case.family.content is None:
        return
    most = min(known.values()) // case.family.schedule.dumps
    for share in _shares():
        if most >= share:
            yield from changed(case.family, partial(sizes_spread, known=known, most=most // share))


def _by_dump(case: Case) -> Iterator[Family]:
    """By the records of each dump's own files."""
    family, facts = case.family, case.evidence.facts
    contents = family.all_contents()
    numbers = [family.content_number(dump) for dump in range(family.schedule.dumps)]
    own = family.lifetime is Lifetime.PER_DUMP and len(facts.dumps) == len(numbers)
    groups = [[place] for place in range(len(contents))] if own else [list(range(len(contents)))]
    for share, below in product(_shares(), (True, False)):
        made = list(contents)
        for group in groups:
            dumps = [dump for dump, number in enumerate(numbers) if number in group]
            log = case.evidence.log
            if own:
                files = [file for dump in dumps for file in facts.dumps[dump].files]
                log = determined_of_log(files, case.evidence.module)
            if "ACCESS" not in log.cut:
                continue
            named = log.common["ACCESS"]
            unnamed = Unnamed(named, [contents[numbers[dump]] for dump in dumps], share, below)
            for place in group:
                made[place] = unnamed.spread(contents[place], case.members)
        yield from with_contents(family, made)


def _shares() -> list[int]:
    """Parts of how often the log's least frequent size occurs, to which sizes that it does not name are tried."""
    return [1 << bit for bit in range(THRESHOLDS.synthesis_finer.bit_length())]


def sizes_spread(content: Content, known: Container[int], most: int) -> Content:
    """Operations of unknown sizes in as many sizes as it takes that none is more frequent than `most`.

    Args:
        content: what is changed.
        known: sizes that stay as they are: those that the log names.
        most: operations of one size.
    """

    def rarer(stream: Stream) -> Stream:
        sizes = []
        for entry in stream.sizes:
            if entry.size in known or entry.per_rank or entry.count <= most:
                sizes.append(entry)
            else:
                parts = spread(entry.count, entry.count * entry.size, known, most)
                sizes += [Entry(count=count, size=size) for count, size in parts]
        return stream.model_copy(update={"sizes": sizes})

    if any(stream.pieces > 1 or stream.stride for stream in content.streams):
        return content
    return content.model_copy(update={"streams": [rarer(stream) for stream in content.streams]})


class Unnamed:
    """Changes the contents of dumps of the same files.

    Args:
        named: operations by size, as the log names them, of all dumps.
        dumps: the content of each dump.
        share: operations of one unnamed size in a stream are fewer than a dump's of any named one by this factor.
        below: unnamed sizes are below the next larger named one: of equally frequent sizes, a record names the larger.
    """

    def __init__(self, named: Mapping[int, int], dumps: Sequence[Content], share: int, below: bool) -> None:
        self.named = named
        self.below = below
        self.most = (min(named.values(), default=0) // max(1, len(dumps)) - 1) // share
        have = Counter[int]()
        for content in dumps:
            for stream in content.streams:
                for entry in stream.sizes:
                    have[entry.size] += entry.count
        self.missing = {
            size: (count - have[size]) // len(dumps)
            for size, count in named.items()
            if count - have[size] >= len(dumps)
        }

    def spread(self, content: Content, nprocs: int) -> Content:
        """A content with its operations of unnamed sizes in as many sizes as it takes; bytes and bins stay.

        `nprocs` are the ranks of a stream that names none.
        """
        if not content.streams:
            return content
        if self.most < 1 or content.passes > 1 or not all(_can_change(stream) for stream in content.streams):
            return content
        pairs = [[(entry.count, entry.size) for entry in stream.sizes] for stream in content.streams]
        for size, count in self.missing.items():
            _take(pairs, size, count, self.named)
        streams = []
        for stream, of_stream in zip(content.streams, pairs, strict=True):
            members = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
            sizes = _from_the_first_rank(*self._split(of_stream), members)
            made = [Entry(count=count, size=size) for count, size in sizes]
            streams.append(stream.model_copy(update={"sizes": made}))
        return content.model_copy(update={"streams": streams})

    def _split(self, pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
        """The operations of named sizes (and empty ones), and the others, spread."""
        own = [pair for pair in pairs if pair[1] in self.named or not pair[1]]
        pools: dict[int, list[Pair]] = defaultdict(list)
        for count, size in pairs:
            if size and size not in self.named:
                pools[bin_of(size)].append((count, size))
        others: list[Pair] = []
        for pool in pools.values():
            if all(count <= self.most for count, _ in pool):
                others += pool
            else:
                total = sum(count * size for count, size in pool)
                others += spread_evenly(
                    sum(count for count, _ in pool), total, self.named, self.most, self.below
                )
        return own, others


def _can_change(stream: Stream) -> bool:
    return (
        stream.pieces == stream.repeat == 1
        and not stream.stride
        and not any(entry.per_rank for entry in stream.sizes)
    )


def _take(pairs: list[list[Pair]], size: int, missing: int, named: Mapping[int, int]) -> None:
    """Give `missing` operations of the largest unnamed group in the size's bin that size; the others keep the bytes."""
    index = bin_of(size)

    def unnamed(pair: Pair) -> bool:
        return bin_of(pair[1]) == index and pair[1] not in named

    stream = max(pairs, key=lambda of_stream: sum(pair[0] for pair in of_stream if unnamed(pair)))
    pool = [pair for pair in stream if unnamed(pair)]
    left = sum(count for count, _ in pool) - missing
    rest = sum(count * length for count, length in pool) - missing * size
    if left < 0 or not left * lower_bound(index) <= rest <= left * BIN_BOUNDS[index]:
        return
    others = split_even(rest, left) if left else []
    if not left and rest:
        return
    stream[:] = [pair for pair in stream if not unnamed(pair)] + [(missing, size), *others]


def _from_the_first_rank(own: Sequence[Pair], others: Sequence[Pair], members: int) -> list[Pair]:
    """Operations are dealt to the ranks in turn: what a size leaves over of a turn, others fill."""
    left = list(others)
    out: list[Pair] = []
    for count, size in sorted(own, key=lambda pair: (pair[1] != 0, -pair[0], pair[1])):
        out.append((count, size))
        room = -count % members
        while size and room and left:
            used = min(room, left[0][0])
            out.append((used, left[0][1]))
            left[0] = (left[0][0] - used, left[0][1])
            room -= used
            if not left[0][0]:
                left.pop(0)
    return out + left


def spread_evenly(
    operations: int, total: int, named: Mapping[int, int], most: int, below: bool
) -> list[Pair]:
    """(operations, size) with `total` bytes: successive sizes around the mean, equally frequent; a rest makes it exact.

    None is named; with `below` none is above the next larger named size.
    """
    mean = total // operations
    low, high = max(1, lower_bound(bin_of(mean))), BIN_BOUNDS[bin_of(mean)]
    if below:
        high = min([high, *(size - 1 for size in named if size > mean)])
    number = min(-(-operations // most), THRESHOLDS.spread_most, 2 * (high - mean) - 1, 2 * (mean - low) - 1)
    if number < 2:
        return split_even(total, operations)
    each = operations // number
    for taken in range(number, max(0, number - THRESHOLDS.spread_tried), -1):
        rest = operations - taken * each
        if not rest:
            continue
        sizes = _around(mean, taken, named)
        bytes_left = total - each * sum(sizes)
        if rest * low <= bytes_left <= rest * high:
            return [(each, size) for size in sizes] + split_even(bytes_left, rest)
    return split_even(total, operations)


def _around(mean: int, number: int, named: Mapping[int, int]) -> list[int]:
    """So many sizes nearest to the mean that are not named, ascending."""
    out: list[int] = []
    for distance in counting():
        for size in {mean - distance, mean + distance}:
            if size not in named and len(out) < number:
                out.append(size)
        if len(out) == number:
            return sorted(out)
    raise AssertionError("unreachable")


READING = Reading(
    id="sizes-spread",
    sentence="sizes: those that the log does not name are many (the predicted counters fit better)",
    evidence="How often the four most frequent sizes occur: no other is more frequent.",
    rank=170,
    candidates=candidates,
    off=("ACCESS",),
)
