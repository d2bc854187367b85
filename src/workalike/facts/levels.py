"""The level of a file, for each direction (docs/reference/terms.md#level)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from workalike.facts.amounts import CALLS
from workalike.facts.counters import bytes_name, common_sizes, kind_of
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts, Loss, ModuleFacts
from workalike.facts.rules import Decision, LevelRule, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Direction, Interface, Level, Reason

WITH_DATASETS = (Level.H5D, Level.PNETCDF)
"""Levels at which a log shows datasets and variables instead of calls on a file."""

PNETCDF_HEADER = 262144
"""Bytes that one rank reads at each open, whatever the header's size."""
MAX_DIMS = 5
"""Dimensions of a dataset that a record has."""
CALLED = frozenset({"OPENS", *(name for names in CALLS.values() for name in names)}) - {
    "SEEKS",
    "RENAME_SOURCES",
}
_SMALL = {"0_100": 100, "100_1K": 1024, "1K_10K": 10240}


@dataclass
class LevelChoice:
    """The level of a file, the bytes moved at it, the rule that decided, and the library's own traffic below it."""

    level: Level
    moved: int
    rule: Decision
    losses: list[Loss]


def split_stdio(file: FileFacts) -> list[FileFacts]:
    """Two files where both STDIO and another module moved data of it, else the file itself.

    Their traffic does not overlap (docs/reference/darshan-meaning.md#standard-io).
    """
    stdio = file.modules.get("STDIO")
    others = {name: facts for name, facts in file.modules.items() if name != "STDIO"}
    if stdio is None or not others:
        return [file]
    moved = sum(facts.total("BYTES_READ") + facts.total("BYTES_WRITTEN") for facts in others.values())
    if not moved or not stdio.total("BYTES_READ") + stdio.total("BYTES_WRITTEN"):
        return [file]
    return [
        FileFacts(file.record_id, file.name, file.nprocs, part, file.stripe, file.truncations, file.removals)
        for part in ({"STDIO": stdio}, others)
    ]


def interface_of(file: FileFacts, level: Level) -> Interface:
    """The highest library that has a record of the file."""
    if level is Level.STDIO:
        return Interface.STDIO
    if "PNETCDF_FILE" in file.modules or "PNETCDF_VAR" in file.modules:
        return Interface.PNETCDF
    if "H5F" in file.modules or "H5D" in file.modules:
        return Interface.HDF5
    return Interface.MPIIO if "MPI-IO" in file.modules else Interface.POSIX


def levels_of(file: FileFacts) -> list[Level]:
    """The levels that saw the file, highest first, without STDIO. Of two libraries it is the one that moved more."""
    chain = [level for level in (Level.MPIIO, Level.POSIX) if MODULE_OF_LEVEL[level] in file.modules]
    libraries = [level for level in (Level.H5D, Level.PNETCDF) if MODULE_OF_LEVEL[level] in file.modules]
    if libraries:
        chain.insert(0, max(libraries, key=lambda level: sum(file.bytes_at(level, d) for d in Direction)))
    return chain


def level_without_data(file: FileFacts) -> Level | None:
    """The level of a file of which no data moved: the lowest that made a call on it; None where none did.

    Seeks in a descriptor that the process inherited never reach the file, and a name that only a rename has made is a
    matter of the renamed family.
    """
    for level in (Level.POSIX, Level.STDIO, Level.MPIIO):
        facts = file.modules.get(MODULE_OF_LEVEL[level])
        if facts is not None and any(facts.totals([name for name in facts.counter_names if name in CALLED])):
            return level
    return None


