"""Reads the mappings in which the capture library counts (capture/core/mapping.h).

A process that was killed leaves its mapping, and so does one that became another program (exec).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workalike.darshan import layouts
from workalike.errors import ErrorKind, WorkalikeError

HEATMAP_BINS = 200

SIZES = "SIZES"
"""Pseudo-module of the sizes of STDIO calls (capture/stdio/sizes.h), for the side file."""

_SIZES_MODULE = 62
_FIRST_SIDE_MODULE = 32
_SIDE = "SIDE"
"""Prefix of the modules from _FIRST_SIDE_MODULE on, whose counters go into the side file
(capture/core/side_counters.h)."""

WHOLE = 2
"""State of a process that left its counters on purpose: it became another program, or could not write a log."""

# magic, version, state; pid, fork_parent, rank, ranks; job; job_id, uid; start; origin, end; used, partial
_HEADER = struct.Struct("<8sII4qQ2q2q2q2Q")
_COMMAND_BYTES = 3016
_HEADER_BYTES = 8192
_ENTRY = struct.Struct("<2I6H3I")
_NAME_AT = _ENTRY.size + 8
_RANK_AT = 8
_RECORD, _NAME, _TRACE, _HEATMAP, _EVENTS, _WORDS = 1, 2, 3, 4, 5, 6
_TRACE_HEAD = struct.Struct("<2Q4I")  # id, next; write, room, used, unused
_EVENT = struct.Struct("<Q2d2I")  # id; start, end; module, kind
_EVENT_WORDS = ("", "open", "close", "sync")
_SEGMENT_BYTES = 32
_COMMON_VALUES = 32
_COMMON_KEPT = 4
_COMMON_TABLE = struct.Struct(f"<2I{2 * _COMMON_VALUES}q")  # used, last; values; counts
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """The head of one entry, and its offset `at` in the mapping, bytes."""

    kind: int
    module: str
    at: int
    record_size: int
    record_at: int
    access_at: int
    access_width: int
    stride_at: int
    ready: bool
    counted: bool


@dataclass(frozen=True, slots=True)
class HeatmapLevel:
    """Bytes over time of one interface, counted while the run had a certain length (capture/log/heatmap.h)."""

    api: int
    level: int
    written: tuple[int, ...]
    read: tuple[int, ...]


@dataclass(slots=True)
class Trace:
    """Stored segments of one file, each of offset, length, start and end in 8 bytes."""

    writes: bytearray = field(default_factory=bytearray)
    reads: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class Event:
    """An open, close or sync (capture/log/events.h); times in seconds since its process began."""

    file_id: int
    module: str
    kind: str
    start: float
    end: float


@dataclass
class Mapping:
    """What one process counted.

    Attributes:
        job: number that the processes of one MPI job share; 0 without MPI.
        whole: whether the process left its counters on purpose, rather than being killed.
        start: seconds since 1970; all times of the process count from here.
        last: latest end of a call, in seconds since `start`.
        records: stored records by module, with this process's rank in them.
        heatmaps: the levels that were used, of all interfaces.
        traces: by (module, record id).
        side: counters for the side file, by part of it, then by record id of the file.
        events: opens, closes and syncs, if they were recorded.
        sizes: two lists by record id of the file, (size, count) of STDIO's reads and of its writes, if recorded.
        partial: modules that ran out of memory.
    """

    path: Path
    pid: int
    fork_parent: int
    rank: int
    ranks: int
    job: int
    job_id: int
    uid: int
    whole: bool
    start: float
    last: float
    command: str
    names: dict[int, str] = field(default_factory=dict)
    records: dict[str, list[bytes]] = field(default_factory=dict)
    partial: list[str] = field(default_factory=list)
    heatmaps: list[HeatmapLevel] = field(default_factory=list)
    traces: dict[tuple[str, int], Trace] = field(default_factory=dict)
    side: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    sizes: dict[int, list[list[tuple[int, int]]]] = field(default_factory=dict)


def read_mapping(path: Path) -> Mapping | None:
    """Read one mapping; None if its process never began to count.

    Raises:
        WorkalikeError: DAMAGED_LOG when it is not a mapping of this version, MISSING when it cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WorkalikeError(ErrorKind.MISSING, error.strerror or "cannot be read", file=path) from error
    if len(data) < _HEADER_BYTES or data[:8] == bytes(8):
        return None
    (
        magic,
        version,
        state,
        pid,
        parent,
        rank,
        ranks,
        job,
        job_id,
        uid,
        sec,
        nsec,
        origin,
        end,
        used,
        partial,
    ) = _HEADER.unpack_from(data)
    if magic != b"WACAPMAP" or version != _VERSION:
        raise WorkalikeError(
            ErrorKind.DAMAGED_LOG, "is not a mapping of this version of the capture library", file=path
        )
    command = data[_HEADER.size : _HEADER.size + _COMMAND_BYTES].split(b"\0")[0]
    mapping = Mapping(
        path=path,
        pid=pid,
        fork_parent=parent,
        rank=rank,
        ranks=max(1, ranks),
        job=job,
        job_id=job_id,
        uid=uid,
        whole=state == WHOLE,
        start=sec + nsec * 1e-9,
        last=max(0.0, (end - origin) * 1e-9) if end else 0.0,
        command=command.decode("utf-8", "replace"),
        partial=[name for bit, name in enumerate(layouts.MODULE_NAMES) if partial >> bit & 1],
    )
    entries = list(_entries(data, min(used, len(data))))
    words: dict[str, list[str]] = {}
    for entry in sorted(entries, key=lambda entry: entry.kind != _WORDS):  # counter names before the counters
        try:
            _take(mapping, data, entry, words)
        except (struct.error, ValueError, IndexError, KeyError) as error:
            raise WorkalikeError(
                ErrorKind.DAMAGED_LOG,
                f"an entry of module {entry.module} is damaged",
                file=path,
                place=f"byte {entry.at}",
                hint="leave this mapping out; the counters of this process are lost",
            ) from error
    return mapping


