"""A traced family whose files are not those of blocks of ranks: each of its files is a dump.

In `groups` a workload's ranks share files in blocks. Where the trace shows other ranks together in a file, such as the
processes of a loader that take whichever file is next, each file has a dump of its own, with the ranks that use it.
"""

from __future__ import annotations

from dataclasses import replace

from workalike.characterize.grouping.events import metadata_of
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.facts.records import FileFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.traces import Traces
from workalike.workload.model import (
    Direction,
    Entry,
    Family,
    Lifetime,
    Schedule,
    Sharing,
    SharingMode,
    Stream,
    Turns,
)


def in_files(facts: FamilyFacts, traces: Traces) -> FamilyFacts | None:
    """The family with a dump for each file, in order of their first operation; None for a family of another kind.

    Its streams stand for the operations only until the trace is read.
    """
    family, files = facts.family, facts.files()
    grouped = family.sharing.mode is SharingMode.GROUPS and family.sharing.turns is Turns.CONCURRENT
    if not grouped or family.lifetime is not Lifetime.PER_DUMP or len(files) > THRESHOLDS.by_file_most:
        return None
    dumps = [_dump_of(file, facts, traces) for file in files]
    known = sorted((dump for dump in dumps if dump is not None), key=lambda dump: dump.start_s)
    if len(known) < len(files):
        return None
    direction = Direction.WRITE if any(dump.bytes_written for dump in known) else Direction.READ
    stream = Stream(direction=direction, sizes=[Entry(count=1, size=1)])
    contents = [
        metadata_of(dump.files, family.counted_at).model_copy(update={"streams": [stream]}) for dump in known
    ]
    sharing = Sharing(mode=SharingMode.SHARED)
    if family.sharing.ranks is not None:
        sharing = Sharing(mode=SharingMode.SUBSET, ranks=family.sharing.ranks)
    made = Family.model_validate(
        family.model_dump()
        | {
            "sharing": sharing,
            "schedule": Schedule(
                start=[round(dump.start_s, 6) for dump in known],
                duration=[round(dump.end_s - dump.start_s, 6) for dump in known],
            ),
            "sizes": None,
            "growth": None,
            "content": None,
            "contents": [content.model_dump() for content in contents],
            "use": None,
        }
    )
    return replace(facts, family=made, dumps=known)


def _dump_of(file: FileFacts, facts: FamilyFacts, traces: Traces) -> DumpFacts | None:
    """What the trace says of one file; None without a complete trace."""
    level = facts.family.counted_at
    moved = {direction: file.bytes_at(level, direction) for direction in Direction}
    found = {d: traces.of_file(file, level, d) for d, size in moved.items() if size}
    known = [trace for trace in found.values() if trace is not None]
    if not known or len(known) < len(found):
        return None
    start = min(float(trace.starts.min()) for trace in known)
    return DumpFacts(
        bytes_written=moved[Direction.WRITE],
        bytes_read=moved[Direction.READ],
        start_s=start,
        end_s=max(start, *(float(trace.ends.max()) for trace in known)),
        files=[file],
    )
