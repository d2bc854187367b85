"""The parts of a Darshan log as data: headers, module numbers, record layouts.

A record layout is the list of counter names in stored order (docs/reference/darshan-format.md#modules). An old record
is converted to the current layout by name; a name that the current layout does not have is dropped.

Names have no module prefix: ``BYTES_READ``, ``F_READ_TIME``. All counters are 8 bytes wide (int64 or float64), and
records have no padding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workalike.darshan.bins import SIZE_BINS
from workalike.files import LOG_MAGIC

MAGIC = LOG_MAGIC
"""Magic number of every header, which shows the log's byte order (docs/reference/darshan-format.md#header)."""

CURRENT_FORMAT = "3.41"

ZLIB, BZIP2, UNCOMPRESSED = 0, 1, 2
"""Compression codes of the header; one code applies to all regions."""


@dataclass(frozen=True, slots=True)
class HeaderLayout:
    """Offsets of the fields of one header generation, in bytes (docs/reference/darshan-format.md#header).

    Attributes:
        size: size of the header; the job region begins there.
        partial: offset of the partial flags.
        partial_code: the struct letter of the partial flags.
        names: offset of (offset, length) of the name region, two u64.
        maps: offset of (offset, length) of the module regions, two u64 each, by stored module number.
        versions: offset of the record versions, u32 each.
        slots: number of modules that the header has room for.
        nanoseconds: whether the job region has nanosecond fields.
        counted_names: whether names are preceded by their length (3.00) instead of terminated by NUL.
        shifts: numbers to apply in this order; a stored module number >= such a number is one too small.
    """

    size: int
    partial: int
    partial_code: str
    names: int
    maps: int
    versions: int
    slots: int
    nanoseconds: bool = False
    counted_names: bool = False
    shifts: tuple[int, ...] = ()


def _old_header(counted_names: bool, shifts: tuple[int, ...]) -> HeaderLayout:
    return HeaderLayout(
        size=360,
        partial=20,
        partial_code="I",
        names=24,
        maps=40,
        versions=296,
        slots=16,
        counted_names=counted_names,
        shifts=shifts,
    )


HEADERS: dict[str, HeaderLayout] = {
    "3.00": _old_header(True, (4, 6)),
    "3.10": _old_header(False, (4, 6)),
    "3.20": _old_header(False, (6,)),
    "3.21": _old_header(False, (6,)),
    "3.41": HeaderLayout(
        size=1328,
        partial=24,
        partial_code="Q",
        names=32,
        maps=48,
        versions=1072,
        slots=64,
        nanoseconds=True,
    ),
}
"""Supported format versions. H5D was added in 3.20 and PNETCDF_VAR in 3.41: older files have other module numbers."""

LONGER_HEADER = 8192
"""Zero bytes that a modified Darshan leaves between header and job region (docs/reference/darshan-format.md#older-headers)."""

METADATA_BYTES = 1024
"""Size of the key=value text in the job region."""

MODULE_NAMES: tuple[str, ...] = (
    "NULL",
    "POSIX",
    "MPI-IO",
    "H5F",
    "H5D",
    "PNETCDF_FILE",
    "PNETCDF_VAR",
    "BG/Q",
    "LUSTRE",
    "STDIO",
    "DXT_POSIX",
    "DXT_MPIIO",
    "MDHIM",
    "APXC",
    "APMPI",
    "HEATMAP",
    "DFS",
    "DAOS",
)
"""Module names by number (docs/reference/darshan-format.md#modules)."""

MODULE_IDS: dict[str, int] = {name: number for number, name in enumerate(MODULE_NAMES)}


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """One version of a fixed-size record: 16 bytes of id and rank, then 8 bytes for each name.

    Attributes:
        counters: names of the int64 values in stored order.
        fcounters: names of the float64 values in stored order.
        file_id: whether a u64 record id of the file comes between the head and the counters.
        sums: counters of the current layout that are sums of counters stored under other names.
    """

    counters: tuple[str, ...]
    fcounters: tuple[str, ...]
    file_id: bool = False
    sums: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def words(self) -> int:
        """Size of a record in 8-byte words."""
        return 2 + self.file_id + len(self.counters) + len(self.fcounters)


@dataclass(frozen=True, slots=True)
class ModuleLayout:
    """All known versions of one module's record by number; the highest is current."""

    versions: dict[int, RecordLayout]

    @property
    def current_version(self) -> int:
        return max(self.versions)

    @property
    def current(self) -> RecordLayout:
        return self.versions[self.current_version]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_RANKS = _words("FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES")
