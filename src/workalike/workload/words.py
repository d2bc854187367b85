"""The closed vocabulary of a workload: all words that can be values in a workload file."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    CHECKPOINT = "checkpoint"
    VISUALIZATION = "visualization"
    RESTART = "restart"
    INPUT = "input"
    SCRATCH = "scratch"
    OUTPUT = "output"
    LOG = "log"
    OTHER = "other"


class Privacy(StrEnum):
    """What of an application's numbers a workload has (`privacy.py`)."""

    NAMES = "names"
    """All of them: only names are left out."""
    ROUNDED = "rounded"
    SUMMARY = "summary"


class Interface(StrEnum):
    """The library that the application called."""

    POSIX = "posix"
    STDIO = "stdio"
    MPIIO = "mpiio"
    HDF5 = "hdf5"
    TYPHONIO = "typhonio"
    PNETCDF = "pnetcdf"
    ADIOS2 = "adios2"


HDF5_INTERFACES = (Interface.HDF5, Interface.TYPHONIO)
DATASET_INTERFACES = (*HDF5_INTERFACES, Interface.PNETCDF, Interface.ADIOS2)


class Level(StrEnum):
    """The level at which bytes and operations are counted (docs/reference/terms.md#level)."""

    POSIX = "posix"
    STDIO = "stdio"
    MPIIO = "mpiio"
    H5D = "h5d"
    PNETCDF = "pnetcdf"


class SharingMode(StrEnum):
    SHARED = "shared"
    PER_RANK = "per-rank"
    GROUPS = "groups"
    SUBSET = "subset"
    ROOT = "root"


class Turns(StrEnum):
    CONCURRENT = "concurrent"
    BATON = "baton"


class Lifetime(StrEnum):
    """One file per dump; one file that stays open, appended to or overwritten; one that is opened again at each dump."""

    PER_DUMP = "per-dump"
    APPENDED = "appended"
    OVERWRITTEN = "overwritten"
    REUSED = "reused"


STAYS_OPEN = (Lifetime.APPENDED, Lifetime.OVERWRITTEN)
"""Lifetimes of a file that is open from the first dump to the last."""


class Direction(StrEnum):
    READ = "read"
    WRITE = "write"


class Pattern(StrEnum):
    CONTIGUOUS = "contiguous"
    INTERLEAVED = "interleaved"
    STRIDED = "strided"
    RANDOM = "random"
    SHUFFLED = "shuffled"
    SAME = "same"
    REPLICATED = "replicated"


AT_RANDOM = (Pattern.RANDOM, Pattern.SHUFFLED)
"""Patterns of operations in random order: each rank in a region of its own, or all ranks in one."""


class Order(StrEnum):
    """The order in which a data set is read; shuffled: at random, but the same in every epoch."""

    SEQUENTIAL = "sequential"
    SHUFFLED = "shuffled"
    SHUFFLED_EACH_EPOCH = "shuffled-each-epoch"


class Split(StrEnum):
    """What the readers of a data set share out among them; none: each reads everything."""

    FILES = "files"
    SAMPLES = "samples"
    NONE = "none"


class Reader(StrEnum):
    WRITER = "writer"
    NEIGHBOUR = "neighbour"


class Layout(StrEnum):
    """How HDF5 stores a dataset."""

    CONTIGUOUS = "contiguous"
    CHUNKED = "chunked"


class FileDriver(StrEnum):
    """How HDF5 opens a file: over MPI-IO, or each rank by itself with POSIX (H5Pset_fapl_mpio, H5Pset_fapl_sec2)."""

    MPI = "mpi"
    SERIAL = "serial"


class TyphonioPattern(StrEnum):
    """The calls of the TyphonIO library, or fewer and larger ones that write the same logical file."""

    FAITHFUL = "faithful"
    OPTIMISED = "optimised"


