"""How a change rewrites the document of one family. Each function says whether it changed anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workalike.study.system import node_count
from workalike.study.transfer import resized
from workalike.workload import units
from workalike.workload.content import Entry, Stream, entry_texts
from workalike.workload.family import share_as
from workalike.workload.words import AT_RANDOM, Direction, FileDriver, Interface, Pattern, SharingMode

Document = dict[str, Any]
"""A family, or a part of one, in a workload's document without defaults."""


@dataclass(frozen=True)
class Scale:
    """How many ranks take part in a family (`members`), how many the workload has, and how many will run it."""

    members: int
    ranks: int
    running: int


Apply = Callable[[Document, Scale], bool]
"""Changes the document of a family; returns whether it changed anything."""

LARGE = 4 << 20
"""Bytes of an operation that is not small."""
MPI = ("mpiio", "hdf5", "pnetcdf")
OVER_MPI = frozenset(
    {"collective_metadata", "individual_io", "data_sieving", "collective_buffering", "cb_nodes"}
)
"""Settings that HDF5 files without MPI-IO do not have."""
BLOCK = 1 << 20
"""Bytes: alignment of HDF5's objects, and the size of its blocks of metadata."""


def _contents(family: Document) -> Iterator[Document]:
    """All contents of a family's document."""
    if "content" in family:
        yield family["content"]
    yield from family.get("contents", ())


def _arrays(family: Document) -> Iterator[Document]:
    for content in _contents(family):
        yield from content.get("arrays", ())


def _streams(family: Document) -> Iterator[Document]:
    for content in _contents(family):
        yield from content.get("streams", ())


def collective(family: Document, scale: Scale) -> bool:
    return _make_collective(family, True)


def independent(family: Document, scale: Scale) -> bool:
    return _make_collective(family, False)


def _make_collective(family: Document, wanted: bool) -> bool:
    changed = False
    accesses = [*_streams(family), *(access for array in _arrays(family) for access in array["access"])]
    for access in accesses:
        changed |= access.get("collective", False) != wanted
        access["collective"] = wanted
    return changed


def sync_once(family: Document, scale: Scale) -> bool:
    """Syncs amid the writes go; one at the end of the dump stays."""
    changed = False
    for content in _contents(family):
        for amid, count in (("sync", "fsyncs"), ("flush", "flushes")):
            if content.pop(amid, None) is not None:
                content[count] = max(1, int(content.get(count, 0)))
                changed = True
    return changed


def in_order(family: Document, scale: Scale) -> bool:
    changed = False
    for stream in _streams(family):
        if stream.get("pattern") in AT_RANDOM:
            stream["pattern"] = Pattern.CONTIGUOUS.value
            changed = True
    return changed


def aggregated(family: Document, scale: Scale) -> bool:
    """Each rank moves its bytes in large operations; strided blocks stay, since their size is part of the pattern."""
    changed = False
    for document in _streams(family):
        stream = Stream.model_validate(document)
        if stream.stride or stream.pieces > 1:
            continue
        ranks = scale.members if stream.ranks is None else units.count_ranks(stream.ranks)
        operations = sum(entry.total(ranks) for entry in stream.sizes)
        of_rank = sum(entry.total(ranks) * entry.size for entry in stream.sizes) // ranks
        if not of_rank or operations <= ranks or max(entry.size for entry in stream.sizes) >= LARGE:
            continue
        larger = stream.model_copy(update={"sizes": resized(stream, min(LARGE, of_rank))})
        document["sizes"] = larger.model_dump(mode="json")["sizes"]
        changed = True
    return changed


