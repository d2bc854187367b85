"""Small originals and records, built without a log."""

from __future__ import annotations

from typing import Any

from facts_by_hand import file_facts, module_facts

from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.facts.records import FileFacts
from workalike.record.run_record import KindTimes, LevelBytes, Record, RecordDump, RecordScale
from workalike.workload.model import (
    Content,
    Family,
    Interface,
    Level,
    Role,
    Schedule,
    Sharing,
    SharingMode,
    Stream,
    Workload,
)

MIB = 2**20


def posix_file(name: str, *, writes: int, size: int, ranks: int = 4, **more: float) -> FileFacts:
    """One shared file with `writes` equal writes of 1 MiB or less, reduced over the ranks."""
    counters: dict[str, float] = {
        "OPENS": ranks,
        "WRITES": writes,
        "BYTES_WRITTEN": writes * size,
        "MAX_BYTE_WRITTEN": writes * size - 1,
        "SIZE_WRITE_100K_1M": writes,
        "SEQ_WRITES": writes - 1,
        "CONSEC_WRITES": writes - ranks,
        "ACCESS1_ACCESS": size,
        "ACCESS1_COUNT": writes,
        "MODE": 0o644,
        **more,
    }
    return file_facts(name, module_facts("POSIX", {-1: counters}), ranks=ranks)


def family(
    dumps: int = 3,
    *,
    role: Role = Role.CHECKPOINT,
    number: int = 1,
    level: Level = Level.POSIX,
    sizes: str = "8/rank x 1 MiB",
    mode: SharingMode = SharingMode.SHARED,
    start: list[float] | None = None,
    **content: Any,
) -> Family:
    """A family of equal dumps, ten seconds apart."""
    return Family(
        role=role,
        number=number,
        interface=Interface.STDIO if level is Level.STDIO else Interface.POSIX,
        level=level,
        sharing=Sharing(mode=mode),
        schedule=Schedule(start=start or [10.0 * (i + 1) for i in range(dumps)], duration=2.0),
        content=Content(streams=[Stream(direction="write", sizes=[sizes])], **content),
    )


def original(ranks: int = 4, dumps: int = 3, *, writes: int = 32, size: int = MIB) -> Characterization:
    """A log of `dumps` checkpoints at POSIX: 8 writes of 1 MiB per rank into one shared file each.

    The calls of a dump take 2 rank-seconds.
    """
    checkpoint = family(dumps)
    files = [
        posix_file(
            f"/home/alice/secret/chk_{i}",
            writes=writes,
            size=size,
            ranks=ranks,
            F_OPEN_START_TIMESTAMP=10.0 * (i + 1),
            F_CLOSE_END_TIMESTAMP=10.0 * (i + 1) + 2,
            F_WRITE_TIME=1.75,
            F_META_TIME=0.25,
        )
        for i in range(dumps)
    ]
    facts = [
        DumpFacts(writes * size, 0, 10.0 * (i + 1), 10.0 * (i + 1) + 2, 2.0, [file])
        for i, file in enumerate(files)
    ]
    return Characterization(
        Workload(ranks=ranks, runtime=60.0, families=[checkpoint]), [FamilyFacts(checkpoint, facts)], []
    )


def record_dump(index: int, *, written: int = 32 * MIB, read: int = 0, **more: Any) -> RecordDump:
    """A dump as the engine would record it: 32 writes of 1 MiB by 4 ranks, which take `inside` rank-seconds."""
    operations = more.pop("operations", 32)
    inside = more.pop("inside", 1.0)
    values: dict[str, Any] = {
        "family": 0,
        "role": Role.CHECKPOINT,
        "number": 1,
        "index": index,
        "ranks": 4,
        "bytes_written": written,
        "bytes_read": read,
        "levels": {Level.POSIX: LevelBytes(bytes_written=written, bytes_read=read)},
        "due_s": 10.0 * (index + 1),
        "start_s": 10.0 * (index + 1),
        "end_s": 10.0 * (index + 1) + 1,
        "late_s": 0.0,
        "io_s": 1.0,
        "kinds": {
            "open": KindTimes(count=4, total_s=0.25 * inside),
            "write": KindTimes(count=operations, total_s=0.75 * inside),
        },
        "counters": {
            "OPENS": 4,
            "WRITES": operations,
            "READS": 0,
            "SIZE_WRITE": [0, 0, 0, 0, operations, 0, 0, 0, 0, 0],
            "MAX_BYTE_WRITTEN": written - 1,
            "SEQ_WRITES": operations - 1,
            "CONSEC_WRITES": operations - 4,
            "STATS": 0,
            "SEEKS": 0,
            "FSYNCS": 0,
        },
    }
    return RecordDump(**{**values, **more})


def record(*dumps: RecordDump, **more: Any) -> Record:
    """A record of a run at full scale on 4 ranks, at the original's times."""
    values: dict[str, Any] = {
        "plan_ranks": 4,
        "processes": 4,
        "backend": "posix",
        "time_scale": 1.0,
        "scale": RecordScale(ranks=1.0, bytes=1.0, time=1.0),
        "dumps": list(dumps),
    }
    return Record(**{**values, **more})