def _entries(data: bytes, used: int) -> Iterator[Entry]:
    """The entries in order, up to the first that is impossible."""
    at = _HEADER_BYTES
    while at + _ENTRY.size <= used:
        kind, size, module, record_size, record_at, access_at, width, stride_at, ready, counted, _ = (
            _ENTRY.unpack_from(data, at)
        )
        if size < _ENTRY.size or at + size > used:
            return
        name = _module_name(module)
        yield Entry(
            kind, name, at, record_size, record_at, access_at, width, stride_at, bool(ready), bool(counted)
        )
        at += size


def _module_name(number: int) -> str:
    if number == _SIZES_MODULE:
        return SIZES
    if number >= _FIRST_SIDE_MODULE:
        return f"{_SIDE}{number}"
    return layouts.MODULE_NAMES[number] if number < len(layouts.MODULE_NAMES) else "NULL"


def _table(data: bytes, at: int) -> list[tuple[int, int]]:
    """The values of a table of common values, with their counts."""
    used, _, *numbers = _COMMON_TABLE.unpack_from(data, at)
    pairs = zip(numbers[:used], numbers[_COMMON_VALUES:], strict=False)
    return [(value, count) for value, count in pairs if count > 0]  # 0: killed between value and count


def _take(mapping: Mapping, data: bytes, entry: Entry, words: dict[str, list[str]]) -> None:
    if not entry.ready:
        return
    if entry.kind == _NAME:
        (number,) = struct.unpack_from("<Q", data, entry.at + _ENTRY.size)
        mapping.names.setdefault(number, _text(data, entry.at + _NAME_AT))
    elif entry.kind == _WORDS:
        text = data[entry.at + _ENTRY.size : data.index(b"\0\0", entry.at + _ENTRY.size)]
        words[entry.module] = text.decode("utf-8", "backslashreplace").split("\0")
    elif entry.kind == _RECORD and entry.counted and entry.module in words:
        part, *counters = words[entry.module]
        number, _, *counts = struct.unpack_from(f"<{2 + len(counters)}Q", data, entry.at + entry.record_at)
        mapping.side.setdefault(part, {})[number] = dict(zip(counters, counts, strict=True))
    elif entry.kind == _RECORD and entry.counted and entry.module == SIZES:
        start = entry.at + entry.record_at
        (number,) = struct.unpack_from("<Q", data, start)
        mapping.sizes[number] = [_table(data, start + 16 + i * _COMMON_TABLE.size) for i in range(2)]
    elif entry.kind == _RECORD and entry.counted and entry.module in layouts.FIXED:
        mapping.records.setdefault(entry.module, []).append(_stored(mapping, data, entry))
    elif entry.kind == _RECORD and entry.counted and entry.module == "LUSTRE":
        start = entry.at + entry.record_at
        record = bytearray(data[start : start + entry.record_size])
        struct.pack_into("<q", record, _RANK_AT, mapping.rank)
        mapping.records.setdefault("LUSTRE", []).append(bytes(record))
    elif entry.kind == _HEATMAP:
        api, level = struct.unpack_from("<2I", data, entry.at + _ENTRY.size)
        bins = struct.unpack_from(f"<{2 * HEATMAP_BINS}q", data, entry.at + _ENTRY.size + 8)
        mapping.heatmaps.append(HeatmapLevel(api, level, bins[:HEATMAP_BINS], bins[HEATMAP_BINS:]))
    elif entry.kind == _EVENTS:
        _, room = struct.unpack_from("<2I", data, entry.at + _ENTRY.size)
        for i in range(room):
            place = entry.at + _ENTRY.size + 8 + i * _EVENT.size
            number, begin, end, module, kind = _EVENT.unpack_from(data, place)
            if 0 < kind < len(_EVENT_WORDS):
                mapping.events.append(Event(number, _module_name(module), _EVENT_WORDS[kind], begin, end))
    elif entry.kind == _TRACE:
        number, _, write, room, used, _ = _TRACE_HEAD.unpack_from(data, entry.at + _ENTRY.size)
        start = entry.at + _ENTRY.size + _TRACE_HEAD.size
        trace = mapping.traces.setdefault((entry.module, number), Trace())
        chain = trace.writes if write else trace.reads
        chain += data[start : start + min(used, room) * _SEGMENT_BYTES]


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("utf-8", "backslashreplace")