_MAX_TIME_SIZES = _words("MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE")
_FOUR = ("1", "2", "3", "4")
_DIMS = ("D1", "D2", "D3", "D4", "D5")


def _histogram(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{size}" for size in SIZE_BINS)


def _accesses() -> tuple[str, ...]:
    return tuple(f"ACCESS{k}_ACCESS" for k in _FOUR) + tuple(f"ACCESS{k}_COUNT" for k in _FOUR)


def _array_accesses() -> tuple[str, ...]:
    groups: list[str] = []
    for k in _FOUR:
        groups.append(f"ACCESS{k}_ACCESS")
        groups += [f"ACCESS{k}_LENGTH_{dim}" for dim in _DIMS]
        groups += [f"ACCESS{k}_STRIDE_{dim}" for dim in _DIMS]
    return tuple(groups) + tuple(f"ACCESS{k}_COUNT" for k in _FOUR)


def _without(names: tuple[str, ...], *gone: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in gone)


_TIMES = _words(
    "F_OPEN_START_TIMESTAMP F_READ_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_CLOSE_START_TIMESTAMP "
    "F_OPEN_END_TIMESTAMP F_READ_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_CLOSE_END_TIMESTAMP "
    "F_READ_TIME F_WRITE_TIME F_META_TIME F_MAX_READ_TIME F_MAX_WRITE_TIME "
    "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES"
)
_OLD_TIMES = _without(_TIMES, "F_CLOSE_START_TIMESTAMP", "F_OPEN_END_TIMESTAMP")

_POSIX = (
    _words(
        "OPENS FILENOS DUPS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS "
        "RENAME_SOURCES RENAME_TARGETS RENAMED_FROM MODE BYTES_READ BYTES_WRITTEN "
        "MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES RW_SWITCHES "
        "MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT"
    )
    + _MAX_TIME_SIZES
    + _histogram("SIZE_READ")
    + _histogram("SIZE_WRITE")
    + tuple(f"STRIDE{k}_STRIDE" for k in _FOUR)
    + tuple(f"STRIDE{k}_COUNT" for k in _FOUR)
    + _accesses()
    + _RANKS
)
_POSIX_3 = _without(_POSIX, "FILENOS", "DUPS", "RENAME_SOURCES", "RENAME_TARGETS", "RENAMED_FROM")
_POSIX_1 = _POSIX_3[:6] + _words("FOPENS FREADS FWRITES FSEEKS") + _POSIX_3[6:]

_MPIIO = (
    _words(
        "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES "
        "NB_READS NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN RW_SWITCHES"
    )
    + _MAX_TIME_SIZES
    + _histogram("SIZE_READ_AGG")
    + _histogram("SIZE_WRITE_AGG")
    + _accesses()
    + _RANKS
)

_STDIO = (
    _words("OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN")
    + _RANKS
)
_STDIO_TIMES = _words(
    "F_META_TIME F_WRITE_TIME F_READ_TIME "
    "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_READ_START_TIMESTAMP "
    "F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_READ_END_TIMESTAMP "
    "F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES"
)

_OPEN_CLOSE_TIMES = _words(
    "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP"
)
_OPEN_CLOSE_TIMES_1 = _words("F_OPEN_START_TIMESTAMP F_CLOSE_END_TIMESTAMP")

_H5D = (
    _words(
        "OPENS READS WRITES FLUSHES BYTES_READ BYTES_WRITTEN RW_SWITCHES "
        "REGULAR_HYPERSLAB_SELECTS IRREGULAR_HYPERSLAB_SELECTS POINT_SELECTS"
    )
    + _MAX_TIME_SIZES
    + _histogram("SIZE_READ_AGG")
    + _histogram("SIZE_WRITE_AGG")
    + _array_accesses()
    + _words("DATASPACE_NDIMS DATASPACE_NPOINTS DATATYPE_SIZE")
    + tuple(f"CHUNK_SIZE_{dim}" for dim in _DIMS)
    + _words("USE_MPIIO_COLLECTIVE USE_DEPRECATED")
    + _RANKS
)

_PNETCDF_OPENS = RecordLayout(
    _words("INDEP_OPENS COLL_OPENS"), _OPEN_CLOSE_TIMES, sums={"OPENS": ("INDEP_OPENS", "COLL_OPENS")}
)
_KINDS = _words("VAR VAR1 VARA VARS VARM VARN VARD")
_PNETCDF_VAR = (
    _words(
        "OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES NB_READS NB_WRITES "
        "BYTES_READ BYTES_WRITTEN RW_SWITCHES"
    )
    + tuple(f"{call}_{kind}" for call in ("PUT", "GET") for kind in _KINDS)
    + tuple(f"{call}_{kind}" for call in ("IPUT", "IGET", "BPUT") for kind in _KINDS[:6])
    + _MAX_TIME_SIZES
    + _histogram("SIZE_READ_AGG")
    + _histogram("SIZE_WRITE_AGG")
    + _array_accesses()
    + _words("NDIMS NPOINTS DATATYPE_SIZE IS_RECORD_VAR")
    + _RANKS
)

FIXED: dict[str, ModuleLayout] = {
    "POSIX": ModuleLayout(
        {
            1: RecordLayout(_POSIX_1, _OLD_TIMES),
            2: RecordLayout(_POSIX_3, _OLD_TIMES),
            3: RecordLayout(_POSIX_3, _TIMES),
            4: RecordLayout(_POSIX, _TIMES),
        }
    ),
    "MPI-IO": ModuleLayout(
        {
            1: RecordLayout(_MPIIO, _OLD_TIMES),
            2: RecordLayout(_MPIIO, _OLD_TIMES),
            3: RecordLayout(_MPIIO, _TIMES),
        }
    ),
    "H5F": ModuleLayout(
        {
            1: RecordLayout(("OPENS",), _OPEN_CLOSE_TIMES_1),
            2: RecordLayout(("OPENS",), _OPEN_CLOSE_TIMES),
            3: RecordLayout(_words("OPENS FLUSHES USE_MPIIO"), (*_OPEN_CLOSE_TIMES, "F_META_TIME")),
        }
    ),
    "H5D": ModuleLayout({1: RecordLayout(_H5D, _TIMES), 2: RecordLayout(_H5D, _TIMES, file_id=True)}),
    "PNETCDF_FILE": ModuleLayout(
        {
            1: RecordLayout(_PNETCDF_OPENS.counters, _OPEN_CLOSE_TIMES_1, sums=_PNETCDF_OPENS.sums),
            2: _PNETCDF_OPENS,
            3: RecordLayout(
                _words(
                    "CREATES OPENS REDEFS INDEP_WAITS COLL_WAITS SYNCS BYTES_READ BYTES_WRITTEN WAIT_FAILURES"
                ),
                _words(
                    "F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP F_WAIT_START_TIMESTAMP "
                    "F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WAIT_END_TIMESTAMP F_META_TIME F_WAIT_TIME"
                ),
            ),
        }
    ),
    "PNETCDF_VAR": ModuleLayout({1: RecordLayout(_PNETCDF_VAR, _TIMES, file_id=True)}),
    "STDIO": ModuleLayout(
        {
            1: RecordLayout(_without(_STDIO, "FDOPENS"), _STDIO_TIMES),
            2: RecordLayout(_STDIO, _STDIO_TIMES),
        }
    ),
}
"""Modules with records of fixed size, in all supported versions (docs/reference/darshan-format.md#modules)."""

MISSING_VALUE = -1
"""Value of counters that an old version did not store: "not measured", which is not zero."""

MISSING_VALUES: dict[str, int] = {"RENAMED_FROM": 0}
"""Exceptions from MISSING_VALUE: a record id cannot be -1, so "not renamed" is 0."""

VARIABLE: dict[str, tuple[int, ...]] = {
    "LUSTRE": (1, 2),
    "HEATMAP": (1,),
    "DXT_POSIX": (1, 2),
    "DXT_MPIIO": (1, 2, 3),
}
"""Modules with records of variable size, and their supported versions."""

DXT_SEGMENT_BYTES: dict[tuple[str, int], int] = {
    ("DXT_POSIX", 1): 32,
    ("DXT_POSIX", 2): 40,
    ("DXT_MPIIO", 1): 32,
    ("DXT_MPIIO", 2): 32,
    ("DXT_MPIIO", 3): 40,
}
"""Bytes of one traced operation; 40 include a thread number."""

DXT_HEAD_BYTES = 104
HEATMAP_HEAD_BYTES = 48
LUSTRE_HEAD_BYTES = 32
LUSTRE_COMPONENT_BYTES = 72

HEATMAP_APIS: tuple[str, ...] = ("POSIX", "MPIIO", "STDIO", "DFS", "DAOS")
"""Heatmap records are named ``heatmap:`` followed by one of these (docs/reference/darshan-format.md#name-region)."""