def choose_level(
    file: FileFacts, direction: Direction, *, without_datasets: bool = False
) -> LevelChoice | None:
    """The highest level that is not partial and explains 95 % of what the level below moved for the application.

    `without_datasets` leaves out the levels of datasets where a level below saw the file. None where no data moved in
    this direction. A choice of 0 bytes means that all traffic was a library's own.
    """
    name = bytes_name(direction)
    if not any(facts.total(name) for facts in file.modules.values()):
        return None
    stdio = file.bytes_at(Level.STDIO, direction)
    chain = levels_of(file)
    if without_datasets:
        chain = [level for level in chain if level not in WITH_DATASETS] or chain
    if stdio and stdio >= max((file.bytes_at(level, direction) for level in chain), default=0):
        return LevelChoice(
            Level.STDIO,
            stdio,
            by(LevelRule.ONLY_STDIO, level=Level.STDIO.value),
            _partial_loss(file, Level.STDIO),
        )
    if not any(file.bytes_at(level, direction) for level in chain):
        return None
    whole = [level for level in chain if is_whole(file, level)]
    if len(chain) > 1 and not whole:
        return _highest_of_partial(file, chain, direction)
    last = chain[-1]
    rule = by(LevelRule.LOWEST, level=last.value)
    choice = LevelChoice(last, file.bytes_at(last, direction), rule, _partial_loss(file, last))
    # From the lowest level up. Where a level does not explain the one below, no higher level is tried.
    for upper in reversed([level for level in whole if level is not last]):
        raised = _explains(file, upper, choice, direction)
        if raised is None:
            return choice
        choice = raised
    return choice


def _explains(file: FileFacts, upper: Level, below: LevelChoice, direction: Direction) -> LevelChoice | None:
    """The choice of `upper`, if it moved 95 % of what the level below moved for the application; else None."""
    moved = file.bytes_at(upper, direction)
    library = library_traffic(file, upper, below.level, direction)
    if moved < THRESHOLDS.level_explains * (below.moved - sum(loss.bytes for loss in library)):
        return None
    levels = {"level": upper.value, "below": below.level.value}
    rule = by(LevelRule.EXPLAINS, **levels)
    if library:
        rule = by(LevelRule.EXPLAINS_DATA, **levels, library=", ".join(loss.reason.value for loss in library))
    # Sieving further below did not decide the level, but is still reported.
    return LevelChoice(upper, moved, rule, library + [x for x in below.losses if x.reason is Reason.SIEVING])


def choose_levels(file: FileFacts, *, without_datasets: bool = False) -> dict[Direction, LevelChoice]:
    """The choice for each direction. A direction with very few bytes takes the level of the other one."""
    choices = ((d, choose_level(file, d, without_datasets=without_datasets)) for d in Direction)
    found = {d: choice for d, choice in choices if choice is not None}
    if len(found) < 2:
        return found
    main = max(found, key=lambda d: found[d].moved)
    minor = next(d for d in Direction if d is not main)
    level = found[main].level
    if (
        found[minor].level is level
        or found[minor].moved > THRESHOLDS.level_minor * found[main].moved
        or level is Level.STDIO
    ):
        return found
    moved = file.bytes_at(level, minor)
    left = max(0, found[minor].moved - moved)
    losses = [Loss(Reason.LIBRARY_METADATA, left, 1, MODULE_OF_LEVEL[found[minor].level])] if left else []
    found[minor] = LevelChoice(level, moved, found[main].rule, losses)
    return found


def force_level(file: FileFacts, direction: Direction, choice: LevelChoice, level: Level) -> LevelChoice:
    """The choice at the level that the user asks for. What the usual level moved beyond it is a loss.

    A library's own traffic is named as such. The rest is the application's: the asked level lost it or never saw it.
    """
    if level is choice.level:
        return choice
    moved = file.bytes_at(level, direction)
    losses = [x for x in choice.losses if x.reason is Reason.SIEVING and level is not Level.POSIX]
    chain = levels_of(file)
    rest = choice.moved - moved
    if rest > 0 and chain.index(level) < chain.index(choice.level):
        for loss in library_traffic(file, level, choice.level, direction) if is_whole(file, level) else []:
            named = min(rest, loss.bytes)
            losses += [replace(loss, bytes=named)] if named else []
            rest -= named
        losses += [Loss(Reason.PARTIAL_MODULE, rest, 1, MODULE_OF_LEVEL[level])] if rest else []
    return LevelChoice(level, moved, by(LevelRule.AS_ASKED, level=level.value), losses)


