"""By which counters two logs are compared, and how those of several records of a file become one value."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from workalike.facts.counters import ACCESSES, COUNTS, STRIDE_COUNTS, STRIDES

MODULES = ("POSIX", "STDIO", "MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
"""Modules with counters, in the order in which they are shown."""
OBJECTS = {"H5D": "DATASETS", "PNETCDF_VAR": "VARIABLES"}
"""Modules with a record for each dataset or variable of a file, and what the number of these is called."""
FILE = "FILE"
"""Stands for a module where the facts are of the file itself: layout, deletions, truncations."""
JOB = "JOB"
"""Stands for a module where the facts are of the whole job."""


class Use(StrEnum):
    """What becomes of a counter. All but the last three are compared."""

    SUM = "sum over the records of a file"
    LARGEST = "largest of the records of a file"
    EXACT = "largest of the records of a file; any difference is a change"
    OBJECTS = "sum over the datasets or variables of a file"
    TABLE = "pairs of a value and its count"
    ENVIRONMENT = "a note where it differs"
    LEFT_OUT = "not compared"


REASONS = {
    "MAX_READ_TIME_SIZE": "size of the slowest call: follows from times",
    "MAX_WRITE_TIME_SIZE": "size of the slowest call: follows from times",
    "FASTEST_RANK": "a rank, chosen by times",
    "FASTEST_RANK_BYTES": "bytes of a rank that is chosen by times",
    "SLOWEST_RANK": "a rank, chosen by times",
    "SLOWEST_RANK_BYTES": "bytes of a rank that is chosen by times",
    "RENAMED_FROM": "an id of a file; RENAME_SOURCES and RENAME_TARGETS count the calls",
}
"""Counters that are not compared, and why."""

ENVIRONMENT = {
    "MEM_ALIGNMENT": "a setting of the instrument",
    "MEM_NOT_ALIGNED": "where the memory allocator has put buffers",
    "FILE_ALIGNMENT": "the block size of the file system",
    "MODE": "permissions, which MPI libraries take from the umask",
}
"""Counters whose difference is a note, and what they depend on. MODE at MPI-IO is how a file is opened, and compared."""

FOLLOWS = {"FILE_NOT_ALIGNED": "FILE_ALIGNMENT"}
"""Counters that are compared only where another one is equal."""

_PARTS = ("CONSEC_", "SEQ_", "SIZE_", "RW_SWITCHES", "FILE_NOT_ALIGNED")


def is_part_of_calls(name: str) -> bool:
    """Whether a counter counts those of a file's reads and writes that have some property: an order, a size."""
    return name.startswith(_PARTS)


_EXACT = frozenset({"MODE", "USE_MPIIO", "STRIPE_SIZE", "STRIPE_COUNT"})
_LARGEST = frozenset({"MAX_BYTE_READ", "MAX_BYTE_WRITTEN"})
_OF_OBJECTS = frozenset(
    {
        *("DATASPACE_NDIMS", "DATASPACE_NPOINTS", "DATATYPE_SIZE", "NDIMS", "NPOINTS", "IS_RECORD_VAR"),
        *(f"CHUNK_SIZE_D{dimension}" for dimension in range(1, 6)),
        *("USE_MPIIO_COLLECTIVE", "USE_DEPRECATED"),
    }
)
_TABLES = frozenset((*ACCESSES, *COUNTS, *STRIDES, *STRIDE_COUNTS))
_TABLE_STARTS = tuple(f"ACCESS{place}_{what}" for place in range(1, 5) for what in ("LENGTH_", "STRIDE_"))


@cache
def use_of(module: str, name: str) -> Use:
    """What becomes of a counter of a module."""
    if name in REASONS:
        return Use.LEFT_OUT
    if name in ENVIRONMENT and (module, name) != ("MPI-IO", "MODE"):
        return Use.ENVIRONMENT
    if name in _TABLES or name.startswith(_TABLE_STARTS):
        return Use.TABLE
    if name in _EXACT:
        return Use.EXACT
    if name in _LARGEST:
        return Use.LARGEST
    return Use.OBJECTS if name in _OF_OBJECTS else Use.SUM
