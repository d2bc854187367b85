"""The rules of characterization, with the sentences that `characterize --rules` and the report show."""

from __future__ import annotations

from workalike.facts.rules import Rule


class RoleRule(Rule):
    """Why a family has its role."""

    CHECKPOINT_ONLY_READ = "checkpoint-only-read", "role: named as a checkpoint, only read"
    ONLY_READ = "only-read", "role: only read"
    NAME = "name", "role: a word in the name"
    NO_DATA = "no-data", "role: no data moved"
    READ_BACK = "read-back", "role: written and read back in pieces by its own ranks"
    LINES = "lines", "role: one file appended over the run line by line"
    APPENDED = "appended", "role: one file appended over the run"
    MOST_WRITTEN = "most-written", "role: written repeatedly, most of the bytes"
    LESS_WRITTEN = "less-written", "role: written repeatedly, a minor part of the bytes"
    WRITTEN_ONCE = "written-once", "role: written once"


class StatesRule(Rule):
    """How the number of states of a long-lived file was found."""

    GIVEN = "given", "states: given with --states"
    TRACE = "trace", "states: {count} bursts in the trace"
    DATASET = "dataset", "states: bytes of an appended dataset divided by its size when opened"
    H5F_FLUSHES = "h5f-flushes", "states: H5F flushes"
    PNETCDF_RECORDS = (
        "pnetcdf-records",
        "states: records of PnetCDF, each counted in the header when it was written",
    )
    PNETCDF_SYNCS = "pnetcdf-syncs", "states: PnetCDF syncs"
    MPIIO_SYNCS = "mpiio-syncs", "states: MPI-IO syncs"
    STDIO_FLUSHES = "stdio-flushes", "states: STDIO flushes"
    HEATMAP = "heatmap", "states: bursts in the heatmap"


class StateSizesRule(Rule):
    """How the sizes of states were found."""

    CHECKPOINTS = "checkpoints", "state sizes: the growth of the checkpoints (Eq. 2 to 4)"
    EQUAL = "equal", "state sizes: equal, without checkpoints to follow"


class TunableRule(Rule):
    """What a tunable field follows from, or what to know about such settings."""

    STRIPING = "striping", "striping: the Lustre layout of its files"
    AGGREGATORS = "aggregators", "aggregators: {ranks} ranks at POSIX below collective MPI-IO"
    ALIGNMENT = (
        "alignment",
        "alignment: {share:.0f} % of POSIX operations start at a multiple of {multiple} bytes",
    )
    SERIAL = "serial", "driver: POSIX has calls of its files, and MPI-IO none"
    DEFLATE = "deflate", "deflate: the file has {stored:,} bytes of the {data:,} that were written"
    READ_MODIFY_WRITE = (
        "read-modify-write",
        "read-modify-write: {reads} POSIX reads of files that MPI-IO only wrote",
    )


class ReaderRule(Rule):
    """Which rank reads a file back."""

    NEIGHBOUR = (
        "neighbour",
        "reader: each file has a record of the rank that wrote it, and of one {places} places before that read it",
    )


class FileRule(Rule):
    """What becomes of a family's files, as the log or its side file says."""

    BACKED_UP = (
        "backed-up",
        "files: each dump's takes the name of the one before, which is renamed and kept, as the log's renames say",
    )
    FILES_OF_ONE_NAME = (
        "files-of-one-name",
        "files: a name was opened and renamed several times, each time as a file of its own",
    )
    BUFFERED = (
        "buffered",
        "files: opened by POSIX and also moved by streams of the C library, which STDIO counts",
    )
    RENAMED_ON = (
        "renamed-on",
        "files: renamed when they are closed, as often as the log counts for their names and those in between",
    )
    TRUNCATED = "truncated", "files: emptied by each dump, as the side file of the log says"
    REMOVED = "removed", "files: deleted after their last dump, as the side file of the log says"
    FOLDERS = "folders", "files: in several folders, by their names"
    OLDER_REMOVED = "older-removed", "files: all but the newest are deleted, as the side file of the log says"


class SparseRule(Rule):
    """What is read of bytes that no dump wrote."""

    SPARSE = (
        "sparse",
        "reads: also of bytes between those that dumps wrote, which are taken as holes of the file",
    )
    OLDER_DATA = (
        "older-data",
        "reads: also of bytes that no dump wrote, which are taken as data from before the run",
    )


class MetadataRule(Rule):
    """When a library's metadata are moved."""

    METADATA_APART = (
        "metadata-apart",
        "operations: the library's metadata read before the data and written after it, as its records or the ranks' "
        "last writes show",
    )


class TraceRule(Rule):
    """What a complete trace has decided."""

    CONFIRMED = "confirmed", "operations: each one as in the complete trace"
    READ_OFF = "read-off", "operations: rules read off the complete trace, which give each of its operations"
    TABLE = (
        "table",
        "operations: those of the complete trace, in an operation table, because no few rules give them",
    )


class OrderRule(Rule):
    """How the order of operations came about where no rule gives it."""

    FROM_COUNTERS = (
        "order-from-counters",
        "operations: an order that goes back, goes on, leaves gaps and changes direction as often as in the log, in an "
        "operation table",
    )


class DatasetRule(Rule):
    """Why files are a data set that is read in epochs."""

    EPOCHS = "epochs", "content: a data set read in {epochs} epochs: only read, and every file as often"


class ModelRule(Rule):
    """How the content of dumps was chosen."""

    MESH = "mesh", "model mesh: as asked"
