"""The rules of characterization, each with the sentence that `characterize --rules` and the report show."""

from __future__ import annotations

from workalike.facts.rules import Rule


class RoleRule(Rule):
    """Why a family has its role."""

    CHECKPOINT_ONLY_READ = "checkpoint-only-read", "role: a checkpoint's name, only read"
    ONLY_READ = "only-read", "role: only read"
    NAME = "name", "role: a word of the name"
    READ_BACK = "read-back", "role: written and read back in pieces by its own ranks"
    APPENDED = "appended", "role: one file appended over the run"
    MOST_WRITTEN = "most-written", "role: written again and again, most of the bytes"
    LESS_WRITTEN = "less-written", "role: written again and again, a minor part of the bytes"
    WRITTEN_ONCE = "written-once", "role: written once"


class StatesRule(Rule):
    """Why a long-lived file has so many states."""

    GIVEN = "given", "states: given with --states"
    TRACE = "trace", "states: {count} bursts in the trace"
    DATASET = "dataset", "states: an appended dataset's bytes over its size when opened"
    H5F_FLUSHES = "h5f-flushes", "states: H5F flushes"
    PNETCDF_SYNCS = "pnetcdf-syncs", "states: PnetCDF syncs"
    MPIIO_SYNCS = "mpiio-syncs", "states: MPI-IO syncs"
    STDIO_FLUSHES = "stdio-flushes", "states: STDIO flushes"
    HEATMAP = "heatmap", "states: bursts in the heatmap"


class StateSizesRule(Rule):
    """Why a state has its size."""

    CHECKPOINTS = "checkpoints", "state sizes: the growth of the checkpoints (Eq. 2 to 4)"
    EQUAL = "equal", "state sizes: equal, for want of checkpoints to follow"


class TunableRule(Rule):
    """What settings follow from, or would."""

    STRIPING = "striping", "striping: the Lustre layout of its files"
    AGGREGATORS = "aggregators", "aggregators: {ranks} ranks at POSIX below collective MPI-IO"
    ALIGNMENT = (
        "alignment",
        "alignment: {share:.0f} % of POSIX operations start at a multiple of {multiple} bytes",
    )
    READ_MODIFY_WRITE = (
        "read-modify-write",
        "read-modify-write: {reads} reads of files that were only written above",
    )


class SynthesisRule(Rule):
    """Another reading of the counters than that of the rules, because its prediction is nearer to them."""

    REUSED = "reused", "files: one file that is opened anew for each dump (the predicted counters fit better)"
    OPENED_ANEW = (
        "opened-anew",
        "files: one file that each open begins anew (the predicted counters fit better)",
    )
    PASSES = "passes", "operations: several passes over the same bytes (the predicted counters fit better)"
    PLACED = "placed", "offsets: another pattern (the predicted counters fit better)"
    ORDER = "order", "operations: the other direction first (the predicted counters fit better)"


class ModelRule(Rule):
    """Why dumps are taken for what they are."""

    MESH = "mesh", "model mesh: as asked"