class FileSpace(StrEnum):
    """How an HDF5 file manages its free space (H5Pset_file_space_strategy)."""

    FSM_AGGR = "fsm-aggr"
    PAGE = "page"
    AGGR = "aggr"
    NONE = "none"


class LibraryBounds(StrEnum):
    """The oldest HDF5 format that a file may use (H5Pset_libver_bounds)."""

    EARLIEST = "earliest"
    V18 = "v18"
    V110 = "v110"
    LATEST = "latest"


class Assumption(StrEnum):
    """What the log does not show and was assumed instead."""

    PLACEMENT = "placement"  # offsets follow from counters, not from a trace
    RANK_SHARES = "rank-shares"  # how much each rank moved, in a reduced record
    SIZES = "sizes"  # sizes other than the four common ones are solved from the histogram
    STATES = "states"  # the number of dumps in a long-lived file
    STATE_SIZES = (
        "state-sizes"  # the bytes of each state follow the checkpoints' growth (Eq. 2 to 4), or are equal
    )
    SCHEDULE = "schedule"  # dump times are evenly spread, or those of another family
    ROLE = "role"
    DATASET_SHAPE = "dataset-shape"
    ORDER = "order"  # the order of streams in a dump
    BATCH = "batch"  # samples of a batch: several numbers share out a data set alike
    SYNC_PLACE = "sync-place"
    LATE_RANKS = "late-ranks"  # ranks are late at more dumps than a window has groups for
    DELETIONS = "deletions"  # a log has how often a file was deleted, not when
    HOLES = "holes"  # bytes are read that no dump wrote: of a hole, or there before the run
    LIBRARY = "library"  # what the library does below its calls
    DECK = "deck"  # taken from another workload's input deck


class Difference(StrEnum):
    """What sets one reading of a family apart from another that has the same counters."""

    CONTIGUOUS_WRITES = "contiguous-writes"
    INTERLEAVED_WRITES = "interleaved-writes"
    STRIDED_WRITES = "strided-writes"
    RANDOM_WRITES = "random-writes"
    SHUFFLED_WRITES = "shuffled-writes"
    SAME_WRITES = "same-writes"
    REPLICATED_WRITES = "replicated-writes"
    CONTIGUOUS_READS = "contiguous-reads"
    INTERLEAVED_READS = "interleaved-reads"
    STRIDED_READS = "strided-reads"
    RANDOM_READS = "random-reads"
    SHUFFLED_READS = "shuffled-reads"
    SAME_READS = "same-reads"
    REPLICATED_READS = "replicated-reads"
    ONE_PASS = "one-pass"
    SEVERAL_PASSES = "several-passes"
    ONE_DUMP = "one-dump"
    SEVERAL_DUMPS = "several-dumps"
    WRITES_FIRST = "writes-first"
    READS_FIRST = "reads-first"
    PER_DUMP = "a-file-per-dump"
    APPENDED = "appended-dumps"
    OVERWRITTEN = "overwritten-dumps"
    REUSED = "a-file-opened-anew"


class Reason(StrEnum):
    """Why data of the log are not in the workload."""

    PARTIAL_MODULE = "partial-module"
    UNSUPPORTED_MODULE = "unsupported-module"
    MISSING_RANKS = "missing-ranks"
    UNKNOWN_COUNTERS = "unknown-counters"
    SIEVING = "sieving"
    LIBRARY_METADATA = "library-metadata"
    FILL_VALUES = "fill-values"
    WHOLE_CHUNKS = "whole-chunks"
    NOISE = "noise"  # of workloads before version 0.9; now one of the next two
    PROGRAM_START = "program-start"
    NEGLIGIBLE = "negligible"
    MMAP = "mmap"


LOST = (
    *(Reason.PARTIAL_MODULE, Reason.UNSUPPORTED_MODULE, Reason.MISSING_RANKS),
    *(Reason.UNKNOWN_COUNTERS, Reason.MMAP),
)
"""Reasons that concern the application's own data. The others are a library's traffic and files that are set aside."""
