"""When ranks move a library's metadata: HDF5 reads it before the data, and writes it after.

Counters do not have the order of operations, so streams begin as sizes are found. Two things show more: that operations
are smaller than all of HDF5's datasets; and, in a file whose data all ranks write collectively, that each rank with
independent writes ends later than all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate

from workalike.characterize.readings.evidence import evidence_of
from workalike.characterize.readings.loss import Loss, size_of
from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import MetadataRule
from workalike.darshan.bins import bin_of
from workalike.errors import WorkalikeError
from workalike.facts.counters import histogram_names
from workalike.facts.jobs import JobFacts
from workalike.facts.records import FileFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.resolve import Options, resolve
from workalike.workload import units
from workalike.workload.model import Content, Direction, Family, Level, Stream, Turns, Workload

IsMetadata = Callable[[Stream], bool]


def metadata_ordered(facts: FamilyFacts, job: JobFacts) -> FamilyFacts:
    """The family with its metadata read before the data and written after, where the log shows which that is."""
    family = facts.family
    if family.counted_at is not Level.MPIIO or family.sharing.turns is Turns.BATON:
        return facts
    orders = [_order(content, facts.files(), job.nprocs) for content in family.all_contents()]
    if all(order == sorted(order) for order in orders):
        return facts
    changed = _in_order(family, orders, job.nprocs)
    if changed is None or _fits_worse(facts, changed, job):
        return facts
    return replace(facts, family=changed, rules=[*facts.rules, by(MetadataRule.METADATA_APART)])


def _order(content: Content, files: Sequence[FileFacts], nprocs: int) -> list[int]:
    """The places of the content's streams in that order; as they are where nothing shows which ones are metadata."""
    order = list(range(len(content.streams)))
    for direction in Direction if content.passes == 1 else ():
        places = [place for place, stream in enumerate(content.streams) if stream.direction is direction]
        metadata = _metadata_in([content.streams[place] for place in places], direction, files, nprocs)
        if metadata is None:
            continue
        last = direction is Direction.WRITE
        moved = sorted(places, key=lambda place: metadata(content.streams[place]) is last)
        for place, taken in zip(places, moved, strict=True):
            order[place] = taken
    return order


def _metadata_in(
    streams: Sequence[Stream], direction: Direction, files: Sequence[FileFacts], nprocs: int
) -> IsMetadata | None:
    """Which streams of a direction are metadata; None where nothing shows it."""
    smallest = _smallest_bin(files, direction)
    moved = sum(_bytes_of(stream, nprocs) for stream in streams)

    def below(stream: Stream) -> bool:
        return max(bin_of(entry.size) for entry in stream.sizes) < smallest

    small = sum(_bytes_of(stream, nprocs) for stream in streams if below(stream))
    if 0 < small <= (1 - THRESHOLDS.level_explains) * moved:
        return below
    collective = any(stream.collective for stream in streams)
    if collective and direction is Direction.WRITE and all(map(_independent_end_last, files)):
        return lambda stream: not stream.collective
    return None


def _smallest_bin(files: Sequence[FileFacts], direction: Direction) -> int:
    """The bin of the smallest operations of HDF5's datasets; 0 where it has none, or not all are known."""
    datasets = [file.modules.get("H5D") for file in files]
    known = [facts for facts in datasets if facts is not None and not facts.partial]
    if len(known) < len(files):
        return 0
    names = histogram_names("H5D", direction)
    used = [place for place, name in enumerate(names) if any(facts.total(name) for facts in known)]
    return min(used, default=0)


def _bytes_of(stream: Stream, nprocs: int) -> int:
    ranks = nprocs if stream.ranks is None else units.count_ranks(stream.ranks)
    return stream.repeat * sum(entry.total(ranks) * entry.size for entry in stream.sizes)


def _independent_end_last(file: FileFacts) -> bool:
    """Whether each rank with independent writes of a file ends later than all ranks that only write together."""
    facts = file.modules.get("MPI-IO")
    if facts is None or (facts.ranks < 0).any():
        return False
    alone = facts.column("INDEP_WRITES") > 0
    together = (facts.column("COLL_WRITES") > 0) & ~alone
    if not alone.any() or not together.any():
        return False
    ends = facts.fcolumn("F_WRITE_END_TIMESTAMP")
    return bool(ends[alone].min() > ends[together].max() > 0)


def _in_order(family: Family, orders: Sequence[Sequence[int]], nprocs: int) -> Family | None:
    """The family with the streams of each content in another order; None where it cannot be planned.

    A stream begins in the file after the earlier ones, unless it says where: the order shall not move any.
    """
    plain = _with_streams(family, orders)
    wanted, found = _places(family, nprocs), _places(plain, nprocs)
    if wanted is None or found is None:
        return None
    bases = [
        [None if base[place] == at else base[place] for place, at in zip(order, new, strict=True)]
        for base, new, order in zip(wanted, found, orders, strict=True)
    ]
    return _with_streams(family, orders, bases)


def _with_streams(
    family: Family, orders: Sequence[Sequence[int]], bases: Sequence[Sequence[int | None]] | None = None
) -> Family:
    """The family with the streams of each content in an order, at these bases where they are given."""
    contents = []
    for number, (content, order) in enumerate(zip(family.all_contents(), orders, strict=True)):
        streams = [content.streams[place] for place in order]
        for place, base in enumerate(bases[number] if bases else ()):
            if base is not None:
                streams[place] = streams[place].model_copy(update={"base": base})
        contents.append(content.model_copy(update={"streams": streams}))
    update = {"content": contents[0]} if family.content is not None else {"contents": contents}
    return family.model_copy(update=update)


def _places(family: Family, nprocs: int) -> list[list[int]] | None:
    """Where each stream of each content begins in its file; None where the family cannot be planned so."""
    workload = Workload(ranks=nprocs, runtime=0.0, families=[family])
    try:
        plan = resolve(workload, Options())
    except WorkalikeError:
        return None
    planned = {family.content_number(dump.index): plan.contents[dump.content].streams for dump in plan.dumps}
    out = []
    for number, content in enumerate(family.all_contents()):
        firsts = [0, *accumulate(stream.repeat for stream in content.streams)]
        streams = planned.get(number)
        if streams is None or len(streams) != firsts[-1]:
            return None
        out.append([streams[first].base for first in firsts[:-1]])
    return out


def _fits_worse(facts: FamilyFacts, changed: Family, job: JobFacts) -> bool:
    """Whether more counters of the log are off in the family as changed; not where they cannot be predicted."""
    evidence = evidence_of(facts, job)
    if evidence is None:
        return False
    loss = Loss(evidence)
    before, after = loss.residuals(facts.family), loss.residuals(changed)
    return before is not None and (after is None or size_of(after) > size_of(before))