def lowered_to(file: FileFacts, direction: Direction, level: Level) -> LevelChoice:
    """The choice at a level below a library's, where all that the library did is calls like any other."""
    rule = by(LevelRule.REHEARSED, level=level.value)
    return LevelChoice(level, file.bytes_at(level, direction), rule, _partial_loss(file, level))


def is_whole(file: FileFacts, level: Level) -> bool:
    """Whether the level's module lost no records in the job, and its bytes can be true."""
    facts = file.modules[MODULE_OF_LEVEL[level]]
    return not facts.partial and not facts.doubted


def _highest_of_partial(file: FileFacts, chain: list[Level], direction: Direction) -> LevelChoice:
    """The highest level with bytes, where every level is partial. What lower ones moved beyond it is a loss."""
    top = next(level for level in chain if file.bytes_at(level, direction))
    moved = file.bytes_at(top, direction)
    rest = max(file.bytes_at(level, direction) for level in chain) - moved
    loss = Loss(Reason.PARTIAL_MODULE, rest, 1, MODULE_OF_LEVEL[top])
    return LevelChoice(top, moved, by(LevelRule.HIGHEST_OF_PARTIAL, level=top.value), [loss])


def _partial_loss(file: FileFacts, level: Level) -> list[Loss]:
    return [] if is_whole(file, level) else [Loss(Reason.PARTIAL_MODULE, 0, 1, MODULE_OF_LEVEL[level])]


def library_traffic(file: FileFacts, upper: Level, lower: Level, direction: Direction) -> list[Loss]:
    """What the library between two levels moved on its own account, by reason.

    HDF5 and PnetCDF add metadata and, for chunked datasets, fill values and whole chunks; ROMIO and OMPIO add data
    sieving and read-modify-write below collective or strided MPI-IO.
    """
    if upper is Level.MPIIO:
        return sieving(file, direction)
    data = fill_values(file, upper, lower, direction) + whole_chunks(file, upper, lower, direction)
    return data + metadata(file, upper, lower, direction, sum(loss.bytes for loss in data))


def sieving(file: FileFacts, direction: Direction) -> list[Loss]:
    """What POSIX moved beyond MPI-IO: data sieving and read-modify-write.

    A library that writes more than it was asked to has read those bytes before. Without reads the excess is the
    application's.
    """
    mpi, posix = file.modules.get("MPI-IO"), file.modules.get("POSIX")
    if mpi is None or posix is None or not _is_noncontiguous(file, mpi):
        return []
    excess = posix.total(bytes_name(direction)) - mpi.total(bytes_name(direction))
    if excess <= 0 or (direction is Direction.WRITE and not posix.total("READS")):
        return []
    return [Loss(Reason.SIEVING, excess, 1, "POSIX")]


def _is_noncontiguous(file: FileFacts, mpi: ModuleFacts) -> bool:
    calls = ("VIEWS", "COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES")
    return any(mpi.totals(list(calls))) or "H5F" in file.modules or "PNETCDF_FILE" in file.modules