def one_reader(family: Document, scale: Scale) -> bool:
    """What every rank reads whole, rank 0 reads once."""
    changed = False
    for stream in _streams(family):
        if stream["direction"] != Direction.READ or stream.get("pattern") != Pattern.REPLICATED:
            continue
        sizes = Stream.model_validate(stream).sizes
        if (
            stream.get("ranks") is not None
            or scale.members < 2
            or any(e.total(scale.members) % scale.members for e in sizes)
        ):
            continue
        stream["ranks"], stream["pattern"] = "0", Pattern.CONTIGUOUS.value
        stream["sizes"] = entry_texts(
            [Entry(count=e.total(scale.members) // scale.members, size=e.size, per_rank=True) for e in sizes]
        )
        changed = True
    return changed


def all_write(family: Document, scale: Scale) -> bool:
    """What one rank writes into a shared file, every rank writes a part of: the same bytes, by MPI-IO collectively."""
    streams = [stream for stream in _streams(family) if stream["direction"] == Direction.WRITE]
    alone = family.get("sharing", {}).get("mode") == SharingMode.ROOT
    ranks = scale.ranks if alone else scale.members
    if ranks < 2 or not streams or not (alone or all(_of_one_rank(stream) for stream in streams)):
        return False
    if any(stream["direction"] == Direction.READ for stream in _streams(family)) and alone:
        return False  # the reads of one rank would become those of all
    for stream in streams:
        _spread(stream, min(ranks, scale.running))
        if family.get("interface", Interface.MPIIO) in MPI:
            stream["collective"] = True
    if alone:
        share_as(family, {"mode": SharingMode.SHARED.value})
        through_mpi(family)
        for content in _contents(family):
            if 0 < content.get("opens", 0) < ranks:
                del content["opens"]  # one for each rank
        if family.get("interface", Interface.MPIIO) in MPI:
            family.pop("level", None)
    return True


def _of_one_rank(stream: Document) -> bool:
    ranks = Stream.model_validate(stream).ranks
    return ranks is not None and units.count_ranks(ranks) == 1


def _spread(document: Document, ranks: int) -> None:
    """Spread the operations of one rank over `ranks`, in smaller ones where they are too few."""
    stream = Stream.model_validate(document)
    entries = [entry.model_copy(update={"per_rank": False}) for entry in stream.sizes]
    total = sum(entry.count * entry.size for entry in entries)
    if sum(entry.count for entry in entries) < ranks and stream.pattern is Pattern.CONTIGUOUS:
        whole = stream.model_copy(update={"sizes": entries})
        entries = resized(whole, max(1, min(LARGE, total // ranks)))
    document["sizes"] = entry_texts(entries)
    document.pop("ranks", None)


def aggregators(family: Document, scale: Scale) -> bool:
    """One aggregator on each node of the machine that runs it."""
    accesses = [*_streams(family), *(access for array in _arrays(family) for access in array["access"])]
    wanted = min(scale.ranks, node_count())
    tunable = family.get("tunable", {})
    if not any(access.get("collective") for access in accesses) or tunable.get("cb_nodes") == wanted:
        return False
    family["tunable"] = tunable | {"cb_nodes": wanted}
    return True


def without_stdio(family: Document, scale: Scale) -> bool:
    """The bytes of streams in large writes and reads; flushes go with the buffer that they empty."""
    if not any(True for _ in _streams(family)):
        return False
    family["interface"] = Interface.POSIX.value
    family.pop("level", None)
    for content in _contents(family):
        content.pop("flush", None)
        content.pop("flushes", None)
    aggregated(family, scale)
    return True


def read_once(family: Document, scale: Scale) -> bool:
    changed = False
    for content in _contents(family):
        reads = [stream["direction"] == Direction.READ for stream in content.get("streams", ())]
        changed |= bool(reads) and all(reads) and content.pop("passes", 1) > 1
    return changed


def merged(family: Document, scale: Scale) -> bool:
    if family.get("sharing", {}).get("mode") not in ("per-rank", "groups"):
        return False
    ranks = family["sharing"].get("ranks")
    share_as(family, {"mode": "subset", "ranks": ranks} if ranks else {"mode": "shared"})
    through_mpi(family)
    return scale.members > 1


def through_mpi(family: Document) -> None:
    """What HDF5 needs where ranks share a file: MPI-IO, and no flushes amid the writes of datasets."""
    tunable = {name: value for name, value in family.get("tunable", {}).items() if name != "driver"}
    if tunable != family.get("tunable", {}):
        family["tunable"] = tunable
    for content in _contents(family):
        if content.get("arrays"):
            content.pop("flush", None)
            content.pop("sync", None)


def chunked(family: Document, scale: Scale) -> bool:
    """Chunks become the largest slab that one access moves."""
    changed = False
    for array in _arrays(family):
        slabs = [slab for access in array["access"] for slab in access["slabs"]]
        wanted = [max(extents) for extents in zip(*(slab["shape"] for slab in slabs), strict=True)]
        if array.get("chunk") not in (None, wanted):
            array["chunk"] = wanted
            changed = True
    return changed


def no_fill(family: Document, scale: Scale) -> bool:
    return sum(bool(array.pop("fill_values", False)) for array in _arrays(family)) > 0


def drop(call: str) -> Apply:
    def apply(family: Document, scale: Scale) -> bool:
        return sum(bool(content.pop(call, 0)) for content in _contents(family)) > 0

    return apply


def opened_once(family: Document, scale: Scale) -> bool:
    """Each rank opens the file once in a dump."""
    often = [content for content in _contents(family) if content.get("opens", 0) > scale.members]
    for content in often:
        del content["opens"]
    return bool(often)


def tuned(**settings: Any) -> Apply:
    def apply(family: Document, scale: Scale) -> bool:
        before = family.get("tunable", {})
        if before.get("driver") == FileDriver.SERIAL and not settings.keys().isdisjoint(OVER_MPI):
            return False
        family["tunable"] = before | settings
        return bool(family["tunable"] != before)

    return apply
