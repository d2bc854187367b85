"""Writes Darshan logs, for tests and for captured programs.

Logs are in format 3.41, little endian, with one zlib stream per region, in the record versions that the released
PyDarshan reads (docs/reference/darshan-format.md#modules). :class:`LogBuilder` is the convenient way::

    LogBuilder(nprocs=4, run_time=100.0).posix("/data/out", OPENS=4, WRITES=8).write("x.darshan")
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from workalike.darshan import layouts
from workalike.darshan.dxt import SEGMENT
from workalike.darshan.hash import record_id
from workalike.darshan.records import RecordTable
from workalike.errors import ErrorKind, WorkalikeError

WRITTEN_VERSIONS: dict[str, int] = {
    **{name: module.current_version for name, module in layouts.FIXED.items()},
    "LUSTRE": 2,
    "HEATMAP": 1,
    "DXT_POSIX": 1,
    "DXT_MPIIO": 2,
}
"""Record versions that are written; those of DXT are not the newest, but those that PyDarshan 3.5.0 reads."""

_TEXT_BYTES = 3015
"""Room for the command line and the mounts in the job region."""

_BILLION = 1_000_000_000

SegmentsLike: TypeAlias = Sequence[tuple[int, int, float, float]] | npt.NDArray[np.void]
"""Operations as (offset, length, start, end), or an array with fields of these names."""


@dataclass(frozen=True, slots=True)
class JobToWrite:
    """The contents of the job region; times in seconds, see :class:`workalike.darshan.Job`."""

    nprocs: int = 1
    run_time: float = 1.0
    start_time: float = 1_700_000_000.0
    uid: int = 1000
    job_id: int = 1
    exe: str = "./app"
    metadata: Mapping[str, str] = field(default_factory=lambda: {"lib_ver": "3.5.0"})
    mounts: Sequence[tuple[str, str]] = (("ext4", "/"),)


def write_log(
    path: str | os.PathLike[str],
    *,
    job: JobToWrite,
    names: Mapping[int, str],
    regions: Mapping[str, RecordTable | bytes],
    partial: Collection[str] = (),
) -> Path:
    """Write one log.

    Args:
        path: the file, which is replaced if it exists.
        job: the job region.
        names: names by record id; PyDarshan drops records without a name.
        regions: records by module name, as a table or as stored bytes (from the ``encode_`` functions).
        partial: names of modules to mark as partial.

    Returns:
        The path.

    Raises:
        ValueError: a log cannot express a value.
        WorkalikeError: CANNOT_WRITE.
    """
    image = log_image(job=job, names=names, regions=regions, partial=partial)
    try:
        Path(path).write_bytes(image)
    except OSError as error:
        if Path(path).is_file():
            Path(path).unlink()  # an incomplete log of a full disk
        raise WorkalikeError(
            ErrorKind.CANNOT_WRITE, error.strerror or str(error), file=Path(path), hint="choose another place"
        ) from error
    return Path(path)


def log_image(
    *,
    job: JobToWrite,
    names: Mapping[int, str],
    regions: Mapping[str, RecordTable | bytes],
    partial: Collection[str] = (),
) -> bytes:
    """The bytes of a log; arguments and ValueError as of :func:`write_log`."""
    layout = layouts.HEADERS[layouts.CURRENT_FORMAT]
    header = bytearray(layout.size)
    struct.pack_into("<8sqB", header, 0, layouts.CURRENT_FORMAT.encode(), layouts.MAGIC, layouts.ZLIB)
    flags = sum(1 << layouts.MODULE_IDS[name] for name in set(partial))
    struct.pack_into(f"<{layout.partial_code}", header, layout.partial, flags)
    body = [zlib.compress(_encode_job(job))]
    at = layout.size + len(body[0])
    packed = zlib.compress(encode_names(names)) if names else b""
    struct.pack_into("<2Q", header, layout.names, at, len(packed))
    body.append(packed)
    at += len(packed)
    for name in sorted(regions, key=layouts.MODULE_IDS.__getitem__):
        records = regions[name]
        stored = records if isinstance(records, bytes) else encode_table(records)
        if not stored:
            continue
        number = layouts.MODULE_IDS[name]
        packed = zlib.compress(stored)
        struct.pack_into("<2Q", header, layout.maps + 16 * number, at, len(packed))
        struct.pack_into("<I", header, layout.versions + 4 * number, WRITTEN_VERSIONS[name])
        body.append(packed)
        at += len(packed)
    return b"".join([bytes(header), *body])


def _encode_job(job: JobToWrite) -> bytes:
    if job.nprocs < 1:
        raise ValueError(f"{job.nprocs} processes")
    start = math.floor(job.start_time) * _BILLION + round(job.start_time % 1 * _BILLION)
    end = start + round(job.run_time * _BILLION)
    fixed = struct.pack(
        "<7q", job.uid, *divmod(start, _BILLION), *divmod(end, _BILLION), job.nprocs, job.job_id
    )
    metadata = "".join(f"{key}={value}\n" for key, value in job.metadata.items()).encode()
    text = "\n".join([job.exe, *(f"{kind}\t{path}" for kind, path in job.mounts)]).encode()
    if len(metadata) >= layouts.METADATA_BYTES or len(text) > _TEXT_BYTES:
        raise ValueError("metadata, command line or mounts are too long for a log")
    return fixed + metadata.ljust(layouts.METADATA_BYTES, b"\0") + text + b"\0"


def encode_names(names: Mapping[int, str]) -> bytes:
    """The stored form of names: u64 id, text, NUL.

    Raises:
        ValueError: a name contains a NUL.
    """
    if any("\0" in name for name in names.values()):
        raise ValueError("a name in a log cannot contain a NUL")
    return b"".join(struct.pack("<Q", number) + name.encode() + b"\0" for number, name in names.items())


def encode_record(
    module: str, number: int, rank: int, values: Mapping[str, float], file_id: int = 0
) -> bytes:
    """The stored form of one record of fixed size; counters that are not given are 0.

    Raises:
        ValueError: the module has no such counter.
    """
    layout = layouts.FIXED[module].current
    unknown = values.keys() - set(layout.counters) - set(layout.fcounters)
    if unknown:
        raise ValueError(f"{module} has no counter {', '.join(sorted(unknown))}")
    head = struct.pack("<Qq", number, rank) + (struct.pack("<Q", file_id) if layout.file_id else b"")
    counters = [int(values.get(name, 0)) for name in layout.counters]
    fcounters = [float(values.get(name, 0.0)) for name in layout.fcounters]
    return head + struct.pack(f"<{len(counters)}q{len(fcounters)}d", *counters, *fcounters)


def encode_table(table: RecordTable) -> bytes:
    """The stored form of a table's records, in the module's current layout; an unknown file id becomes 0."""
    parts: list[npt.NDArray[Any]] = [table.ids[:, None].view(np.int64), table.ranks[:, None]]
    if layouts.FIXED[table.module].current.file_id:
        files = np.zeros(len(table), np.uint64) if table.file_ids is None else table.file_ids
        parts.append(np.ascontiguousarray(files).view(np.int64)[:, None])
    parts += [table.counters, np.ascontiguousarray(table.fcounters).view(np.int64)]
    return np.concatenate(parts, axis=1).astype("<i8").tobytes()


def encode_heatmap(
    number: int, rank: int, bin_width: float, write: Sequence[int], read: Sequence[int]
) -> bytes:
    """The stored form of one heatmap record: bytes per bin, and bins of ``bin_width`` seconds.

    Raises:
        ValueError: ``write`` and ``read`` differ in length.
    """
    if len(write) != len(read):
        raise ValueError("write and read have different numbers of bins")
    head = struct.pack("<Qqdq2Q", number, rank, bin_width, len(write), 0, 0)
    return head + struct.pack(f"<{2 * len(write)}q", *write, *read)


def encode_lustre(number: int, rank: int, components: Iterable[tuple[int, Sequence[int]]]) -> bytes:
    """The stored form of one Lustre record; a component is (stripe size in bytes, OST numbers)."""
    parts = list(components)
    all_osts = [ost for _, osts in parts for ost in osts]
    record = struct.pack("<Qqqq", number, rank, len(parts), len(all_osts))
    for size, osts in parts:
        record += struct.pack("<7q16s", size, len(osts), 1, 16, 0, -1, 0, b"")
    return record + struct.pack(f"<{len(all_osts)}q", *all_osts)


def encode_dxt(
    number: int, rank: int, hostname: str, writes: SegmentsLike = (), reads: SegmentsLike = ()
) -> bytes:
    """The stored form of one trace record."""
    stored = [_segments(writes), _segments(reads)]
    counts = [len(segments) for segments in stored]
    head = struct.pack("<Qqq64sqq", number, rank, 0, hostname.encode()[:63], *counts)
    return head + stored[0].tobytes() + stored[1].tobytes()


def _segments(segments: SegmentsLike) -> npt.NDArray[np.void]:
    if not isinstance(segments, np.ndarray):
        return np.array(list(segments), dtype=SEGMENT.newbyteorder("<"))
    stored = np.empty(len(segments), dtype=SEGMENT.newbyteorder("<"))
    for name in SEGMENT.names or ():
        stored[name] = segments[name]
    return stored


class LogBuilder:
    """Builds a log record by record; methods that add something return the builder.

    Arguments are those of :class:`JobToWrite`: nprocs, run_time (s), start_time (s since 1970), exe, ...
    """

    def __init__(
        self,
        nprocs: int = 1,
        run_time: float = 1.0,
        *,
        start_time: float = 1_700_000_000.0,
        uid: int = 1000,
        job_id: int = 1,
        exe: str = "./app",
        metadata: Mapping[str, str] | None = None,
        mounts: Sequence[tuple[str, str]] = (("ext4", "/"),),
    ) -> None:
        known = {"lib_ver": "3.5.0"} if metadata is None else metadata
        self.job = JobToWrite(nprocs, run_time, start_time, uid, job_id, exe, known, mounts)
        self.names: dict[int, str] = {}
        self._records: dict[str, list[bytes]] = {}
        self._partial: set[str] = set()

    def name(self, name: str) -> int:
        """Add a name; returns its record id."""
        number = record_id(name)
        self.names[number] = name
        return number

    def record(
        self, module: str, name: str, rank: int = -1, file: str | None = None, **values: float
    ) -> Self:
        """Add a record of any module with fixed records (``layouts.FIXED``).

        Args:
            module: name of the module.
            name: name of the file, dataset or variable.
            rank: the rank; -1 for all ranks of the job.
            file: for H5D and PNETCDF_VAR, the name of the file that contains the dataset or variable.
            values: counters without the module's prefix.

        Raises:
            ValueError: no such counter.
        """
        return self._fixed(module, name, rank, values, file)

    def posix(self, name: str, rank: int = -1, **values: float) -> Self:
        return self._fixed("POSIX", name, rank, values)

    def mpiio(self, name: str, rank: int = -1, **values: float) -> Self:
        return self._fixed("MPI-IO", name, rank, values)

    def stdio(self, name: str, rank: int = -1, **values: float) -> Self:
        return self._fixed("STDIO", name, rank, values)

    def h5f(self, name: str, rank: int = -1, **values: float) -> Self:
        return self._fixed("H5F", name, rank, values)

    def h5d(self, name: str, rank: int = -1, *, file: str, **values: float) -> Self:
        return self._fixed("H5D", name, rank, values, file)

    def pnetcdf_file(self, name: str, rank: int = -1, **values: float) -> Self:
        return self._fixed("PNETCDF_FILE", name, rank, values)

    def pnetcdf_var(self, name: str, rank: int = -1, *, file: str, **values: float) -> Self:
        return self._fixed("PNETCDF_VAR", name, rank, values, file)

    def heatmap(
        self, api: str, rank: int, bin_width: float, write: Sequence[int], read: Sequence[int] | None = None
    ) -> Self:
        """Add the heatmap of one rank for "POSIX", "MPIIO" or "STDIO"; without ``read``, nothing was read."""
        number = self.name(f"heatmap:{api}")
        bins = [0] * len(write) if read is None else read
        return self._add("HEATMAP", encode_heatmap(number, rank, bin_width, write, bins))

    def lustre(
        self,
        name: str,
        rank: int = -1,
        *,
        stripe_size: int = 1 << 20,
        osts: Sequence[int] = (0,),
        more: Iterable[tuple[int, Sequence[int]]] = (),
    ) -> Self:
        """Add the layout of a file, with one component or, by `more`, several."""
        return self._add("LUSTRE", encode_lustre(self.name(name), rank, [(stripe_size, osts), *more]))

    def dxt_posix(
        self,
        name: str,
        rank: int = 0,
        writes: SegmentsLike = (),
        reads: SegmentsLike = (),
        hostname: str = "node0",
    ) -> Self:
        return self._add("DXT_POSIX", encode_dxt(self.name(name), rank, hostname, writes, reads))

    def dxt_mpiio(
        self,
        name: str,
        rank: int = 0,
        writes: SegmentsLike = (),
        reads: SegmentsLike = (),
        hostname: str = "node0",
    ) -> Self:
        return self._add("DXT_MPIIO", encode_dxt(self.name(name), rank, hostname, writes, reads))

    def partial(self, *modules: str) -> Self:
        """Mark modules as partial."""
        self._partial.update(modules)
        return self

    def image(self) -> bytes:
        """The log as bytes."""
        regions = {module: b"".join(records) for module, records in self._records.items()}
        return log_image(job=self.job, names=self.names, regions=regions, partial=self._partial)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the log; returns its path. Errors are those of :func:`write_log`."""
        regions = {module: b"".join(records) for module, records in self._records.items()}
        return write_log(path, job=self.job, names=self.names, regions=regions, partial=self._partial)

    def _fixed(
        self, module: str, name: str, rank: int, values: Mapping[str, float], file: str | None = None
    ) -> Self:
        file_id = 0 if file is None else self.name(file)
        return self._add(module, encode_record(module, self.name(name), rank, values, file_id))

    def _add(self, module: str, record: bytes) -> Self:
        self._records.setdefault(module, []).append(record)
        return self
