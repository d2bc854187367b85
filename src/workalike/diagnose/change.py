"""What a finding asks to change, as a change of the characterized workload, or of the layout of its files.

A rule names its changes. `changing` has the functions that rewrite the document of a family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workalike.diagnose import changing
from workalike.diagnose.changing import BLOCK, MPI, Apply


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


COLLECTIVE = Change("collective", "all transfers are collective", changing.collective, interfaces=MPI)
INDEPENDENT = Change("independent", "no transfer is collective", changing.independent, interfaces=MPI)
SYNC_ONCE = Change("sync-once", "one sync at the end of a dump, none amid its writes", changing.sync_once)
IN_ORDER = Change("in-order", "each rank goes through the file in order", changing.in_order)
AGGREGATED = Change(
    "aggregated", "each rank moves the same bytes in operations of up to 4 MiB", changing.aggregated
)
ONE_READER = Change(
    "one-reader",
    "rank 0 reads what all ranks read; passing it on by MPI is not measured",
    changing.one_reader,
)
ALL_WRITE = Change(
    "all-write",
    "every rank writes a part of what one rank writes; by MPI-IO and HDF5 collectively",
    changing.all_write,
)
AGGREGATORS = Change(
    "aggregators",
    "collective buffering has one aggregator on each node",
    changing.aggregators,
    interfaces=MPI,
)
WITHOUT_STDIO = Change(
    "without-stdio",
    "streams become writes and reads of up to 4 MiB, without a buffer of STDIO",
    changing.without_stdio,
    interfaces=("stdio",),
)
READ_ONCE = Change("read-once", "the same bytes are read once", changing.read_once)
MERGED = Change("merged", "the ranks of a dump share one file", changing.merged)
ALIGNED = Change(
    "aligned",
    "objects of HDF5 begin at multiples of 1 MiB",
    changing.tuned(alignment=BLOCK, threshold=1 << 16),
    interfaces=("hdf5",),
)
METADATA_TOGETHER = Change(
    "metadata-together", "metadata of HDF5 are collective, in blocks of 1 MiB",
    changing.tuned(collective_metadata=True, metadata_block=BLOCK), interfaces=("hdf5",),
)  # fmt: skip
CHUNKED = Change("chunked", "a chunk is what one access moves", changing.chunked, interfaces=("hdf5",))
NO_SIEVING = Change(
    "no-sieving", "no data sieving by MPI-IO", changing.tuned(data_sieving=False), interfaces=MPI
)
NO_FILL = Change("no-fill", "no fill values are written", changing.no_fill, interfaces=("hdf5", "pnetcdf"))
NO_SEEKS = Change("no-seeks", "no seek precedes an operation", changing.drop("seeks"))
NO_STATS = Change("no-stats", "no file is asked for its status", changing.drop("stats"))
OPENED_ONCE = Change("opened-once", "a rank opens a file once in a dump", changing.opened_once)
STRIPED = Change(
    "striped",
    "files lie in stripes of 1 MiB on all storage targets, or on one for each rank where their number is not known",
    layouts=tuple({"stripe_count": count, "stripe_size": "1 MiB"} for count in ("all", "ranks")),
)
ONE_STRIPE = Change("one-stripe", "each file lies on one storage target", layouts=({"stripe_count": 1},))
