"""The job region and the name region (docs/reference/darshan-format.md#job-region, #name-region)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from workalike.darshan import layouts
from workalike.darshan.header import Header
from workalike.darshan.source import OBJECTS, SMALL, Source, Warn

_BILLION = 1_000_000_000
_MOST_PROCESSES = (1 << 31) - 1
"""The number of processes is a C int in MPI."""
_METADATA_LINE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*=")
_ID_BYTES = np.arange(1, 9)
"""Offsets of the bytes of an id from the end of the previous name."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a log says about the job as a whole.

    Attributes:
        uid: user number.
        start_time: start of the first rank, seconds since 1970 UTC.
        end_time: end of the last rank, seconds since 1970 UTC.
        run_time: length of the job in seconds, never negative. With nanosecond fields (format 3.41) it is the
            difference of the two; without, it is in whole seconds including both ends, as Darshan has it.
        nprocs: number of processes, >= 1.
        job_id: the scheduler's number, or a process number.
        metadata: "lib_ver", "h" (hints for writing the log) and the like.
        exe: the command line; empty if it was not recorded.
        mounts: (file system type, path) in the order of the log.
    """

    uid: int
    start_time: float
    end_time: float
    run_time: float
    nprocs: int
    job_id: int
    metadata: dict[str, str]
    exe: str
    mounts: list[tuple[str, str]]


def read_job(source: Source, header: Header, warn: Warn) -> Job:
    """Inflate and check the job region.

    Raises:
        WorkalikeError: DAMAGED_LOG if it is too short or its values are impossible.
    """
    data = source.inflate(header.job, header.compression, SMALL)
    nanoseconds = header.layout.nanoseconds and not lacks_nanoseconds(data, header.code)
    if header.layout.nanoseconds and not nanoseconds:
        warn(
            "job region: no nanosecond fields, as versions under development wrote it; times are whole seconds"
        )
    fixed = struct.Struct(header.code + ("7q" if nanoseconds else "5q"))
    text_at = fixed.size + layouts.METADATA_BYTES
    if len(data) <= text_at:
        raise source.damaged(
            f"inflates to {len(data)} bytes, but needs more than {text_at}", place="job region"
        )
    if nanoseconds:
        uid, start, start_ns, end, end_ns, nprocs, job_id = fixed.unpack_from(data)
        run_time = (end - start) + (end_ns - start_ns) / _BILLION
    else:
        uid, start, end, nprocs, job_id = fixed.unpack_from(data)
        start_ns = end_ns = 0
        run_time = float(end - start + 1)
    if not 1 <= nprocs <= _MOST_PROCESSES:
        raise source.damaged(f"{nprocs} processes", place="job region")
    if not (0 <= start_ns < _BILLION and 0 <= end_ns < _BILLION):
        raise source.damaged("a time has more than a second of nanoseconds", place="job region")
    if (end, end_ns) < (start, start_ns):
        warn("the job ends before it starts; its run time is set to 0")
        run_time = 0.0
    exe, mounts = _parse_command(data[text_at:], warn)
    return Job(
        uid=uid,
        start_time=start + start_ns / _BILLION,
        end_time=end + end_ns / _BILLION,
        run_time=run_time,
        nprocs=nprocs,
        job_id=job_id,
        metadata=_parse_metadata(data[fixed.size : text_at], warn),
        exe=exe,
        mounts=mounts,
    )


def lacks_nanoseconds(data: bytes, code: str) -> bool:
    """Whether a job region of format 3.41 is one of before the nanosecond fields.

    The end of the job then lies where the nanoseconds of its start should, which are fewer than a billion, and the
    metadata begin where the number of processes should.
    """
    short = struct.Struct(code + "5q")
    if len(data) <= short.size + layouts.METADATA_BYTES:
        return False
    _, start, end, nprocs, _ = short.unpack_from(data)
    impossible = end >= _BILLION and end >= start and 1 <= nprocs <= _MOST_PROCESSES
    return impossible and _METADATA_LINE.match(data, short.size) is not None


def _text(data: bytes) -> str:
    """Bytes up to the first NUL as text; bytes that are not UTF-8 are escaped."""
    return data.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def _parse_metadata(data: bytes, warn: Warn) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for line in _text(data).split("\n"):
        key, equals, value = line.partition("=")
        if equals:
            metadata[key] = value
        elif line:
            warn("job region: a metadata line without '=' is left out")
    return metadata


def _parse_command(data: bytes, warn: Warn) -> tuple[str, list[tuple[str, str]]]:
    """Split the text after the metadata into the command line and (type, path) of each mount.

    A log without mounts has only the command line, for which PyDarshan returns an empty one.
    """
    exe, *lines = _text(data).split("\n")
    parts = [line.partition("\t") for line in lines]
    if any(kind and not tab for kind, tab, _ in parts):
        warn("job region: a mount line without a path is left out")
    return exe, [(kind, path) for kind, tab, path in parts if tab]


def read_names(source: Source, header: Header, warn: Warn) -> dict[int, str]:
    """The names of the name region by record id; empty for a record that Darshan could not name.

    If an id has several names, the first that is not empty is taken.

    Raises:
        WorkalikeError: DAMAGED_LOG if its compression is broken.
    """
    if not header.names.length:
        return {}
    data = source.inflate(header.names, header.compression, OBJECTS)
    parse = _parse_counted if header.layout.counted_names else _parse_ended
    # Ids are hashes, which do not compress: a region with more names than bytes in the file is malicious.
    try:
        names, used = parse(data, header.code, header.names.length)
    except _TooManyNamesError as error:
        message = "holds more names than it has bytes in the file"
        raise source.damaged(message, place=header.names.name) from error
    if used < len(data):
        warn(f"name region: {len(data) - used} bytes left over at inflated byte {used}")
    return names


class _TooManyNamesError(Exception):
    """The name region has more names than its size in the file explains."""


def _parse_ended(data: bytes, code: str, most: int) -> tuple[dict[int, str], int]:
    """Parse at most ``most`` entries of u64 id, name, NUL; returns the names and the bytes used.

    A log may have a hundred thousand names, so the loop only finds their ends.
    """
    find = data.find
    ends: list[int] = []
    used = 0
    for _ in range(most + 1):
        end = find(0, used + 8)
        if end < 0:
            break
        ends.append(end)
        used = end + 1
    else:
        raise _TooManyNamesError
    if not ends:
        return {}, 0
    raw = np.frombuffer(data, dtype=np.uint8)
    id_bytes = np.array([-1, *ends[:-1]])[:, None] + _ID_BYTES
    ids = raw[id_bytes].view(f"{code}u8").ravel().tolist()
    is_text = np.ones(used - 1, dtype=bool)
    is_text[id_bytes] = False
    texts = raw[: used - 1][is_text].tobytes().decode("utf-8", "backslashreplace").split("\0")
    names = dict(zip(ids, texts, strict=True))
    if len(names) < len(
        ids
    ):  # dict() took the last of several names; it should be the first that is not empty
        for number, text in zip(reversed(ids), reversed(texts), strict=True):
            if text:
                names[number] = text
    return names, used


def _parse_counted(data: bytes, code: str, most: int) -> tuple[dict[int, str], int]:
    """Parse entries of u64 id, u32 length, name (format 3.00); arguments and result as of :func:`_parse_ended`."""
    names: dict[int, str] = {}
    head = struct.Struct(code + "QI")
    at = 0
    while at + head.size <= len(data):
        number, length = head.unpack_from(data, at)
        end = at + head.size + length
        if end > len(data):
            break
        if len(names) > most:
            raise _TooManyNamesError
        if not names.get(number):
            names[number] = _text(data[at + head.size : end])
        at = end
    return names, at
