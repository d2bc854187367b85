"""Settings of HDF5 as found in a file that a trial wrote.

A file tells the version of its superblock, how it manages its space, where datasets lie, their chunks and filters. It
does not tell how it was written: the blocks of metadata and of the sieve buffer, collective metadata and individual
I/O are settings of the library alone, and are named as not readable. So is the threshold of the alignment: a small
object that begins at a multiple of the alignment may do so by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py

from workalike.plan.plan_schema import PlanHdf5

MOST_DATASETS = 1000
"""Datasets of a file that are looked at."""
LEAST_SUPERBLOCK = {"v18": 2, "v110": 3, "latest": 3}
"""The oldest version of the superblock that a library writes with this lower bound (HDF5 File Format, III.A)."""
STRATEGIES = {"fsm-aggr": 0, "page": 1, "aggr": 2, "none": 3}
"""H5F_fspace_strategy_t."""
OF_THE_LIBRARY = (
    *("metadata_block", "sieve_buffer", "collective_metadata", "individual_io", "subfiling", "driver"),
    "threshold",
)


@dataclass
class Hdf5Found:
    """What a file tells of the settings that its plan has.

    Attributes:
        values: setting -> as found.
        not_taken: settings that are not so in the file, in words.
        not_readable: settings that were asked for, and that the file does not tell.
    """

    values: dict[str, Any] = field(default_factory=dict)
    not_taken: list[str] = field(default_factory=list)
    not_readable: list[str] = field(default_factory=list)

    def compare(self, name: str, asked: object, found: object, is_so: bool) -> None:
        """Note a setting as found."""
        self.values[name] = found
        if not is_so:
            self.not_taken.append(f"tunable.{name} {asked} asked for, {found} found in the file")


@dataclass(frozen=True)
class _Dataset:
    offset: int | None
    bytes: int
    element: int
    dims: tuple[int, ...]
    chunk: tuple[int, ...] | None
    deflate: int
    shuffle: bool


def hdf5_found(path: Path, asked: PlanHdf5, *, is_fitted: bool = False) -> Hdf5Found:
    """Compare a file with the settings of its family.

    Args:
        path: a data file that the hdf5 backend wrote.
        asked: the settings; those at their defaults are not looked at.
        is_fitted: whether chunks were chosen so that the bytes of the library fit, and not by `chunk_bytes`.
    """
    found = Hdf5Found()
    wanted = [name for name, value in asked.model_dump(exclude_defaults=True).items() if value is not None]
    found.not_readable += [f"tunable.{name}" for name in OF_THE_LIBRARY if name in wanted]
    looked_at = [name for name in wanted if name not in OF_THE_LIBRARY]
    if not looked_at:
        return found
    try:
        with h5py.File(path, "r", locking=False) as file:
            _look(file, asked, looked_at, found, is_fitted)
    except (
        Exception
    ):  # h5py raises what HDF5 does, of many types: the file is one of another library, or damaged
        found.not_readable += [f"tunable.{_shown(name)}" for name in looked_at]
    return found


def _look(file: Any, asked: PlanHdf5, wanted: list[str], found: Hdf5Found, is_fitted: bool) -> None:
    created = file.id.get_create_plist()
    if "libver" in wanted:
        version = int(created.get_version()[0])
        least = LEAST_SUPERBLOCK[asked.libver]
        found.compare("libver", asked.libver, f"superblock {version}", version >= least)
    if "file_space" in wanted:
        strategy = int(created.get_file_space_strategy()[0])
        name = next((word for word, number in STRATEGIES.items() if number == strategy), str(strategy))
        found.compare("file_space", asked.file_space, name, name == asked.file_space)
    if "page_bytes" in wanted:
        size = int(created.get_file_space_page_size())
        found.compare("page_size", asked.page_bytes, size, size == asked.page_bytes)
    datasets = list(_datasets(file))
    if "alignment" in wanted:
        _alignment(datasets, asked, found)
    chunked = [dataset for dataset in datasets if dataset.chunk is not None]
    if "layout" in wanted and datasets:
        shown = "chunked" if chunked else "contiguous"
        found.compare("layout", asked.layout, shown, shown == asked.layout)
    if "chunk_bytes" in wanted:
        _chunks(chunked, asked.chunk_bytes, found, is_fitted)
    if "deflate" in wanted:
        _filter("deflate", asked.deflate, [dataset.deflate for dataset in chunked], found)
    if "shuffle" in wanted:
        _filter("shuffle", asked.shuffle, [dataset.shuffle for dataset in chunked], found)


def _datasets(file: Any) -> Iterator[_Dataset]:
    """The datasets of a file, by its hard links."""
    found: list[Any] = []

    def visit(_name: str, item: Any) -> bool | None:
        if isinstance(item, h5py.Dataset):
            found.append(item)
        return True if len(found) >= MOST_DATASETS else None

    file.visititems(visit)
    for item in found:
        chunk = item.chunks
        yield _Dataset(
            offset=_offset(item),
            bytes=item.id.get_storage_size(),
            element=item.dtype.itemsize,
            dims=item.shape,
            chunk=chunk,
            deflate=int(item.compression_opts or 0) if item.compression == "gzip" else 0,
            shuffle=bool(item.shuffle),
        )


def _offset(item: Any) -> int | None:
    """Where the data of a dataset begins in the file: that of its first chunk, or its own; None without data."""
    if item.chunks is None:
        offset = item.id.get_offset()
        return None if offset is None else int(offset)
    if not item.id.get_num_chunks():
        return None
    return int(item.id.get_chunk_info(0).byte_offset)


def _alignment(datasets: list[_Dataset], asked: PlanHdf5, found: Hdf5Found) -> None:
    """Whether the data of each dataset that is large enough begins at a multiple of the alignment."""
    offsets = [
        dataset.offset
        for dataset in datasets
        if dataset.offset is not None and _allocated(dataset) >= max(1, asked.threshold)
    ]
    if not offsets:
        found.not_readable.append("tunable.alignment")
        return
    off = [offset for offset in offsets if offset % asked.alignment]
    shown = f"data at byte {off[0]}" if off else asked.alignment
    found.compare("alignment", asked.alignment, shown, not off)


def _allocated(dataset: _Dataset) -> int:
    """Bytes that the library allocates at a time: a chunk, or the whole dataset."""
    if dataset.chunk is None or dataset.deflate:  # how small a chunk has become is not known
        return dataset.bytes if dataset.chunk is None else 0
    return _chunk_bytes(dataset)


def _chunk_bytes(dataset: _Dataset) -> int:
    size = dataset.element
    for extent in dataset.chunk or ():
        size *= extent
    return size


def _chunks(chunked: list[_Dataset], asked: int, found: Hdf5Found, is_fitted: bool) -> None:
    """Whether chunks are as large as asked for: the engine rounds down to whole rows, so at least half as large."""
    if not chunked:
        found.not_readable.append("tunable.chunk_bytes")
        return
    largest = max(chunked, key=_chunk_bytes)
    size = _chunk_bytes(largest)
    is_one = size == largest.element
    covers = all(c >= d for c, d in zip(largest.chunk or (), largest.dims, strict=True))
    is_so = size <= asked or is_one
    is_so = is_so and (2 * size >= asked or covers or is_fitted or is_one)
    found.compare("chunk_bytes", asked, size, is_so)


def _filter(name: str, asked: object, values: list[Any], found: Hdf5Found) -> None:
    if not values:
        found.not_readable.append(f"tunable.{name}")
        return
    # Tables that one rank writes alone pass no filter: one dataset that does is the evidence.
    shown = asked if asked in values else values[0]
    found.compare(name, asked, shown, shown == asked)


def _shown(name: str) -> str:
    return {"page_bytes": "page_size"}.get(name, name)
