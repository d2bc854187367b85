"""The thresholds of facts and characterization, each with its unit and what it decides.

`workalike thresholds LOG...` prints which logs change when a threshold is halved or doubled. `SEEN_ON` has the known
logs that changed. A threshold without any there bounds work, bounds what a damaged log can claim, or decides a case
that only synthetic logs show.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any


def _threshold(value: Any, unit: str, decides: str) -> Any:
    return field(default=value, metadata={"unit": unit, "decides": decides})


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
    # facts.noise
    noise_text_logs: float = _threshold(
        0.05, "share", "Text logs are noise where all of them hold at most this share of the bytes."
    )
    noise_negligible: float = _threshold(
        0.005,
        "share",
        "The smallest files are noise while all of them together hold at most this share of the bytes,",
    )
    noise_negligible_bytes: int = _threshold(4 * 2**20, "bytes", "and at most so many bytes.")
    # characterize.datasets
    dataset_header: int = _threshold(
        2**16, "bytes", "Most bytes of a data set's file that no epoch reads: more of them are holes."
    )
    dataset_sequential: float = _threshold(
        0.5,
        "share",
        "Samples are read in sequence where more reads than this begin where the last one ended.",
    )
    dataset_sequential_files: float = _threshold(
        0.9, "share", "Files are read in sequence where at least this share follows the order of their names."
    )
    dataset_least: int = _threshold(8, "samples", "Files with fewer samples than this are no data set.")
    dataset_files: int = _threshold(
        4,
        "files",
        "Processes that read fewer files than this each, in sequence and no others, share no data set.",
    )
    dataset_reads: float = _threshold(
        0.01,
        "share",
        "A data set's plan has as many reads as the log, within this share; else it is no data set.",
    )
    dataset_uneven: float = _threshold(
        1.5, "factor", "Readers whose shares no batch explains share out a data set if they differ by less."
    )
    # facts.times
    gap_least: float = _threshold(0.5, "s", "Dumps are separated by idle time longer than this,")
    gap_share: float = _threshold(0.01, "share", "and longer than this share of the span.")
    # facts.plausible
    plausible_bytes: int = _threshold(
        2**50, "bytes", "Largest plausible bytes of a record, and of an operation (the engine's limit)."
    )
    plausible_operations: int = _threshold(
        2**36, "operations", "Largest plausible number of operations of a record."
    )
    plausible_extent: int = _threshold(2**56, "bytes", "Largest plausible offset.")
    plausible_else: int = _threshold(2**62, "count", "Largest plausible value of any other counter.")
    plausible_run: float = _threshold(
        1e8, "s", "Longest plausible run, and latest plausible timestamp: three years."
    )
    plausible_late: int = _threshold(
        10,
        "factor",
        "A timestamp is plausible up to so many times the run time, since clocks of ranks differ,",
    )
    plausible_late_s: int = _threshold(
        60, "s", "and so many seconds later, since old logs count whole seconds."
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
    placed_alternates: float = _threshold(
        0.5,
        "share",
        "Reads and writes that alternate in this share of the operations are read-modify-writes.",
    )
    placed_covers: float = _threshold(
        0.9,
        "share",
        "One rank's operations that go forward and cover this share of the extent are contiguous, not strided.",
    )
    placed_replicated: float = _threshold(
        1.5, "factor", "Ranks that together read so many times the file's extent read the same data."
    )
    placed_modified: float = _threshold(
        0.9, "share", "In a read-modify-write at least this share of the writes has a read before it."
    )
    # characterize.states
    states_most: int = _threshold(10_000, "states", "A file with more states than this is one dump.")
    state_least: int = _threshold(
        65536,
        "bytes",
        "Smallest average size of a state: a text log that is written line by line has no states.",
    )
    state_quiet: float = _threshold(
        0.002, "share", "A bin of the heatmap with less than this share of the mean of all busy bins is idle."
    )
    state_begins: float = _threshold(
        0.02, "share", "A state begins when this share of its bytes has been moved,"
    )
    state_ends: float = _threshold(0.98, "share", "and ends when this share has been moved.")
    # characterize.appended
    state_span: float = _threshold(
        0.1, "share", "A file that is written over less than this share of the run is one dump."
    )
    # characterize.streams
    sizes_most: int = _threshold(24, "sizes", "Most different sizes of operations in a stream.")
    active_all: float = _threshold(
        0.8, "share", "All ranks of a reduced record are active where at least this share of them is."
    )
    rewritten: float = _threshold(
        1.25,
        "factor",
        "A file to which so many times its length is written is overwritten as a whole (a database, a scratch file).",
    )
    sizes_known: int = _threshold(
        4, "sizes", "Sizes of a reduced record beyond those that Darshan keeps are assumed."
    )
    # characterize.stream_parts
    small_operation: int = _threshold(10240, "bytes", "Headers and other metadata are at most this large.")
    near_sizes: float = _threshold(
        1.02, "factor", "Sizes up to so many times the smallest count as one size."
    )
    segments_interleaved: float = _threshold(
        0.75,
        "share",
        "Ranks interleave operation by operation where they have at least this share of segments per operation.",
    )
    # characterize.repeated_access
    passes_most: int = _threshold(
        16, "passes", "Most passes over a file in one dump that are streams of their own."
    )
    # characterize.tunables
    aggregators_fewer: float = _threshold(
        0.8,
        "share",
        "Ranks with POSIX operations are aggregators where they are less than this share of the callers.",
    )
    alignment_least: int = _threshold(65536, "bytes", "Least alignment that an application sets.")
    alignment_share: float = _threshold(
        0.95, "share", "A file is aligned where this share of its operations is."
    )
    settings_files: int = _threshold(
        1000, "files", "Settings are derived from this many files of a family, the first ones."
    )
    # characterize.assemble
    rules_files: int = _threshold(
        100,
        "files",
        "Rules are collected from this many files of a family, the first ones: the others give the same.",
    )
    # characterize.meshes
    mesh_reads: float = _threshold(
        0.01,
        "share",
        "A library that appends to a file reads at most this share of the bytes written, of its own tables.",
    )
    # characterize.dataspace
    element_most: int = _threshold(2**20, "bytes", "Largest element of a dataset.")
    chunk_most: int = _threshold(2**32, "bytes", "HDF5's limit for the size of a chunk.")
    shapes_most: int = _threshold(10_000, "shapes", "Most shapes that are tried for a dataset.")
    divisor_most: int = _threshold(
        100_000, "elements", "Largest divisor that is looked for in a dataset's number of elements."
    )
    # characterize.sharing
    root_writers: float = _threshold(
        1.5, "ranks", "A reduced record with fewer effective writers than this is one rank's."
    )
    baton_share: float = _threshold(
        0.9, "share", "Ranks take turns where they do so in this share of the files."
    )
    root_bytes: float = _threshold(
        0.5, "share", "The rank that moved at least this share of the bytes is the root."
    )
    # characterize.families
    long_lived_holds: int = _threshold(
        2,
        "files",
        "A file that is open while so many others of its pattern come and go is a family of its own.",
    )
    long_lived_most: int = _threshold(
        20_000, "files", "Most files of a family whose open times are compared."
    )
    families_most: int = _threshold(
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
    long_lived_longer: int = _threshold(
        2,
        "factor",
        "A file is long-lived where it is open more than so many times as long as the shortest of its pattern.",
    )
    # characterize.barrier
    barrier_spread: float = _threshold(
        0.002,
        "share",
        "A dump begins with a barrier where starts of ranks differ by at most this share of the time since the job's start.",
    )
    # characterize.filters
    deflate_most: float = _threshold(
        0.9,
        "share",
        "Datasets are compressed where the file has at most this share of the data written into them.",
    )
    deflate_metadata: int = _threshold(4096, "bytes", "Of these, so many are the library's own,")
    deflate_index: int = _threshold(48, "bytes", "or so many for each chunk, where that is more.")
    deflate_level: int = _threshold(4, "level", "Deflate's level, which no log has.")
    deflate_sample: int = _threshold(
        2**19, "bytes", "Most bytes of a chunk for which the payload's compressibility is tried."
    )
    # characterize.rank_streams
    clusters_most: int = _threshold(
        64, "clusters", "Most sets of ranks with the same operations in one direction of a dump."
    )
    ranks_even: float = _threshold(
        1.25, "factor", "Ranks share evenly where the largest share is at most so many times the smallest."
    )
    # characterize.series
    series_least: int = _threshold(3, "dumps", "Fewest dumps that one content and a list of sizes stand for.")
    series_operations: float = _threshold(
        0.005,
        "share",
        "The dumps' operations may differ by this share in all: a buffering library makes an extra call now and then.",
    )
    series_shares: float = _threshold(0.01, "share", "A stream's share of a dump may differ by this much,")
    series_bins: float = _threshold(0.01, "share", "and its size histogram by this much (total variation).")
    # characterize.sizes
    open_bin_most: int = _threshold(
        10 * 2**30,
        "bytes",
        "Largest operation of the open bin when bytes of unknown operations are shared out.",
    )
    subsets_most: int = _threshold(8, "sizes", "Most common sizes whose subsets are tried.")
    # characterize.compute_time
    compute_least: float = _threshold(
        0.02, "share", "Below this share of a dump, compute time between operations is measurement noise."
    )
    compute_most: float = _threshold(1e15, "s", "Largest plausible time of all ranks together.")
    # characterize.traced
    trace_most: int = _threshold(20_000_000, "operations", "Longer traces are not read.")
    trace_runs: int = _threshold(16, "runs", "Most contiguous runs of one rank that are kept as they are.")
    trace_overlap: float = _threshold(
        1.05, "factor", "A trace that moves more than so many times the bytes it covers overwrites itself."
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
    trace_replicated: float = _threshold(
        1.5, "factor", "Ranks that move so many times the bytes they cover may move the same data."
    )
    # characterize.contents
    metadata_operation: int = _threshold(
        1024, "bytes", "Operations up to this size (library metadata) are the same in every state."
    )
    # characterize.arrays
    array_groups: int = _threshold(
        512,
        "groups",
        "With more groups of equal datasets than this, the content is streams instead of arrays.",
    )
    array_owed: int = _threshold(
        2000,
        "factor",
        "Hyperslabs may miss the bytes by one part in so many; beyond that, extra slabs make up the difference.",
    )
    # characterize.roles
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
    """A threshold as a row of the table that the command prints."""

    name: str
    value: float
    unit: str
    decides: str
    seen_on: tuple[str, ...]


def table() -> list[Threshold]:
    """Every threshold, in the order of the code that reads it."""
    return [
        Threshold(
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


SEEN_ON: dict[str, tuple[str, ...]] = {
    "level_explains": ("ior_hdf5_example", "example", "sample-dxt-simple", "collective-read-2048"),
    "noise_negligible": ("cp2k-2", "nonmpi-dxt-1", "nwchem-scratch-4-dxt2", "openfoam-2"),
    "noise_negligible_bytes": ("imbalanced-496",),
    "placed_consecutive": ("openfoam-2",),
    "placed_sequential": ("example", "collective-read-2048", "cp2k-2", "e3sm-pnetcdf-512"),
    "placed_covers": ("cp2k-2", "openfoam-2", "dlio-workflow"),
    "placed_replicated": (
        "collective-read-2048",
        "imbalanced-496",
        "ior-strided-views-4",
        "e3sm-pnetcdf-512",
    ),
    "state_begins": ("lammps-growth-4", "meep-hdf5-4", "mphys-c-small-typhonio-4"),
    "state_ends": ("lammps-growth-4", "meep-hdf5-4", "mphys-c-small-typhonio-4"),
    "sizes_most": ("dxt", "nonmpi-dxt-1"),
    "active_all": (
        "noposix",
        "mpi-io-test-ppc64-3.0.0",
        "mpi-io-test-x86_64-3.0.1",
        "mpi-io-test-x86_64-3.2.0",
    ),
    "rewritten": ("nwchem-scratch-4-dxt2",),
    "sizes_known": ("quantum-espresso-2", "example", "cp2k-2", "e3sm-pnetcdf-512"),
    "small_operation": ("mphys-c-small-typhonio-4", "quantum-espresso-2"),
    "near_sizes": ("e3sm-pnetcdf-512", "imbalanced-496", "vpic-fields-particles-hdf5-192-dxt"),
    "segments_interleaved": (
        "ior_hdf5_example",
        "mphys-c-small-typhonio-4",
        "mpi-io-test-ppc64-3.0.0",
        "mpi-io-test-ppc64-3.1.6",
    ),
    "passes_most": ("noposixopens", "cp2k-2", "quantum-espresso-2"),
    "aggregators_fewer": (
        "example",
        "e3sm-pnetcdf-512",
        "pq_app_readAB_writeC_id71326_7-31-5658-2037904274838284930_55623",
        "vpic-fields-particles-hdf5-192-dxt",
    ),
    "root_writers": ("noposixopens", "gromacs-2", "quantum-espresso-2", "cp2k-2"),
    "baton_share": ("training-loop-4", "pytorch-loader"),
    "long_lived_holds": ("dxt",),
    "size_step": ("nonmpi-dxt-1", "imbalanced-496"),
    "ranks_even": ("ior_hdf5_example",),
    "series_least": ("openfoam-2", "cp2k-2", "quantum-espresso-2"),
    "compute_least": ("e3sm-pnetcdf-512", "ior-sync-each-write-4", "partial-stdio-1", "imbalanced-496"),
    "trace_runs": ("training-loop-4",),
    "trace_overlap": ("ior_hdf5_example", "sample-dxt-simple", "vpic-fields-particles-hdf5-192-dxt"),
    "trace_alike": ("training-loop-4",),
    "trace_dense": ("ior-shifted-readers-8", "nonmpi-dxt-1"),
    "trace_forward": ("ior-random-8", "nonmpi-dxt-1", "ior_hdf5_example", "ior-rewritten-shared-8"),
    "trace_replicated": ("training-loop-4",),
    "role_checkpoint": ("meep-hdf5-4", "dxt", "cp2k-2", "imbalanced-496"),
}
"""Up to four known logs per threshold: PyDarshan's examples and those beside the repository."""
