"""Writes a log again with other names, ids, hosts and times, and the same counters.

The result has the format version, byte order and record versions of the original, so that any reader gives the same
counters for both. Only what is understood is written: bytes left over in a region, modules that are not decoded, and
the unused parts of text fields are not (docs/reference/darshan-format.md).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workalike.darshan import layouts
from workalike.darshan.hash import record_id
from workalike.darshan.header import Header
from workalike.darshan.job import lacks_nanoseconds
from workalike.darshan.log import Log

TEXT_BYTES = 3015
"""Room for the command line and the mounts in the job region."""

_BILLION = 1_000_000_000
_HOST_AT, _HOST_BYTES, _SHARED_AT, _COUNTS_AT = 24, 64, 16, 88
_POOL_AT, _POOL_BYTES = 56, 16
_SHARED_NAMES = frozenset(record_id(f"heatmap:{api}") for api in layouts.HEATMAP_APIS)
"""Ids of heatmaps, which readers know by number."""

Words = npt.NDArray[Any]


@dataclass(frozen=True)
class Substitutes:
    """What replaces the identifying parts of one log.

    Attributes:
        names: (new id, new name) by old id, in the order in which they are written.
        other_id: the new id of an old one that has no name.
        host: a new host name for one of a trace, at most 63 bytes.
        pool: a new name for a Lustre pool, at most 15 bytes.
        uid, job_id: new numbers.
        shift_ns: what is added to start and end, nanoseconds; whole seconds of it in formats without nanoseconds.
        metadata: the text of the metadata, lines of `key=value`.
        command: the command line and the mounts, as the format has them.
    """

    names: Mapping[int, tuple[int, str]]
    other_id: Callable[[int], int]
    host: Callable[[bytes], bytes]
    pool: Callable[[bytes], bytes]
    uid: int
    job_id: int
    shift_ns: int
    metadata: str
    command: str

    def new_id(self, old: int) -> int:
        """The new id of a record; those that readers know by number, and 0 (none), stay."""
        if old == 0 or old in _SHARED_NAMES:
            return old
        found = self.names.get(old)
        return found[0] if found is not None else self.other_id(old)


def rewritten(log: Log, new: Substitutes) -> bytes:
    """The bytes of the new log. Modules in `log.skipped` are left out.

    Raises:
        WorkalikeError: DAMAGED_LOG.
        ValueError: a text does not fit into its field.
    """
    header = log.header
    layout, code = header.layout, header.code
    out = bytearray(layout.size)
    struct.pack_into(f"{code}8sqB", out, 0, header.format_version.encode(), layouts.MAGIC, layouts.ZLIB)
    body = [zlib.compress(_job(log.inflated(header.job), header, new))]
    at = layout.size + len(body[0])
    names = zlib.compress(_names(header, new)) if new.names else b""
    struct.pack_into(f"{code}2Q", out, layout.names, at if names else 0, len(names))
    body.append(names)
    at += len(names)
    flags = 0
    for module, info in sorted(log.modules.items(), key=lambda item: item[1].id):
        if module in log.skipped:
            continue
        packed = zlib.compress(b"".join(_module(log, module, new)))
        slot = _slot(layout, info.id)
        struct.pack_into(f"{code}2Q", out, layout.maps + 16 * slot, at, len(packed))
        struct.pack_into(f"{code}I", out, layout.versions + 4 * slot, info.version)
        flags |= info.partial << slot
        body.append(packed)
        at += len(packed)
    struct.pack_into(code + layout.partial_code, out, layout.partial, flags)
    return b"".join([bytes(out), *body])


def _slot(layout: layouts.HeaderLayout, number: int) -> int:
    """Where a header has the module with a current number."""
    for slot in range(layout.slots):
        shifted = slot
        for first in layout.shifts:
            shifted += shifted >= first
        if shifted == number:
            return slot
    raise KeyError(number)


def _job(data: bytes, header: Header, new: Substitutes) -> bytes:
    code = header.code
    metadata = new.metadata.encode()
    command = new.command.encode()
    if len(metadata) >= layouts.METADATA_BYTES or len(command) > TEXT_BYTES:
        raise ValueError("metadata, command line or mounts are too long for a log")
    tail = metadata.ljust(layouts.METADATA_BYTES, b"\0") + command + b"\0"
    if header.layout.nanoseconds and not lacks_nanoseconds(data, code):
        _, start, start_ns, end, end_ns, nprocs, _ = struct.unpack_from(f"{code}7q", data)
        times = (
            (*_shifted(start, start_ns, new.shift_ns), *_shifted(end, end_ns, new.shift_ns))
            if start > 0
            else (start, start_ns, end, end_ns)
        )
        return struct.pack(f"{code}7q", new.uid, *times, nprocs, new.job_id) + tail
    _, start, end, nprocs, _ = struct.unpack_from(f"{code}5q", data)
    seconds = new.shift_ns // _BILLION if start > 0 else 0
    return (
        struct.pack(
            f"{code}5q", new.uid, _in_64_bits(start + seconds), _in_64_bits(end + seconds), nprocs, new.job_id
        )
        + tail
    )


def _shifted(seconds: int, nanoseconds: int, by: int) -> tuple[int, int]:
    whole, rest = divmod(seconds * _BILLION + nanoseconds + by, _BILLION)
    return _in_64_bits(whole), rest


def _in_64_bits(seconds: int) -> int:
    return min(max(seconds, -(1 << 63)), (1 << 63) - 1)


def _names(header: Header, new: Substitutes) -> bytes:
    parts = []
    for number, name in new.names.values():
        text = name.encode()
        if header.layout.counted_names:
            parts.append(struct.pack(f"{header.code}QI", number, len(text)) + text)
        else:
            parts.append(struct.pack(f"{header.code}Q", number) + text + b"\0")
    return b"".join(parts)


def _module(log: Log, module: str, new: Substitutes) -> Iterator[bytes]:
    """The pieces of a module's region, of whole records only."""
    code, info = log.header.code, log.modules[module]
    data = log.inflated(info.region)
    if module in layouts.FIXED:
        log.records(module)  # refuses what is damaged
        yield _fixed(module, info.version, data, code, new)
    elif module == "LUSTRE":
        log.lustre()
        yield from _lustre(info.version, bytearray(data), code, new)
    elif module == "HEATMAP":
        log.heatmaps()
        yield _heatmaps(data, code, new)
    else:
        yield from _dxt(log, module, bytearray(data), code, new)


