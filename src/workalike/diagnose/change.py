"""What a finding asks to change, as a change of the characterized workload, or of the layout of its files.

A rule names its changes. The functions here change the document of one family and say whether they did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workalike.study.transfer import resized
from workalike.workload import units
from workalike.workload.content import Entry, Stream, entry_texts
from workalike.workload.words import AT_RANDOM, Direction, Pattern

Document = dict[str, Any]
"""A family, or a part of one, in a workload's document without defaults."""
Apply = Callable[[Document, int], bool]
"""Changes the document of a family, in which so many ranks take part; returns whether it changed anything."""

LARGE = 4 << 20
"""Bytes of an operation that is not small."""
BLOCK = 1 << 20
"""Bytes: alignment of HDF5's objects, and the size of its blocks of metadata."""


@dataclass(frozen=True)
class Change:
    """`name` is a level of the study; `says` tells what becomes different.

    `apply` changes families; `interfaces` are those of the families that it applies to; none: all. `layouts` are layouts of
    files on servers, as a study sets them; the first one that the file system takes counts.
    """

    name: str
    says: str
    apply: Apply | None = None
    interfaces: tuple[str, ...] = ()
    layouts: tuple[Mapping[str, Any], ...] = ()


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


def _collective(family: Document, members: int) -> bool:
    return _make_collective(family, True)


def _independent(family: Document, members: int) -> bool:
    return _make_collective(family, False)


def _make_collective(family: Document, wanted: bool) -> bool:
    changed = False
    accesses = [*_streams(family), *(access for array in _arrays(family) for access in array["access"])]
    for access in accesses:
        changed |= access.get("collective", False) != wanted
        access["collective"] = wanted
    return changed


def _sync_once(family: Document, members: int) -> bool:
    """Syncs amid the writes go; one at the end of the dump stays."""
    changed = False
    for content in _contents(family):
        for amid, count in (("sync", "fsyncs"), ("flush", "flushes")):
            if content.pop(amid, None) is not None:
                content[count] = max(1, int(content.get(count, 0)))
                changed = True
    return changed


def _in_order(family: Document, members: int) -> bool:
    changed = False
    for stream in _streams(family):
        if stream.get("pattern") in AT_RANDOM:
            stream["pattern"] = Pattern.CONTIGUOUS.value
            changed = True
    return changed


def _aggregated(family: Document, members: int) -> bool:
    """Each rank moves its bytes in large operations; strided blocks stay, since their size is part of the pattern."""
    changed = False
    for document in _streams(family):
        stream = Stream.model_validate(document)
        if stream.pattern is Pattern.STRIDED or stream.pieces > 1:
            continue
        ranks = members if stream.ranks is None else units.count_ranks(stream.ranks)
        operations = sum(entry.total(ranks) for entry in stream.sizes)
        of_rank = sum(entry.total(ranks) * entry.size for entry in stream.sizes) // ranks
        if not of_rank or operations <= ranks or max(entry.size for entry in stream.sizes) >= LARGE:
            continue
        larger = stream.model_copy(update={"sizes": resized(stream, min(LARGE, of_rank))})
        document["sizes"] = larger.model_dump(mode="json")["sizes"]
        changed = True
    return changed