def _stored(mapping: Mapping, data: bytes, entry: Entry) -> bytes:
    """A record as a log stores it, with the rank and the most common values filled in."""
    start = entry.at + entry.record_at
    record = bytearray(data[start : start + entry.record_size])
    struct.pack_into("<q", record, _RANK_AT, mapping.rank)
    layout = layouts.FIXED[entry.module].current
    places = {
        name: 8 * (2 + layout.file_id + at) for at, name in enumerate(layout.counters + layout.fcounters)
    }
    for table, width, value_name, count_name in (
        (entry.access_at, entry.access_width, "ACCESS{}_ACCESS", "ACCESS{}_COUNT"),
        (entry.stride_at, 1, "STRIDE{}_STRIDE", "STRIDE{}_COUNT"),
    ):
        best = _most_common(data, entry.at + table, width) if table else []
        for number, (value, count) in enumerate(best, 1):
            struct.pack_into(f"<{width}q", record, places[value_name.format(number)], *value)
            struct.pack_into("<q", record, places[count_name.format(number)], count)
    for name in layout.fcounters:
        if name.endswith("_END_TIMESTAMP"):
            mapping.last = max(mapping.last, struct.unpack_from("<d", record, places[name])[0])
    return bytes(record)


def _most_common(data: bytes, at: int, width: int) -> list[tuple[tuple[int, ...], int]]:
    """The four most common values of a table, the larger ones first among equals; a value has `width` numbers."""
    (used,) = struct.unpack_from("<I", data, at)
    numbers = struct.unpack_from(f"<{(width + 1) * _COMMON_VALUES}q", data, at + 8)
    counts = numbers[width * _COMMON_VALUES :]
    pairs = [(numbers[width * i : width * (i + 1)], counts[i]) for i in range(min(used, _COMMON_VALUES))]
    return sorted(pairs, key=lambda pair: (pair[1], pair[0]), reverse=True)[:_COMMON_KEPT]
