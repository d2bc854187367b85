"""The level of a file, for each direction (design, "Semantics": Level)."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.characterize.facts import MODULE_OF_LEVEL, FileFacts, Loss
from workalike.workload.model import Direction, Level, Reason

EXPLAINS = 0.95
CHAIN = (Level.H5D, Level.PNETCDF, Level.MPIIO, Level.POSIX)


@dataclass
class LevelChoice:
    """The level, why, and what of the levels below is the library's own traffic."""

    level: Level
    rule: str
    losses: list[Loss]


def choose_level(file: FileFacts, direction: Direction) -> LevelChoice | None:
    """The highest level that is not partial and explains 95 % of what the level below moved for the application.

    None when the file moved nothing in this direction.
    """
    present = [level for level in CHAIN if MODULE_OF_LEVEL[level] in file.modules]
    stdio = file.bytes_at(Level.STDIO, direction)
    if stdio and stdio >= max((file.bytes_at(level, direction) for level in present), default=0):
        return LevelChoice(Level.STDIO, "only STDIO moved data", _partial_loss(file, Level.STDIO))
    if not any(file.bytes_at(level, direction) for level in present):
        return None
    losses: list[Loss] = []
    for upper, lower in zip(present, [*present[1:], None], strict=True):
        facts = file.modules[MODULE_OF_LEVEL[upper]]
        if facts.partial and lower is not None:
            continue
        if lower is None:
            return LevelChoice(
                upper, "the lowest level that saw the file", losses + _partial_loss(file, upper)
            )
        moved = file.bytes_at(upper, direction)
        below = file.bytes_at(lower, direction)
        library = library_traffic(file, upper, direction)
        applications_own = below - sum(loss.bytes for loss in library)
        if moved >= EXPLAINS * applications_own:
            rule = f"{upper.value} explains {lower.value}"
            if library:
                rule += " less " + ", ".join(loss.reason.value for loss in library)
            found = losses + library
            return LevelChoice(upper, rule, found) if moved else None
    top = present[0]
    return LevelChoice(top, "every level is partial: the highest", _partial_loss(file, top))


def _partial_loss(file: FileFacts, level: Level) -> list[Loss]:
    module = MODULE_OF_LEVEL[level]
    return [Loss(Reason.PARTIAL_MODULE, 0, 1, module)] if file.modules[module].partial else []


def library_traffic(file: FileFacts, upper: Level, direction: Direction) -> list[Loss]:
    """What the library above the next lower level moved on its own account, by kind.

    HDF5 and PnetCDF add metadata and, for chunked datasets, fill values; ROMIO and OMPIO add data sieving and
    read-modify-write below collective or strided MPI-IO.
    """
    moved = file.bytes_at(upper, direction)
    if upper is Level.MPIIO:
        excess = max(0, file.bytes_at(Level.POSIX, direction) - moved)
        mpi = file.modules["MPI-IO"]
        strided = (
            any(mpi.total(name) for name in ("VIEWS", "COLL_READS", "COLL_WRITES")) or "H5F" in file.modules
        )
        return [Loss(Reason.SIEVING, excess, 1, "POSIX")] if excess and strided else []
    lower = Level.MPIIO if "MPI-IO" in file.modules else Level.POSIX
    excess = max(0, file.bytes_at(lower, direction) - moved)
    losses = []
    if upper is Level.H5D and direction is Direction.WRITE and excess:
        fill = min(excess, _chunked_bytes(file))
        if fill > 0.5 * moved:
            losses.append(Loss(Reason.FILL_VALUES, fill, 1, "MPI-IO"))
            excess -= fill
    metadata = min(excess, _small_traffic(file, lower, direction))
    if metadata:
        losses.append(Loss(Reason.LIBRARY_METADATA, metadata, 1, MODULE_OF_LEVEL[lower]))
    return losses


def _chunked_bytes(file: FileFacts) -> int:
    """Bytes written into chunked datasets: HDF5 may write each once more as fill values."""
    h5d = file.modules["H5D"]
    chunked = h5d.column("CHUNK_SIZE_D1") > 0
    return int(h5d.column("BYTES_WRITTEN")[chunked].clip(min=0).astype(object).sum() or 0)


def _small_traffic(file: FileFacts, level: Level, direction: Direction) -> int:
    """An upper bound of the bytes in operations of at most 10 KiB, the size of library metadata."""
    facts = file.modules[MODULE_OF_LEVEL[level]]
    kind = "READ" if direction is Direction.READ else "WRITE"
    infix = "_AGG" if level is Level.MPIIO else ""
    bounds = {"0_100": 100, "100_1K": 1024, "1K_10K": 10240}
    return sum(facts.total(f"SIZE_{kind}{infix}_{name}") * bound for name, bound in bounds.items())