def _one_reader(family: Document, members: int) -> bool:
    """What every rank reads whole, rank 0 reads once."""
    changed = False
    for stream in _streams(family):
        if stream["direction"] != Direction.READ or stream.get("pattern") != Pattern.REPLICATED:
            continue
        sizes = Stream.model_validate(stream).sizes
        if stream.get("ranks") is not None or members < 2 or any(e.total(members) % members for e in sizes):
            continue
        stream["ranks"], stream["pattern"] = "0", Pattern.CONTIGUOUS.value
        stream["sizes"] = entry_texts(
            [Entry(count=e.total(members) // members, size=e.size, per_rank=True) for e in sizes]
        )
        changed = True
    return changed


def _read_once(family: Document, members: int) -> bool:
    changed = False
    for content in _contents(family):
        reads = [stream["direction"] == Direction.READ for stream in content.get("streams", ())]
        changed |= bool(reads) and all(reads) and content.pop("passes", 1) > 1
    return changed


def _merged(family: Document, members: int) -> bool:
    if family.get("sharing", {}).get("mode") not in ("per-rank", "groups"):
        return False
    ranks = family["sharing"].get("ranks")
    family["sharing"] = {"mode": "subset", "ranks": ranks} if ranks else {"mode": "shared"}
    return members > 1


def _chunked(family: Document, members: int) -> bool:
    """Chunks become the largest slab that one access moves."""
    changed = False
    for array in _arrays(family):
        slabs = [slab for access in array["access"] for slab in access["slabs"]]
        wanted = [max(extents) for extents in zip(*(slab["shape"] for slab in slabs), strict=True)]
        if array.get("chunk") not in (None, wanted):
            array["chunk"] = wanted
            changed = True
    return changed


def _no_fill(family: Document, members: int) -> bool:
    return sum(bool(array.pop("fill_values", False)) for array in _arrays(family)) > 0


def _drop(call: str) -> Apply:
    def apply(family: Document, members: int) -> bool:
        return sum(bool(content.pop(call, 0)) for content in _contents(family)) > 0

    return apply


def _opened_once(family: Document, members: int) -> bool:
    """Each rank opens the file once in a dump."""
    often = [content for content in _contents(family) if content.get("opens", 0) > members]
    for content in often:
        del content["opens"]
    return bool(often)


def _tuned(**settings: Any) -> Apply:
    def apply(family: Document, members: int) -> bool:
        before = family.get("tunable", {})
        family["tunable"] = before | settings
        return bool(family["tunable"] != before)

    return apply


_MPI = ("mpiio", "hdf5", "pnetcdf")

COLLECTIVE = Change("collective", "all transfers are collective", _collective, interfaces=_MPI)
INDEPENDENT = Change("independent", "no transfer is collective", _independent, interfaces=_MPI)
SYNC_ONCE = Change("sync-once", "one sync at the end of a dump, none amid its writes", _sync_once)
IN_ORDER = Change("in-order", "each rank goes through the file in order", _in_order)
AGGREGATED = Change("aggregated", "each rank moves the same bytes in operations of up to 4 MiB", _aggregated)
ONE_READER = Change(
    "one-reader", "rank 0 reads what all ranks read; passing it on by MPI is not measured", _one_reader
)
READ_ONCE = Change("read-once", "the same bytes are read once", _read_once)
MERGED = Change("merged", "the ranks of a dump share one file", _merged)
ALIGNED = Change(
    "aligned",
    "objects of HDF5 begin at multiples of 1 MiB",
    _tuned(alignment=BLOCK, threshold=1 << 16),
    interfaces=("hdf5",),
)
METADATA_TOGETHER = Change(
    "metadata-together", "metadata of HDF5 are collective, in blocks of 1 MiB",
    _tuned(collective_metadata=True, metadata_block=BLOCK), interfaces=("hdf5",),
)  # fmt: skip
CHUNKED = Change("chunked", "a chunk is what one access moves", _chunked, interfaces=("hdf5",))
NO_SIEVING = Change("no-sieving", "no data sieving by MPI-IO", _tuned(data_sieving=False), interfaces=_MPI)
NO_FILL = Change("no-fill", "no fill values are written", _no_fill, interfaces=("hdf5", "pnetcdf"))
NO_SEEKS = Change("no-seeks", "no seek precedes an operation", _drop("seeks"))
NO_STATS = Change("no-stats", "no file is asked for its status", _drop("stats"))
OPENED_ONCE = Change("opened-once", "a rank opens a file once in a dump", _opened_once)
STRIPED = Change(
    "striped",
    "files lie in stripes of 1 MiB on all storage targets, or on one for each rank where their number is not known",
    layouts=tuple({"stripe_count": count, "stripe_size": "1 MiB"} for count in ("all", "ranks")),
)
ONE_STRIPE = Change("one-stripe", "each file lies on one storage target", layouts=({"stripe_count": 1},))
