"""What a record says twice. A record whose times were edited in one place contradicts itself in another."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.record.run_record import KindTimes, Record, RecordDump

ROUNDING_S = 1e-6
"""Times of a record are rounded to 100 ns, and a difference has two of them."""
SHARE = 1e-3
"""Clocks of ranks differ: a time that is measured on one rank may exceed one of all ranks by this share."""
OPEN_TO_CLOSE = ("open", "close", "seek", "read", "write", "flush", "fsync")
"""Calls between a dump's first open and its last close."""
MOST = 5
"""Contradictions that are listed of one record."""


def contradictions(record: Record) -> list[str]:
    """What of a record contradicts the rest of it, at most `MOST` lines."""
    if record.counts_only:
        return []
    found: list[str] = []
    for dump in record.dumps:
        found += [f"dump {dump.number} of family {dump.family}: {text}" for text in _of_dump(dump)]
        if len(found) >= MOST:
            break
    last = max((dump.end_s for dump in record.dumps), default=0.0)
    if record.wall_s is not None and _exceeds(last, record.wall_s):
        found.append(f"the run ends after {record.wall_s:g} s, its last dump after {last:g} s")
    return found[:MOST]


def _of_dump(dump: RecordDump) -> Iterator[str]:
    length = dump.end_s - dump.start_s
    if _exceeds(dump.io_s, length):
        yield f"it is open for {dump.io_s:g} s, and lasts {length:g} s"
    if _exceeds(dump.transfer_s, dump.io_s):
        yield f"it moves data for {dump.transfer_s:g} s, and is open for {dump.io_s:g} s"
    for word, kind in dump.kinds.items():
        yield from (f"{word}: {text}" for text in _of_kind(kind, length))
    calls_s, most_s = sum(kind.total_s for kind in dump.kinds.values()), dump.ranks * length
    if _exceeds(calls_s, most_s):
        yield f"its calls take {calls_s:g} s on all ranks, which have {most_s:g} s"
    in_files_s = sum(dump.kinds[word].total_s for word in OPEN_TO_CLOSE if word in dump.kinds)
    if dump.io_s > 0 and _exceeds(in_files_s, dump.ranks * dump.io_s):
        yield f"its calls on open files take {in_files_s:g} s on all ranks, which have {dump.ranks * dump.io_s:g} s"
    yield from _of_calls(dump)


def _of_calls(dump: RecordDump) -> Iterator[str]:
    for word, moved in (("WRITTEN", dump.bytes_written), ("READ", dump.bytes_read)):
        counted = dump.counters.get(f"BYTES_{word}", moved)
        if counted != moved:
            yield f"bytes {word.lower()} are {moved:,}, and {counted:,} in its counters"
    for direction in ("READ", "WRITE"):
        if f"SIZE_{direction}" in dump.counters:
            sizes, calls = sum(dump.bins(f"SIZE_{direction}")), dump.counter(f"{direction}S")
            if sizes != calls:
                yield f"SIZE_{direction} has {sizes} calls, {direction}S {calls}"


def _of_kind(kind: KindTimes, length: float) -> Iterator[str]:
    if not kind.count:
        return
    if _exceeds(kind.min_s, kind.mean_s) or _exceeds(kind.mean_s, kind.max_s):
        yield f"the mean of {kind.mean_s:g} s is outside of {kind.min_s:g} to {kind.max_s:g} s"
    if abs(kind.mean_s * kind.count - kind.total_s) > SHARE * kind.total_s + ROUNDING_S * kind.count:
        yield f"{kind.count} calls of {kind.mean_s:g} s are not {kind.total_s:g} s"
    if _exceeds(kind.max_s, length):
        yield f"one call takes {kind.max_s:g} s in a dump of {length:g} s"


def _exceeds(seconds: float, limit: float) -> bool:
    return seconds > limit + SHARE * abs(limit) + ROUNDING_S