def _fixed(module: str, version: int, data: bytes, code: str, new: Substitutes) -> bytes:
    stored = layouts.FIXED[module].versions[version]
    count = len(data) // (8 * stored.words)
    table: Words = np.frombuffer(data, f"{code}u8", count * stored.words).reshape(count, stored.words).copy()
    columns = [0, 2] if stored.file_id else [0]
    first = 2 + stored.file_id
    if "RENAMED_FROM" in stored.counters:
        columns.append(first + stored.counters.index("RENAMED_FROM"))
    for column in columns:
        old, places = np.unique(table[:, column], return_inverse=True)
        fresh = np.array([new.new_id(number) for number in old.tolist()], dtype=np.uint64)
        if len(old):
            table[:, column] = fresh[places]
    return table.tobytes()


def _heatmaps(data: bytes, code: str, new: Substitutes) -> bytes:
    """Heatmaps without the two pointers in their heads, which mean nothing."""
    words: Words = np.frombuffer(data, f"{code}i8", len(data) // 8).copy()
    unsigned = words.view(f"{code}u8")
    head = layouts.HEATMAP_HEAD_BYTES // 8
    at = 0
    while at + head <= len(words):
        unsigned[at] = new.new_id(int(unsigned[at]))
        words[at + 4 : at + 6] = 0
        at += head + 2 * int(words[at + 3])
    return words[:at].tobytes()


def _lustre(version: int, data: bytearray, code: str, new: Substitutes) -> Iterator[bytes]:
    at = 0
    head = 56 if version == 1 else layouts.LUSTRE_HEAD_BYTES
    while at + head <= len(data):
        (old,) = struct.unpack_from(f"{code}Q", data, at)
        struct.pack_into(f"{code}Q", data, at, new.new_id(old))
        components, stripes = struct.unpack_from(f"{code}2q", data, at + head - 16)
        size = head + 8 * stripes
        if version > 1:
            size += components * layouts.LUSTRE_COMPONENT_BYTES
            for number in range(components):
                pool = at + head + number * layouts.LUSTRE_COMPONENT_BYTES + _POOL_AT
                old_pool = bytes(data[pool : pool + _POOL_BYTES]).split(b"\0", 1)[0]
                fresh = new.pool(old_pool) if old_pool else b""
                data[pool : pool + _POOL_BYTES] = _padded(fresh, _POOL_BYTES)
        yield bytes(data[at : at + size])
        at += size


def _dxt(log: Log, module: str, data: bytearray, code: str, new: Substitutes) -> Iterator[bytes]:
    """Traces; thread numbers, which are addresses, become numbers in the order in which a record's threads appear."""
    log.dxt(module)
    segment = layouts.DXT_SEGMENT_BYTES[module, log.modules[module].version]
    at = 0
    while at + layouts.DXT_HEAD_BYTES <= len(data):
        (old,) = struct.unpack_from(f"{code}Q", data, at)
        struct.pack_into(f"{code}Q", data, at, new.new_id(old))
        struct.pack_into(f"{code}q", data, at + _SHARED_AT, 0)
        host_at = at + _HOST_AT
        host = bytes(data[host_at : host_at + _HOST_BYTES]).split(b"\0", 1)[0]
        data[host_at : host_at + _HOST_BYTES] = _padded(new.host(host) if host else b"", _HOST_BYTES)
        writes, reads = struct.unpack_from(f"{code}2q", data, at + _COUNTS_AT)
        first = at + layouts.DXT_HEAD_BYTES
        end = first + (writes + reads) * segment
        if segment == 40 and end > first:
            rows: Words = np.frombuffer(bytes(data[first:end]), f"{code}u8").reshape(-1, 5).copy()
            _, seen, places = np.unique(rows[:, 4], return_index=True, return_inverse=True)
            rows[:, 4] = (np.argsort(np.argsort(seen)) + 1)[places]
            data[first:end] = rows.tobytes()
        yield bytes(data[at:end])
        at = end


def _padded(text: bytes, size: int) -> bytes:
    if len(text) >= size:
        raise ValueError(f"{len(text)} bytes of text do not fit into {size}")
    return text.ljust(size, b"\0")