def fill_values(file: FileFacts, upper: Level, lower: Level, direction: Direction) -> list[Loss]:
    """Fill values that HDF5 wrote: it writes a chunked dataset once more when its chunks are allocated early.

    Reported where at least half of the chunked data was written twice.
    """
    if upper is not Level.H5D or direction is not Direction.WRITE:
        return []
    excess = file.bytes_at(lower, direction) - file.bytes_at(upper, direction)
    h5d = file.modules["H5D"]
    chunked = h5d.rows(np.flatnonzero(h5d.column("CHUNK_SIZE_D1") > 0))
    written = chunked.total("BYTES_WRITTEN")
    if excess <= 0 or excess < THRESHOLDS.level_filled * written or not written:
        return []
    allocated = sum(
        max(points * size, moved, 0)
        for points, size, moved in zip(
            chunked.column("DATASPACE_NPOINTS").tolist(),
            chunked.column("DATATYPE_SIZE").tolist(),
            chunked.column("BYTES_WRITTEN").tolist(),
            strict=True,
        )
    )
    return [Loss(Reason.FILL_VALUES, min(excess, allocated), 1, MODULE_OF_LEVEL[lower])]


def whole_chunks(file: FileFacts, upper: Level, lower: Level, direction: Direction) -> list[Loss]:
    """What HDF5 read beyond what it was asked for: it reads whole chunks, and again those that its cache did not keep.

    Reported where nearly all bytes below are in operations of a chunk's size.
    """
    if upper is not Level.H5D or direction is not Direction.READ:
        return []
    below = file.modules[MODULE_OF_LEVEL[lower]]
    moved, asked = file.bytes_at(lower, direction), file.bytes_at(upper, direction)
    if moved <= asked or below.total(bytes_name(Direction.WRITE)):
        return []
    sizes = _chunk_sizes(file.modules["H5D"])
    in_chunks = sum(size * count for size, count in common_sizes(below) if size in sizes)
    if in_chunks < THRESHOLDS.level_explains * moved or in_chunks <= asked:
        return []
    # The rest is metadata: chunks that are read once are what was asked for.
    return [Loss(Reason.WHOLE_CHUNKS, min(moved, in_chunks) - asked, 1, MODULE_OF_LEVEL[lower])]


def _chunk_sizes(h5d: ModuleFacts) -> set[int]:
    """Bytes of the chunks of datasets that were read; elements of unknown size and missing extents have none."""
    chunked = (h5d.column("CHUNK_SIZE_D1") > 0) & (h5d.column("DATATYPE_SIZE") > 0)
    read = h5d.rows(np.flatnonzero(chunked & (h5d.column("READS") > 0)))
    extents = [read.column(f"CHUNK_SIZE_D{i}").tolist() for i in range(1, MAX_DIMS + 1)]
    ranks, elements = (read.column(name).tolist() for name in ("DATASPACE_NDIMS", "DATATYPE_SIZE"))
    out = set()
    for element, rank, *chunk in zip(elements, ranks, *extents, strict=True):
        used = chunk[: max(1, rank)]
        if all(extent > 0 for extent in used):
            out.add(element * math.prod(used))
    return out


def metadata(file: FileFacts, upper: Level, lower: Level, direction: Direction, explained: int) -> list[Loss]:
    """A library's headers and indices: small operations below it, of few bytes compared with the data."""
    excess = file.bytes_at(lower, direction) - file.bytes_at(upper, direction) - explained
    facts = file.modules[MODULE_OF_LEVEL[lower]]
    infix = "_AGG" if lower is Level.MPIIO else ""
    small = sum(
        facts.total(f"SIZE_{kind_of(direction)}{infix}_{name}") * bound for name, bound in _SMALL.items()
    )
    if upper is Level.PNETCDF and direction is Direction.READ:
        small += PNETCDF_HEADER * header_reads(file)
    data = sum(file.bytes_at(upper, d) for d in Direction)
    size = min(excess, small, max(THRESHOLDS.level_metadata, data))
    return [Loss(Reason.LIBRARY_METADATA, size, 1, MODULE_OF_LEVEL[lower])] if size > 0 else []


def header_reads(file: FileFacts) -> int:
    """How often the header was read: once for each time that the ranks opened the file together."""
    facts = file.modules.get("PNETCDF_FILE")
    if facts is None:
        return 1
    ranks = file.nprocs if (facts.ranks < 0).any() else len(facts.ranks)
    return -(-facts.total("OPENS") // ranks)
