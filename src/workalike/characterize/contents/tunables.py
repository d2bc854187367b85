"""Settings that a bidder may change, as the log shows them: striping, aggregators, alignment; and remarks on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workalike.characterize.contents.arrays.filters import may_filter, stored_in_chunks
from workalike.characterize.grouping.sharing import effective_writers
from workalike.characterize.rules import TunableRule
from workalike.facts.counters import operations_of
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.rules import Decision, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import (
    MAX_ALIGNMENT,
    MAX_STRIPES,
    Direction,
    FileDriver,
    Interface,
    Level,
    Tunable,
)

ABOVE_MPIIO = (Level.MPIIO, Level.H5D, Level.PNETCDF)


def tunable_of(
    files: Sequence[FileFacts], level: Level, interface: Interface, *, ranks_share: bool = False
) -> tuple[Tunable, list[Decision]]:
    """The tunable fields, and the rules that decided them. `ranks_share`: several ranks write to one file at once."""
    sampled = files[: THRESHOLDS.settings_files]
    tunable = Tunable()
    rules = []
    stripe = stripes_of(sampled)
    if stripe is not None:
        tunable.stripe_size, tunable.stripe_count = stripe
        rules.append(by(TunableRule.STRIPING))
    count = aggregators(sampled) if level in ABOVE_MPIIO else None
    if count is not None:
        tunable.cb_nodes = count
        rules.append(by(TunableRule.AGGREGATORS, ranks=count))
    alignment = alignment_of(sampled)
    if alignment is not None:
        block, aligned = alignment
        rules.append(by(TunableRule.ALIGNMENT, share=100 * aligned, multiple=block))
        if interface is Interface.HDF5 and block <= MAX_ALIGNMENT and aligned >= THRESHOLDS.alignment_share:
            tunable.alignment = block
    if interface is Interface.HDF5 and level is Level.H5D:
        if not ranks_share and all(map(without_mpiio, files)):
            tunable.driver = FileDriver.SERIAL
            rules.append(by(TunableRule.SERIAL))
        stored = stored_in_chunks(files)
        if stored is not None and may_filter(files):
            tunable.deflate = THRESHOLDS.deflate_level
            rules.append(by(TunableRule.DEFLATE, stored=stored.stored, data=stored.data))
    modified = read_modify_write(sampled)
    if modified:
        rules.append(by(TunableRule.READ_MODIFY_WRITE, reads=modified))
    return tunable, rules


def without_mpiio(file: FileFacts) -> bool:
    """Whether HDF5 opened the file with POSIX alone: POSIX has calls of it, MPI-IO none, and H5F names no MPI-IO."""
    h5f = file.modules.get("H5F")
    named = h5f is not None and h5f.largest("USE_MPIIO") > 0
    return "POSIX" in file.modules and "MPI-IO" not in file.modules and not named


def stripes_of(files: Sequence[FileFacts]) -> tuple[int, int] | None:
    """The most frequent stripe size (bytes) and count; None without Lustre records.

    A layout with more stripes than a workload can have is from a damaged record and is left out.
    """
    layouts = (file.stripe for file in files if file.stripe is not None)
    found = Counter((size, count) for size, count in layouts if count <= MAX_STRIPES)
    return found.most_common(1)[0][0] if found else None


def aggregators(files: Sequence[FileFacts]) -> int | None:
    """How many ranks perform the POSIX operations of collective MPI-IO; None where (nearly) all do, or it is not known.

    These are the ranks with POSIX records that moved data, or the effective writers of a reduced record.
    """
    found = [n for file in files if (n := aggregators_of(file)) is not None]
    return max(found, default=None)


def aggregators_of(file: FileFacts) -> int | None:
    """The number of aggregators of one file; None as for `aggregators`."""
    mpi, posix = file.modules.get("MPI-IO"), file.modules.get("POSIX")
    if mpi is None or posix is None or posix.partial or not _mostly_collective(mpi):
        return None
    callers = file.nprocs if (mpi.ranks < 0).any() else len(set(mpi.ranks.tolist()))
    if (posix.ranks < 0).any():
        total = posix.total("BYTES_READ") + posix.total("BYTES_WRITTEN")
        writers = round(effective_writers(posix, file.nprocs, total))
    else:
        moved = (posix.column("BYTES_READ") > 0) | (posix.column("BYTES_WRITTEN") > 0)
        writers = len(set(posix.ranks[moved].tolist()))
    return writers if 0 < writers < THRESHOLDS.aggregators_fewer * callers else None


def _mostly_collective(mpi: ModuleFacts) -> bool:
    collective = sum(mpi.totals(["COLL_READS", "COLL_WRITES", "SPLIT_READS", "SPLIT_WRITES"]))
    return 2 * collective > sum(operations_of(mpi, direction) for direction in Direction)


def alignment_of(files: Sequence[FileFacts]) -> tuple[int, float] | None:
    """(file system block in bytes, share of POSIX operations that start at its multiples); None if not measured."""
    block = operations = misaligned = 0
    for file in files:
        posix = file.modules.get("POSIX")
        if (
            posix is None
            or posix.largest("FILE_ALIGNMENT") <= 1
            or (posix.column("FILE_NOT_ALIGNED") < 0).all()
        ):
            continue
        block = max(block, posix.largest("FILE_ALIGNMENT"))
        operations += sum(operations_of(posix, direction) for direction in Direction)
        misaligned += posix.total("FILE_NOT_ALIGNED")
    return (block, max(0.0, 1 - misaligned / operations)) if operations else None


def read_modify_write(files: Sequence[FileFacts]) -> int:
    """POSIX reads of files that MPI-IO only wrote: the MPI library reads data, changes it and writes it back."""
    total = 0
    for file in files:
        mpi, posix = file.modules.get("MPI-IO"), file.modules.get("POSIX")
        if mpi is not None and posix is not None and operations_of(mpi, Direction.WRITE):
            total += 0 if operations_of(mpi, Direction.READ) else operations_of(posix, Direction.READ)
    return total
