"""Why a workload without a trace misses a counter of its log, as far as the log's own numbers show it.

Each reason is a test of the log's counters. Where none holds, the miss is unexplained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workalike.facts.counters import common_sizes, opens_in, operations_of
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.predict.agreement import DeterminedRow
from workalike.workload.words import Direction

UNEXPLAINED = "unexplained"
NEAR = 0.01
"""Sizes that differ by less than this share are near each other."""
ORDERED = ("SEQ_", "CONSEC_", "RW_SWITCHES", "FILE_NOT_ALIGNED", "MAX_BYTE_")
"""Counters that follow from which operation comes after which."""

Reason = Callable[[DeterminedRow, Sequence[FileFacts], Sequence[DeterminedRow]], str | None]


def reason(row: DeterminedRow, files: Sequence[FileFacts], misses: Sequence[DeterminedRow]) -> str:
    """The first reason that holds for a counter of these files; `misses` are all misses of the log."""
    known = [file for file in files if row.module in file.modules]
    for holds in REASONS:
        text = holds(row, known, misses)
        if text is not None:
            return text
    return UNEXPLAINED


def _other_renames(row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]) -> str | None:
    if row.counter != "RENAME_SOURCES" or row.expected in (0, len(files) - 1, len(files)):
        return None
    return f"{row.expected:,} of {len(files):,} files are renamed; a workload renames all, none, or all but the last"


def _near_sizes(row: DeterminedRow, _: Sequence[FileFacts], misses: Sequence[DeterminedRow]) -> str | None:
    """The workload has the operations at a size nearby."""
    size = _value(row)
    if size is None or row.module == "" or not row.counter.startswith("ACCESS"):
        return None
    nearby = [
        other
        for other in misses
        if (other.group, other.module) == (row.group, row.module)
        and other.counter.startswith("ACCESS")
        and abs((_value(other) or 0) - size) <= NEAR * size
    ]
    if any(other.found > other.expected for other in nearby) and any(
        other.found < other.expected for other in nearby
    ):
        return "the log names a few of many sizes near each other; the workload has one for all"
    return None


def _sizes_not_named(
    row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]
) -> str | None:
    """The log does not name the sizes of enough operations to hold those that the workload has too many."""
    if not row.counter.startswith("ACCESS") or row.found < row.expected:
        return None
    facts = _modules(row, files)
    operations = sum(operations_of(module, direction) for module in facts for direction in Direction)
    unnamed = operations - sum(count for module in facts for _, count in common_sizes(module))
    if unnamed < row.found - row.expected:
        return None
    if any((module.ranks < 0).any() for module in facts):
        return f"four values of each rank are merged to four: {unnamed:,} of {operations:,} counts are lost"
    return f"four sizes of each file are named: {unnamed:,} of {operations:,} operations have other ones"


def _sizes_of_other_ranks(
    row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]
) -> str | None:
    """A size is named only where it is among the four of a rank that has it."""
    facts = [module for module in _modules(row, files) if (module.ranks < 0).any()]
    if not row.counter.startswith("ACCESS") or row.found >= row.expected or not facts:
        return None
    operations = sum(operations_of(module, direction) for module in facts for direction in Direction)
    unnamed = operations - sum(count for module in facts for _, count in common_sizes(module))
    if unnamed < row.expected - row.found:
        return None
    return (
        f"four values of each rank are merged to four: {unnamed:,} of {operations:,} counts are lost, and which ranks "
        "had which sizes"
    )


def _uneven_ranks(row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]) -> str | None:
    """A reduced record has how unequal the ranks are, of which a workload knows the mean."""
    # The bytes of two ranks follow from their sum and variance; those of more do not.
    reduced = any(file.nprocs > 2 and (file.modules[row.module].ranks < 0).any() for file in files)
    if row.counter != "EFFECTIVE_RANKS" or row.found < row.expected or not reduced:
        return None
    return "the log has the variance of the ranks' bytes, not which rank moved what; the workload deals them evenly"


def _gaps_of_several_sizes(
    row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]
) -> str | None:
    """Where sizes differ, the gaps follow from the order of the operations."""
    if not row.counter.startswith("STRIDE"):
        return None
    sizes = max((len(common_sizes(module)) for module in _modules(row, files)), default=0)
    if sizes < 2:
        return None
    return f"operations of {sizes} sizes and more leave the gaps; their order is not in the log"


def _several_opens(row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]) -> str | None:
    """A rank that opens a file more often than once for each direction begins anew, who knows where."""
    if row.module not in ("POSIX", "STDIO") or not row.counter.startswith(ORDERED):
        return None
    several = opens = 0
    for file in files:
        module = file.modules[row.module]
        ranks = file.nprocs if (module.ranks < 0).any() else len(set(module.ranks.tolist()))
        directions = sum(operations_of(module, direction) > 0 for direction in Direction)
        here = opens_in(module, file.nprocs)
        if here > ranks * max(1, directions):
            several, opens = several + 1, opens + here
    if not several:
        return None
    which = "a file" if several == 1 else f"each of {several:,} files"
    return (
        f"ranks open {which} again and again ({opens:,} opens in all); what each open moved is not in the log"
    )


def _by_turns(row: DeterminedRow, files: Sequence[FileFacts], _: Sequence[DeterminedRow]) -> str | None:
    """Reads and writes that alternate within a file: the log has how often, not where."""
    if not row.counter.startswith(ORDERED):
        return None
    switches = sum(module.total("RW_SWITCHES") for module in _modules(row, files))
    if switches <= len(files):
        return None
    return f"reads and writes alternate {switches:,} times; where each begins is not in the log"


REASONS: tuple[Reason, ...] = (
    _other_renames,
    _near_sizes,
    _sizes_not_named,
    _sizes_of_other_ranks,
    _uneven_ranks,
    _gaps_of_several_sizes,
    _several_opens,
    _by_turns,
)


def _modules(row: DeterminedRow, files: Sequence[FileFacts]) -> list[ModuleFacts]:
    return [file.modules[row.module] for file in files]


def _value(row: DeterminedRow) -> int | None:
    """The bytes of a common size or stride: of `ACCESS of 512 B`, 512."""
    words = row.counter.split()
    return int(words[2]) if len(words) == 4 else None
