"""Names of Darshan's counters by module and direction, and sums of them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.records import ModuleFacts
from workalike.workload.words import Direction

ACCESSES = tuple(f"ACCESS{i}_ACCESS" for i in range(1, 5))
COUNTS = tuple(f"ACCESS{i}_COUNT" for i in range(1, 5))
STRIDES = tuple(f"STRIDE{i}_STRIDE" for i in range(1, 5))
STRIDE_COUNTS = tuple(f"STRIDE{i}_COUNT" for i in range(1, 5))

SUMS: dict[str, dict[str, tuple[str, ...]]] = {
    "MPI-IO": {
        "OPENS": ("INDEP_OPENS", "COLL_OPENS"),
        "READS": ("INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
        "WRITES": ("INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
    },
    "PNETCDF_VAR": {
        "READS": ("INDEP_READS", "COLL_READS", "NB_READS"),
        "WRITES": ("INDEP_WRITES", "COLL_WRITES", "NB_WRITES"),
    },
}
"""For modules that count an operation under several names: the counters whose sum is all of them."""

Pair = tuple[int, int]


def kind_of(direction: Direction) -> str:
    """The direction as it stands in names of counters: READ or WRITE."""
    return "READ" if direction is Direction.READ else "WRITE"


def bytes_name(direction: Direction) -> str:
    """The name of the counter of a direction's bytes."""
    return "BYTES_READ" if direction is Direction.READ else "BYTES_WRITTEN"


def histogram_names(module: str, direction: Direction) -> list[str]:
    """The names of the ten counters of a module's size histogram; none for STDIO."""
    if module == "STDIO":
        return []
    infix = "" if module == "POSIX" else "_AGG"
    return [f"SIZE_{kind_of(direction)}{infix}_{name}" for name in SIZE_BINS]


def operation_names(module: str, direction: Direction) -> list[str]:
    """The names of the counters that add up to a module's read or write calls of all kinds."""
    kind = f"{kind_of(direction)}S"
    return list(SUMS.get(module, {}).get(kind, (kind,)))


def operations_of(facts: ModuleFacts, direction: Direction) -> int:
    """Read or write calls of a module, of all kinds."""
    return sum(facts.totals(operation_names(facts.module, direction)))


def collective_of(facts: ModuleFacts, direction: Direction) -> int:
    """Collective calls, summed over ranks."""
    kind = f"{kind_of(direction)}S"
    if facts.module == "H5D":
        collective = facts.column("USE_MPIIO_COLLECTIVE") > 0
        return facts.rows(np.flatnonzero(collective)).total(kind)
    if facts.module == "MPI-IO":
        return facts.total(f"COLL_{kind}") + facts.total(f"SPLIT_{kind}")
    if facts.module == "PNETCDF_VAR":
        return facts.total(f"COLL_{kind}")
    return 0


NOT_OPENS = {"POSIX": ("FILENOS", "DUPS"), "STDIO": ("FDOPENS",)}
"""Calls on a descriptor that is open already, which OPENS includes in versions that count them."""


def opens_in(facts: ModuleFacts, nprocs: int, posix: ModuleFacts | None = None) -> int:
    """Opens of a file in POSIX or STDIO by all of the job's `nprocs` ranks (docs/reference/darshan-meaning.md#opens).

    Where there is nothing but calls on open descriptors, somebody else opened them: a stream whose descriptor moves
    the data (C++ streams ask for it at each call), or a descriptor that was inherited. Each rank's first one counts.
    Streams on descriptors that POSIX has opened (`posix`: its records of the file) are opened as often as these.
    """
    opens = facts.total("OPENS")
    real = max(0, opens - sum(facts.totals(NOT_OPENS[facts.module])))
    if facts.module == "STDIO" and posix is not None and opens and not real:
        real = max(0, posix.total("OPENS") - sum(posix.totals(NOT_OPENS["POSIX"])))
    reduced = int((facts.ranks < 0).sum())
    return real or min(opens, len(facts.ranks) + reduced * (nprocs - 1))


def common_sizes(facts: ModuleFacts) -> list[Pair]:
    """(size, count) of the common sizes, summed over the records and both directions."""
    counts: dict[int, int] = defaultdict(int)
    for size_name, count_name in zip(ACCESSES, COUNTS, strict=True):
        sizes, times = facts.column(size_name).tolist(), facts.column(count_name).tolist()
        for size, count in zip(sizes, times, strict=True):
            if count > 0 and size >= 0:
                counts[size] += count
    return sorted(counts.items())
