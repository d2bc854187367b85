"""The thresholds and limits of facts and characterization, each with its unit and what it decides.

A threshold decides what a log means. `workalike thresholds LOG...` prints which logs change when one is halved or
doubled; `threshold_evidence` has known logs that change, or else a test. One that changes nothing has no place here.
A limit bounds work, memory, or what a damaged log can claim; few logs come near one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from workalike.facts.threshold_evidence import SEEN_ON


class Kind(StrEnum):
    """Whether a value decides what a log means, or bounds what is done."""

    THRESHOLD = "threshold"
    LIMIT = "limit"


def _threshold(value: Any, unit: str, decides: str) -> Any:
    return field(default=value, metadata={"kind": Kind.THRESHOLD, "unit": unit, "decides": decides})


def _limit(value: Any, unit: str, bounds: str) -> Any:
    return field(default=value, metadata={"kind": Kind.LIMIT, "unit": unit, "decides": bounds})


@dataclass
class Thresholds:
    """The values in use; only `varied` changes them."""

    # facts.levels
    level_explains: float = _threshold(
        0.95,
        "share",
        "A level is taken where it moved at least this share of what the level below moved for the application.",
    )
    level_minor: float = _threshold(
        0.01,
        "share",
        "A direction with at most this share of the other one's bytes is counted at the level of the other one.",
    )
    level_metadata: int = _threshold(
        2**20,
        "bytes",
        "A library's own traffic of more bytes than this, and more than the data, is not metadata.",
    )
    level_filled: float = _threshold(
        0.5, "share", "Fill values are named where at least this share of the chunked data was written twice."
    )
    # rehearse
    run_time_rounded: float = _limit(
        1.0, "seconds", "By how much a log's run time may be too short: old logs have whole seconds."
    )
    rehearsal_near: float = _limit(
        0.15,
        "share",
        "A family keeps its library where a rehearsal is off by at most this share in any counter below it.",
    )
    rehearsal_factor: float = _limit(
        2.0,
        "times",
        "Where a log does not name the libraries, a family is lowered for this factor in calls of POSIX, at least.",
    )
    rehearsal_ranks: int = _limit(
        4,
        "ranks",
        "A rehearsal has at most this number of ranks: more would wait for the cores of a login node.",
    )
    rehearsal_bytes: int = _limit(2**28, "bytes", "A rehearsal moves at most this number of bytes.")
    rehearsal_seconds: float = _limit(
        10.0, "seconds", "All runs of a rehearsal take at most this time together."
    )
    # facts.noise
    noise_negligible: float = _threshold(
        0.005,
        "share",
        "Files of a name pattern are negligible where they have at most this share of bytes, calls and seconds each,",
    )
    noise_negligible_all: float = _threshold(
        0.01, "share", "and all negligible files together at most this share."
    )
    noise_patterns: int = _threshold(
        12,
        "patterns",
        "Where a log's files have no more name patterns than this, none of them is negligible.",
    )
    noise_folder_stats: int = _threshold(
        4,
        "stats",
        "A folder of libraries is program start if it has at most this number of stats for each file of program start.",
    )
    # characterize.contents.data_sets
    dataset_uneven: float = _threshold(
        1.5, "factor", "Readers whose shares no batch explains share out a data set if they differ by less."
    )
    dataset_sequential: float = _threshold(
        0.5,
        "share",
        "Samples are read in sequence where more reads than this begin where the last one ended.",
    )
    dataset_sequential_files: float = _threshold(
        0.9, "share", "Files are read in sequence where at least this share follows the order of their names."
    )
    dataset_least: int = _threshold(
        8, "samples", "Files with fewer samples than this do not count as a data set."
    )
    dataset_few: int = _limit(
        100, "files", "Most files of unequal sizes whose drawn sizes must be in the bins that the log has."
    )
    dataset_listed: int = _limit(
        64,
        "files",
        "Most files that two interfaces read which are listed one by one; of more, each has a data set.",
    )
    # characterize.grouping.folders
    folders_files: int = _limit(16, "files", "Families of fewer files have no folders in the workload.")
    folders_unequal: float = _limit(
        2.0,
        "ratio",
        "Nor have those whose fullest folder has more than this many times the files of the median.",
    )
    # facts.lives
    life_share: float = _threshold(
        0.01, "share", "Processes live as long as the run where they begin and end within this share of it,"
    )
    life_least: float = _threshold(0.02, "s", "or within this time.")
    # facts.times
    gap_least: float = _threshold(0.5, "s", "Dumps are separated by idle time longer than this,")
    gap_share: float = _threshold(0.01, "share", "and longer than this share of the span.")
    # facts.plausible
    plausible_bytes: int = _limit(
        2**50, "bytes", "Largest plausible bytes of a record, and of an operation (the engine's limit)."
    )
    plausible_operations: int = _limit(
        2**36, "operations", "Largest plausible number of operations of a record."
    )
    plausible_extent: int = _limit(2**56, "bytes", "Largest plausible offset.")
    plausible_else: int = _limit(2**62, "count", "Largest plausible value of any other counter.")
    plausible_run: float = _limit(
        1e8, "s", "Longest plausible run, and latest plausible timestamp: three years."
    )
    plausible_late: int = _limit(
        10,
        "factor",
        "A timestamp is plausible up to this multiple of the run time, since clocks of ranks differ,",
    )
    plausible_late_s: int = _limit(
        60, "s", "and this many seconds later, since old logs count whole seconds."
    )
    # facts.placement
    placed_consecutive: float = _threshold(
        0.8,
        "share",
        "One rank's operations are contiguous where this share of them directly follows the one before.",
    )
    placed_sequential: float = _threshold(
        0.5, "share", "Operations are random where less than this share of them goes forward."
    )
    placed_covers: float = _threshold(
        0.9,
        "share",
        "One rank's operations that go forward and cover this share of the extent are contiguous, not strided.",
    )
    placed_replicated: float = _threshold(
        1.5, "factor", "Ranks that together read this multiple of the file's extent read the same data."
    )
    # characterize.grouping.states
    states_most: int = _limit(10_000, "states", "A file with more states than this is one dump.")
    state_least: int = _threshold(
        65536,
        "bytes",
        "Smallest average size of a state: a text log that is written line by line has no states.",
    )
    state_begins: float = _threshold(
        0.02, "share", "A state begins when this share of its bytes has been moved,"
    )
    state_ends: float = _threshold(0.98, "share", "and ends when this share has been moved.")
    # characterize.grouping.state_sizes
    state_span: float = _threshold(
        0.1, "share", "A file that is written over less than this share of the run is one dump."
    )
    # characterize.contents.streams.streams
    sizes_most: int = _limit(24, "sizes", "Most different sizes of operations in a stream.")
    active_all: float = _threshold(
        0.8, "share", "All ranks of a reduced record are active where at least this share of them is."
    )
    rewritten: float = _threshold(
        1.25,
        "factor",
        "A file to which this multiple of its length is written is overwritten as a whole (a database, a scratch file).",
    )
    # characterize.contents.streams.stream_parts
    small_operation: int = _threshold(10240, "bytes", "Headers and other metadata are at most this large.")
    near_sizes: float = _threshold(
        1.02, "factor", "Sizes up to this multiple of the smallest count as one size."
    )
    segments_interleaved: float = _threshold(
        0.75,
        "share",
        "Ranks interleave operation by operation where they have at least this share of segments per operation.",
    )
    # characterize.contents.streams.repeated_access
    passes_most: int = _limit(
        16, "passes", "Most passes over a file in one dump that are streams of their own."
    )
    # characterize.contents.tunables
    aggregators_fewer: float = _threshold(
        0.8,
        "share",
        "Ranks with POSIX operations are aggregators where they are less than this share of the callers.",
    )
    alignment_share: float = _threshold(
        0.95, "share", "A file is aligned where this share of its operations is."
    )
    settings_files: int = _limit(
        1000, "files", "Settings are derived from this many files of a family, the first ones."
    )
    # characterize.assemble
    rules_files: int = _limit(
        100,
        "files",
        "Rules are collected from this many files of a family, the first ones: the others give the same.",
    )
    # characterize.contents.arrays.meshes
    mesh_reads: float = _threshold(
        0.01,
        "share",
        "A library that appends to a file reads at most this share of the bytes written, of its own tables.",
    )
    # characterize.contents.arrays.dataspace
    element_most: int = _limit(2**20, "bytes", "Largest element of a dataset.")
    chunk_most: int = _limit(2**32, "bytes", "HDF5's limit for the size of a chunk.")
    shapes_most: int = _limit(10_000, "shapes", "Most shapes that are tried for a dataset.")
    divisor_most: int = _limit(
        100_000, "elements", "Largest divisor that is looked for in a dataset's number of elements."
    )
    # characterize.grouping.sharing
    root_writers: float = _threshold(
        1.5, "ranks", "A reduced record with fewer effective writers than this is one rank's."
    )
    baton_share: float = _threshold(
        0.9, "share", "Ranks take turns where they do so in this share of the files."
    )
    root_bytes: float = _threshold(
        0.5, "share", "The rank that moved at least this share of the bytes is the root."
    )
    rank_sets_opens: float = _threshold(
        0.95,
        "share",
        "Dumps of other ranks are families of their own where the log has fewer opens than this share of one by each rank.",
    )
    rank_sets_most: int = _limit(
        8, "sets of ranks", "Most sets of ranks with files of their own that are families of their own."
    )
    # characterize.grouping.families
    long_lived_holds: int = _threshold(
        2,
        "files",
        "A file that is open while this many others of its pattern come and go is a family of its own.",
    )
    long_lived_most: int = _limit(20_000, "files", "Most files of a family whose open times are compared.")
    reopened_opens: int = _threshold(
        8,
        "opens",
        "Files of one rank that are opened at least so often are families of their own, if they are few.",
    )
    reopened_files: int = _limit(16, "files", "Most such files of one pattern.")
    families_most: int = _limit(
        200, "families", "With more families by name than this, names are taken to say nothing."
    )
    size_step: float = _threshold(
        2.0,
        "factor",
        "Files without names are of two families where the next size is larger by more than this.",
    )
    rotation_least: int = _threshold(
        3, "files", "Fewest files of a dump that may in fact be several dumps, each by one rank."
    )
    # characterize.times.barrier
    barrier_spread: float = _threshold(
        0.004,
        "share",
        "A dump begins with a barrier where starts of ranks differ by at most this share of the time since the dump before.",
    )
    # characterize.times.skew
    skew_share: float = _threshold(
        0.005,
        "share",
        "Ranks begin a dump together where their starts differ by at most this share of the run,",
    )
    skew_least: float = _threshold(0.005, "s", "or by this time.")
    skew_noise: float = _threshold(
        3.0,
        "factor",
        "A rank is late where it is so in every dump, and by more than this times what its delay differs from dump to dump.",
    )
    skew_dumps: int = _limit(
        256, "dumps", "Most dumps of a family, spread over all, whose late ranks are compared."
    )
    skew_groups: int = _limit(16, "groups", "Most groups of ranks of a family that begin late.")
    skew_ranges: int = _limit(64, "ranges", "Most ranges of ranks that all of these groups name.")
    # characterize.contents.arrays.filters
    deflate_most: float = _threshold(
        0.9,
        "share",
        "Datasets are compressed where the file has at most this share of the data written into them.",
    )
    deflate_metadata: int = _threshold(4096, "bytes", "Of these, this many are the library's own,")
    deflate_index: int = _threshold(48, "bytes", "or this many for each chunk, where that is more.")
    deflate_level: int = _threshold(4, "level", "Deflate's level, which no log has.")
    deflate_sample: int = _limit(
        2**19, "bytes", "Most bytes of a chunk for which the payload's compressibility is tried."
    )
    # characterize.contents.streams.rank_streams
    clusters_most: int = _limit(
        64, "clusters", "Most sets of ranks with the same operations in one direction of a dump."
    )
    sizes_listed: int = _limit(
        256,
        "sizes",
        "Most sizes of a collective call that are listed rank by rank, where each rank has its own.",
    )
    sizes_repeated: int = _limit(8192, "sizes", "Most of them in all calls; each call is a part of the plan.")
    ranks_even: float = _threshold(
        1.25, "factor", "Ranks share evenly where the largest share is at most this multiple of the smallest."
    )
    # characterize.contents.streams.sizes_of_dumps
    series_least: int = _threshold(3, "dumps", "Fewest dumps that one content and a list of sizes stand for.")
    series_operations: float = _threshold(
        0.005,
        "share",
        "The dumps' operations may differ by this share in all: a buffering library makes an extra call now and then.",
    )
    # characterize.contents.streams.sizes
    open_bin_most: int = _limit(
        10 * 2**30,
        "bytes",
        "Largest operation of the open bin when bytes of unknown operations are shared out.",
    )
    subsets_most: int = _limit(8, "sizes", "Most common sizes whose subsets are tried.")
    spread_most: int = _limit(1000, "sizes", "Most sizes over which operations of unknown sizes are spread.")
    # characterize.readings.operations.sizes_spread
    spread_tried: int = _limit(
        3, "numbers", "Most numbers of sizes that are tried until a rest makes the bytes exact."
    )
    # characterize.times.compute_time
    compute_least: float = _threshold(
        0.02, "share", "Below this share of a dump, compute time between operations is measurement noise."
    )
    # characterize.times.windows
    window_share: float = _threshold(
        0.001, "share", "Windows are left out where they move operations by at most this share of the run,"
    )
    window_least: float = _threshold(0.001, "s", "or by at most this time.")
    # facts.times
    compute_most: float = _limit(1e15, "s", "Largest plausible time of all ranks together.")
    # facts.trace_totals
    trace_room: int = _limit(2**16, "operations", "A trace that has fewer may have ended early from here on.")
    # facts.traces
    trace_most: int = _limit(20_000_000, "operations", "Longer traces are not read.")
    trace_runs: int = _limit(16, "runs", "Most contiguous runs of one rank that are kept as they are.")
    trace_overlap: float = _threshold(
        1.05, "factor", "A trace that moves more than this multiple of the bytes it covers overwrites itself."
    )
    trace_alike: float = _threshold(
        0.9, "share", "Ranks read the same data where this share of them reads the same region."
    )
    trace_dense: float = _threshold(
        0.8, "share", "One rank's operations that cover this share of their span are contiguous, not strided."
    )
    trace_forward: float = _threshold(
        0.75, "share", "Operations are random where less than this share of the bytes goes forward."
    )
    # characterize.contents.arrays.arrays
    array_groups: int = _limit(
        512,
        "groups",
        "With more groups of equal datasets than this, the content is streams instead of arrays.",
    )
    array_owed: int = _threshold(
        2000,
        "factor",
        "Hyperslabs may miss the bytes by one part in this number; beyond that, extra slabs make up the difference.",
    )
    # characterize.traces.affine
    affine_clusters: int = _limit(
        8,
        "clusters",
        "Most sets of ranks with the same calls whose offsets become rules: beyond it, a table.",
    )
    affine_streams: int = _limit(
        16, "streams", "Most streams of a content that is read off a trace: beyond it, a table is shorter."
    )
    # characterize.traces.dump_per_file
    by_file_most: int = _limit(1000, "files", "Most files of groups that become a dump each.")
    # characterize.contents.sparse_reads
    holes_most: float = _threshold(
        0.5,
        "share",
        "Bytes that are read but that no dump wrote are holes where they are at most this share of the files up to the "
        "last byte read; otherwise they were there before the run.",
    )
    # characterize.readings.dumps_of_one_file
    reopened_uneven: float = _threshold(
        0.01,
        "share",
        "The first and the last dump of a file that is opened anew differ where their durations do by more than this share "
        "of the time from dump to dump.",
    )
    reopened_listed: int = _limit(
        100, "dumps", "Most dumps of a file that is opened anew whose starts are listed one by one."
    )
    # characterize.readings.files_of_one_name
    files_of_one_name: int = _limit(
        10_000, "files", "Most files of one name, each opened and renamed, that are dumps of their own."
    )
    # characterize.readings.placement.runs
    runs_most: int = _limit(
        1000, "runs", "Most runs, and most strides, of a rank's record that are read as runs."
    )
    runs_places: int = _limit(
        32,
        "operations",
        "Most operations of a run, and most blocks between headers, that are listed one by one.",
    )
    # characterize.contents.dealt_samples
    batch_shares: int = _limit(200_000, "shares", "Most shares of readers that are computed to find a batch.")
    # characterize.readings
    shuffled_deviations: float = _threshold(
        2.0,
        "standard deviations",
        "Operations at random are over the whole file where so much fewer follow each other than in regions of ranks.",
    )
    synthesis_calls: int = _limit(
        1_000_000,
        "calls",
        "Families with more calls are left as the rules have them: each other reading is walked call by call.",
    )
    readings_predicted: int = _limit(
        1000,
        "predictions",
        "Most readings of a family whose counters are predicted: the budget of the search.",
    )
    synthesis_rounds: int = _limit(
        3, "rounds", "Most other readings of a family that are taken, one on another."
    )
    synthesis_opened: int = _limit(
        10_000, "dumps", "Most dumps that a file becomes which is opened anew for each."
    )
    synthesis_strides: int = _limit(4, "strides", "Most strides of a record that are tried.")
    synthesis_finer: int = _limit(
        4,
        "factor",
        "Sizes that a log does not name are tried up to this many times rarer than those that it names.",
    )
    # characterize.orders
    orders_most: int = _limit(
        20_000, "operations", "Most operations of a family whose order is made from counters."
    )
    orders_small: int = _limit(
        100,
        "operations",
        "Most operations of a family whose order is made from counters where a random order may have them by chance.",
    )
    orders_some: int = _limit(
        1000, "operations", "As `orders_small`, where a random order is too far from them to be called alike."
    )
    orders_shares: int = _limit(
        20_000,
        "ways",
        "Most ways to share out common sizes between reads and writes that are tried for a family.",
    )
    orders_sizes: int = _limit(20, "lists", "Most lists of sizes of a record whose order is tried.")
    # characterize.readings.alternatives
    alternatives_named: int = _limit(2, "readings", "Most other readings that fit as well and are named.")
    alternatives_ranks: int = _limit(
        500, "ranks", "Most ranks whose operations are compared between two readings."
    )
    # characterize.grouping.roles
    role_checkpoint: float = _threshold(
        0.5,
        "share",
        "A family that is written repeatedly is a checkpoint where it has this share of the bytes.",
    )
    role_line: int = _threshold(
        512,
        "bytes",
        "A file appended over the run is a text log where its writes are at most this large, on average.",
    )


THRESHOLDS = Thresholds()
_DEFAULTS = Thresholds()
_LARGEST = 2**63 - 1  # an array of counters holds no more


@dataclass(frozen=True)
class Threshold:
    """A threshold or limit as a row of the table that the command prints."""

    kind: Kind
    name: str
    value: float
    unit: str
    decides: str
    seen_on: tuple[str, ...]


def table() -> list[Threshold]:
    """Every threshold and limit, in the order of the code that reads it."""
    return [
        Threshold(
            f.metadata["kind"],
            f.name,
            getattr(_DEFAULTS, f.name),
            f.metadata["unit"],
            f.metadata["decides"],
            SEEN_ON.get(f.name, ()),
        )
        for f in fields(Thresholds)
    ]


@contextmanager
def varied(name: str, factor: float) -> Iterator[None]:
    """Multiply a threshold by a factor within the context; whole numbers stay whole."""
    value = getattr(THRESHOLDS, name)
    changed = value * factor
    setattr(THRESHOLDS, name, min(round(changed), _LARGEST) if isinstance(value, int) else changed)
    try:
        yield
    finally:
        setattr(THRESHOLDS, name, value)


@contextmanager
def recorded() -> Iterator[set[str]]:
    """The names of the rows that are read within the context: no other one can change what it does."""
    read: set[str] = set()

    class Recording(Thresholds):
        def __getattribute__(self, name: str) -> Any:
            read.add(name)
            return super().__getattribute__(name)

    THRESHOLDS.__class__ = Recording
    try:
        yield read
    finally:
        THRESHOLDS.__class__ = Thresholds
