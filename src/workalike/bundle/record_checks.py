"""What a record says twice. A record that was edited in one place contradicts itself in another.

Whoever edits all places alike is not found out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from workalike.record.run_record import KindTimes, Record, RecordDump
from workalike.study.measured import EXACT, united

ROUNDING_S = 1e-6
"""Times of a record are rounded to 100 ns, and a difference has two of them."""
SHARE = 1e-3
"""Clocks of ranks differ: a time that is measured on one rank may exceed one of all ranks by this share."""
CLOCKS_S = 0.1
"""The end of the run is by the clock of rank 0; those of other nodes begin up to so much earlier."""
OPEN_TO_CLOSE = ("open", "close", "seek", "read", "write", "flush", "fsync")
"""Calls between a dump's first open and its last close."""
POSTED = ("read", "write")
"""Calls that a program may post: their waiting counts as time, and not as a call."""
MOST = 5
"""Contradictions that are listed of one record."""


def contradictions(record: Record, said: dict[str, Any] | None = None) -> list[str]:
    """What of a record contradicts the rest of it, at most `MOST` lines.

    Args:
        said: what run.sh wrote about the system, by `said.described`.
    """
    if record.counts_only:
        return []
    found = [*_of_system(record, said or {}), *_of_files(record), *_of_run(record)]
    for dump in record.dumps:
        found += [f"dump {dump.number} of family {dump.family}: {text}" for text in _of_dump(dump)]
        if len(found) >= MOST:
            break
    return found[:MOST]


def _of_system(record: Record, said: dict[str, Any]) -> Iterator[str]:
    memory, each = record.environment.get("memory_bytes"), record.environment.get("host_memory_bytes")
    if isinstance(each, list) and isinstance(memory, int) and each and sum(each) != memory:
        yield f"all nodes have {memory:,} bytes of memory, and {sum(each):,} one by one"
    own, listed = (
        record.environment.get("file_system"),
        said.get("file_systems", {}).get("data", {}).get("type"),
    )
    if listed in ("tmpfs", "ramfs") and isinstance(own, str) and own != listed:
        yield f"the run was on {own}, and results/system has {listed}"


def _of_files(record: Record) -> Iterator[str]:
    """Files are no larger than what was moved reaches."""
    reach: dict[int, int] = defaultdict(int)
    for dump in record.dumps:
        ends = [dump.counter(f"MAX_BYTE_{word}") + 1 for word in ("READ", "WRITTEN")]
        if "MAX_BYTE_WRITTEN" in dump.counters:
            reach[dump.family] = max(reach[dump.family], *ends)
    if record.backend not in EXACT:
        return
    for file in record.files:
        if file.family in reach and file.size > reach[file.family]:
            yield f"a file of family {file.family} has {file.size:,} bytes, its operations reach {reach[file.family]:,}"
            return


def _of_run(record: Record) -> Iterator[str]:
    last = max((dump.end_s for dump in record.dumps), default=0.0)
    if record.wall_s is not None and last > record.wall_s + SHARE * record.wall_s + CLOCKS_S:
        yield f"the run ends after {record.wall_s:g} s, its last dump after {last:g} s"
    calls_s = sum(_in_files_s(dump) for dump in record.dumps)
    open_s = record.processes * united((dump.end_s - dump.io_s, dump.end_s) for dump in record.dumps)
    if calls_s > open_s + SHARE * open_s + ROUNDING_S * len(record.dumps) * record.processes:
        yield f"calls on open files take {calls_s:g} s on all processes, in which files are open for {open_s:g} s"


def _in_files_s(dump: RecordDump) -> float:
    return sum(dump.kinds[word].total_s for word in OPEN_TO_CLOSE if word in dump.kinds)


def _of_dump(dump: RecordDump) -> Iterator[str]:
    length = dump.end_s - dump.start_s
    if abs(max(0.0, dump.start_s - dump.due_s) - dump.late_s) > 2 * ROUNDING_S + SHARE * dump.late_s:
        yield f"it begins at {dump.start_s:g} s, was due at {dump.due_s:g} s, and is {dump.late_s:g} s late"
    if _exceeds(dump.io_s, length):
        yield f"it is open for {dump.io_s:g} s, and lasts {length:g} s"
    if _exceeds(dump.transfer_s, dump.io_s):
        yield f"it moves data for {dump.transfer_s:g} s, and is open for {dump.io_s:g} s"
    for word, kind in dump.kinds.items():
        yield from (f"{word}: {text}" for text in _of_kind(word, kind, length))
    calls_s, most_s = sum(kind.total_s for kind in dump.kinds.values()), dump.ranks * length
    if _exceeds(calls_s, most_s):
        yield f"its calls take {calls_s:g} s on all ranks, which have {most_s:g} s"
    in_files_s, open_s = _in_files_s(dump), dump.ranks * dump.io_s
    if dump.io_s > 0 and _exceeds(in_files_s, open_s):
        yield f"its calls on open files take {in_files_s:g} s on all ranks, which have {open_s:g} s"
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


def _of_kind(word: str, kind: KindTimes, length: float) -> Iterator[str]:
    if not kind.count:
        return
    if _exceeds(kind.min_s, kind.max_s):
        yield f"the shortest call takes {kind.min_s:g} s, the longest {kind.max_s:g} s"
    elif word not in POSTED and (_exceeds(kind.min_s, kind.mean_s) or _exceeds(kind.mean_s, kind.max_s)):
        yield f"the mean of {kind.mean_s:g} s is outside of {kind.min_s:g} to {kind.max_s:g} s"
    if abs(kind.mean_s * kind.count - kind.total_s) > SHARE * kind.total_s + ROUNDING_S * kind.count:
        yield f"{kind.count} calls of {kind.mean_s:g} s are not {kind.total_s:g} s"
    if _exceeds(kind.max_s, length):
        yield f"one call takes {kind.max_s:g} s in a dump of {length:g} s"


def _exceeds(seconds: float, limit: float) -> bool:
    return seconds > limit + SHARE * abs(limit) + ROUNDING_S
