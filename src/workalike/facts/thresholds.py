"""Thresholds of facts and characterization: data, each with its unit and what it decides.

`workalike thresholds LOG...` prints what changes among logs when each is halved or doubled; `SEEN_ON` keeps the known
logs of which that was so. One that has none there bounds work, or what can be true of a damaged log, or decides what only
built logs show.
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
    """The values in force; only `varied` changes them."""

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
        "What a library writes of its own beside little data; more than that and more than the data is not metadata.",
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
    # facts.times
    gap_least: float = _threshold(0.5, "s", "Idle time between two dumps is longer than this,")
    gap_share: float = _threshold(0.01, "share", "and than this share of the span.")
    # facts.plausible
    plausible_bytes: int = _threshold(
        2**50, "bytes", "Most bytes of a record, and of an operation (the engine's limit), that can be true."
    )
    plausible_operations: int = _threshold(
        2**36, "operations", "Most operations of a record that can be true."
    )
    plausible_extent: int = _threshold(2**56, "bytes", "Largest offset that can be true.")
    plausible_else: int = _threshold(2**62, "count", "Largest value of any other counter that can be true.")
    plausible_run: float = _threshold(
        1e8, "s", "Longest run, and latest timestamp, that can be true: three years."
    )
    plausible_late: int = _threshold(
        10, "factor", "A timestamp is plausible up to so many times the run time, for clocks of ranks differ,"
    )
    plausible_late_s: int = _threshold(60, "s", "and so much later, for old logs count whole seconds.")
    # facts.placement
    placed_consecutive: float = _threshold(
        0.8,
        "share",
        "One rank's operations are contiguous where this share of them follows the one before directly.",
    )
    placed_sequential: float = _threshold(
        0.5, "share", "Operations are random where less than this share of them goes forward."
    )
    placed_alternates: float = _threshold(
        0.5, "share", "Reads and writes that alternate in this share of the operations modify what is there."
    )
    placed_covers: float = _threshold(
        0.9,
        "share",
        "One rank's operations that go forward and cover this share of the extent are contiguous, not strided.",
    )
    placed_replicated: float = _threshold(
        1.5, "factor", "Ranks that read so many times the extent read the same."
    )
    placed_modified: float = _threshold(
        0.9, "share", "At least this share of the writes has a read before it where data are modified."
    )
    # characterize.states
    states_most: int = _threshold(10_000, "states", "More states of a file than that are taken for one dump.")
    state_least: int = _threshold(
        65536, "bytes", "Least size of a state, on average: a text log that is written line by line has none."
    )
    state_quiet: float = _threshold(
        0.002, "share", "A bin of the heatmap with less than this share of the busy bins' mean is idle."
    )
    state_begins: float = _threshold(
        0.02, "share", "A state begins when this share of its bytes has been moved,"
    )
    state_ends: float = _threshold(0.98, "share", "and ends when this share has been.")
    # characterize.appended
    state_span: float = _threshold(
        0.1, "share", "A file that is written over less than this share of the run is one dump."
    )
    # characterize.streams
    sizes_most: int = _threshold(24, "sizes", "Most sizes of operations in a stream.")
    active_all: float = _threshold(
        0.8, "share", "Ranks that are active in a reduced record are all where they are this share of them."
    )
    rewritten: float = _threshold(
        1.25,
        "factor",
        "A file that takes so many times its length is written over again, as a whole (a database, a scratch file).",
    )
    sizes_known: int = _threshold(
        4, "sizes", "More sizes of a reduced record than Darshan keeps are assumed."
    )
    # characterize.stream_parts
    small_operation: int = _threshold(10240, "bytes", "Headers and other metadata are at most this large.")
    near_sizes: float = _threshold(1.02, "factor", "Sizes up to so many times the smallest are one size.")
    segments_interleaved: float = _threshold(
        0.75,
        "share",
        "Ranks interleave operation by operation where segments are this share of the operations.",
    )
    # characterize.reading_back
    passes_most: int = _threshold(
        16, "passes", "Most times that a file is read back in a dump before it is one stream."
    )
    # characterize.tunables
    aggregators_fewer: float = _threshold(
        0.8, "share", "Ranks at POSIX are aggregators where they are less than this share of the callers."
    )
    alignment_least: int = _threshold(65536, "bytes", "Least alignment that an application sets.")
    alignment_share: float = _threshold(
        0.95, "share", "A file is aligned where this share of its operations is."
    )
    settings_files: int = _threshold(
        1000, "files", "Settings are looked for in the first so many files of a family."
    )
    # characterize.assemble
    rules_files: int = _threshold(
        100, "files", "Rules are collected from the first so many files of a family: the others say the same."
    )
    # characterize.meshes
    mesh_reads: float = _threshold(
        0.01,
        "share",
        "What a library reads of its own tables when it appends to a file, of the bytes written.",
    )
    # characterize.dataspace
    element_most: int = _threshold(2**20, "bytes", "Largest element of a dataset.")
    chunk_most: int = _threshold(2**32, "bytes", "HDF5's limit of a chunk.")
    shapes_most: int = _threshold(10_000, "shapes", "Most shapes of a dataset that are tried.")
    divisor_most: int = _threshold(100_000, "elements", "Largest divisor that is looked for.")
    # characterize.sharing
    root_writers: float = _threshold(
        1.5, "ranks", "A reduced record with fewer effective writers is one rank's."
    )
    baton_share: float = _threshold(
        0.9, "share", "Ranks take turns where they do in this share of the files."
    )
    root_bytes: float = _threshold(
        0.5, "share", "The rank that moved at least this share of the bytes is the root."
    )
    # characterize.families
    long_lived_holds: int = _threshold(
        2, "files", "A file that lives through so many others of its pattern is a family of its own."
    )
    long_lived_most: int = _threshold(20_000, "files", "Most files of a family whose lives are compared.")
    families_most: int = _threshold(
        200, "families", "More families by name than that: names tell next to nothing."
    )
    size_step: float = _threshold(
        2.0, "factor", "Files without names are apart where the next is larger by more than this."
    )
    rotation_least: int = _threshold(3, "files", "Fewest files of a dump that may be dumps by one rank each.")
    long_lived_longer: int = _threshold(
        2,
        "factor",
        "A file is long-lived where it lives more than so many times as long as the shortest of its pattern.",
    )
    # characterize.barrier
    barrier_spread: float = _threshold(
        0.002,
        "share",
        "Starts of ranks that differ by at most this share of the time since the job began follow a barrier.",
    )
    # characterize.ranked
    clusters_most: int = _threshold(
        64, "clusters", "Most sets of ranks that do alike in one direction of a dump."
    )
    ranks_even: float = _threshold(
        1.25, "factor", "Ranks share evenly where the largest share is at most so many times the smallest."
    )
    # characterize.series
    series_least: int = _threshold(3, "dumps", "Fewest dumps of which one content with sizes stands for all.")
    series_operations: float = _threshold(
        0.005,
        "share",
        "Operations may differ by so much in all: a buffered library makes a call more now and then.",
    )
    series_shares: float = _threshold(0.01, "share", "A stream's share of a dump may differ by so much,")
    series_bins: float = _threshold(0.01, "share", "and its size histogram by so much (total variation).")
    # characterize.sizes
    open_bin_most: int = _threshold(
        10 * 2**30, "bytes", "Largest operation in the open bin, for sharing out what is not known."
    )
    subsets_most: int = _threshold(8, "sizes", "Most common sizes whose subsets are tried.")
    # characterize.compute_time
    compute_least: float = _threshold(
        0.02, "share", "Below this share of a dump, compute time between operations is measurement noise."
    )
    compute_most: float = _threshold(1e15, "s", "Most time of all ranks together that can be true.")
    # characterize.traced
    trace_most: int = _threshold(20_000_000, "operations", "Longer traces are not read.")
    trace_runs: int = _threshold(16, "runs", "Most contiguous runs of one rank that are kept as they are.")
    trace_overlap: float = _threshold(
        1.05, "factor", "A trace that moves more than so many times what it covers writes over itself."
    )
    trace_alike: float = _threshold(
        0.9, "share", "Ranks read the same where this share of them goes through the same region."
    )
    trace_dense: float = _threshold(
        0.8, "share", "One rank's operations that cover this share of their span are contiguous, not strided."
    )
    trace_forward: float = _threshold(
        0.75, "share", "Operations are random where less than this share of the bytes goes forward."
    )
    trace_replicated: float = _threshold(
        1.5, "factor", "Ranks that move so many times what they cover may move the same."
    )
    # characterize.contents
    metadata_operation: int = _threshold(
        1024, "bytes", "Operations up to this size (library metadata) are the same in every state."
    )
    # characterize.arrays
    array_groups: int = _threshold(
        512, "groups", "More groups of equal datasets than that are given by their bytes."
    )
    array_owed: int = _threshold(
        2000,
        "factor",
        "Slabs that miss less than one part in so many of the bytes are settled in a remainder.",
    )
    # characterize.roles
    role_checkpoint: float = _threshold(
        0.5,
        "share",
        "A family that is written again and again is a checkpoint where it has this share of the bytes.",
    )


THRESHOLDS = Thresholds()
_DEFAULTS = Thresholds()
_LARGEST = 2**63 - 1  # that an array of counters holds


@dataclass(frozen=True)
class Threshold:
    """A row of the table."""

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
    """A threshold times a factor for as long as the context lasts; whole numbers stay whole."""
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
"""Up to four of the known logs (PyDarshan's examples and those beside the repository) of each threshold."""
