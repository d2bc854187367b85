"""What a log says that a program did to storage, by PyDarshan alone, and how far two logs are apart.

Nothing of `workalike` is used here: these measures are the witness of its verdict. They are read at POSIX and STDIO,
over all files below one folder, and summed over all logs of a command. A stream that was made of a descriptor shows
in both modules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

BINS = (
    "0_100",
    "100_1K",
    "1K_10K",
    "10K_100K",
    "100K_1M",
    "1M_4M",
    "4M_10M",
    "10M_100M",
    "100M_1G",
    "1G_PLUS",
)
MODULES = ("POSIX", "STDIO")
APART_PCT = 5.0
"""Two values are off if they are further apart, in per cent of the original's."""
CHANCE = 3.29
"""99.9 % of a normal distribution lie within so many deviations of its mean."""

Counters = Mapping[str, int]
reading = Lock()  # PyDarshan's C library has one state for all threads


@dataclass(frozen=True)
class Record:
    """One record of a log: its file's name, its module, its counters without the module's name, its number of ranks."""

    name: str
    module: str
    counters: Counters
    ranks: int = 1


@dataclass
class Order:
    """How accesses of one direction follow each other, and what a random order would have given."""

    accesses: int = 0
    ahead: int = 0
    """Accesses that lie beyond the one before (SEQ)."""
    adjacent: int = 0
    """Accesses that begin where the one before ended (CONSEC)."""
    followers: int = 0
    """Accesses that have one before them in their record."""
    mean: float = 0.0
    variance: float = 0.0
    next_to: float = 0.0
    """The mean, and the variance, of adjacent accesses: 1 for each rank that goes over its places once, in any order."""

    def add(self, accesses: int, ahead: int, adjacent: int, ranks: int = 1, passes: float = 1.0) -> None:
        """Count one record, whose accesses are taken to be shared out evenly among its ranks.

        `passes` is how often a rank alone goes over the bytes of a file: n accesses of m places, some of them again, are
        adjacent n / m times.
        """
        self.accesses += accesses
        self.ahead += ahead
        self.adjacent += adjacent
        if accesses > ranks:
            self.followers += accesses - ranks
            self.mean += (accesses - ranks) / 2
            self.variance += (accesses + ranks) / 12
            self.next_to += ranks if ranks > 1 else max(1.0, passes)

    def may_be_random(self) -> bool:
        """Whether these counts are what random orders give in 99.9 % of all cases; never for a perfect order."""
        if not self.followers or (self.followers > 2 and self.ahead in (0, self.followers)):
            return False
        return self.chance_ahead(self.ahead) and self.chance_adjacent(self.adjacent)

    def chance_ahead(self, value: float) -> bool:
        """Whether so many accesses ahead are within chance."""
        return abs(value - self.mean) <= CHANCE * math.sqrt(self.variance)

    def chance_adjacent(self, value: float) -> bool:
        """Whether so many adjacent accesses are within chance."""
        return abs(value - self.next_to) <= CHANCE * math.sqrt(self.next_to)


@dataclass
class Measures:
    """The measures of all logs of a command. Sizes are in bytes, all else are counts."""

    values: dict[str, float] = field(default_factory=dict)
    reused: bool = False
    """Whether a name was renamed away more than once: its extent is the largest of several files."""
    read: Order = field(default_factory=Order)
    write: Order = field(default_factory=Order)


@dataclass(frozen=True)
class Comparison:
    """One measure of an original and its replica; `off_pct` is in per cent of the original's value."""

    measure: str
    original: float
    replica: float
    off_pct: float
    off: bool


def records_of(logs: Iterable[Path]) -> list[Record]:
    """Read the records of POSIX and STDIO of some logs."""
    import darshan.backend.cffi_backend as backend  # type: ignore[import-untyped]

    found = []
    for log in logs:
        for module in MODULES:
            with reading:
                handle = backend.log_open(str(log))
                if not bool(handle["handle"]):
                    raise ValueError(f"{log}: PyDarshan cannot open it")
                names = backend.log_get_name_records(handle)
                present = backend.log_get_modules(handle)
                processes = int(backend.log_get_job(handle)["nprocs"])
                while module in present:
                    record = backend.log_get_record(handle, module, dtype="dict")
                    if record is None:
                        break
                    counters = {
                        key.removeprefix(f"{module}_"): int(value)
                        for key, value in record["counters"].items()
                    }
                    ranks = processes if record["rank"] < 0 else 1
                    found.append(Record(names.get(record["id"], str(record["id"])), module, counters, ranks))
                backend.log_close(handle)
    return found


def count(counters: Counters, *names: str) -> int:
    """The sum of some counters. Those that a log lacks are 0, and so are those that it marks as unknown (-1)."""
    return sum(max(counters.get(name, 0), 0) for name in names)


def opens_of(record: Record) -> int:
    """Opens that reach the file system: calls on a descriptor that is already open do not."""
    return count(record.counters, "OPENS") - count(record.counters, "DUPS", "FILENOS", "FDOPENS")


def extent_of(counters: Counters) -> int:
    """Where the last byte of a file ends that was read or written, in bytes."""
    ends = [
        count(counters, f"MAX_BYTE_{what}") + 1
        for what, moved in (("READ", "BYTES_READ"), ("WRITTEN", "BYTES_WRITTEN"))
        if count(counters, moved)
    ]
    return max(ends, default=0)


def measure(records: Iterable[Record], folder: Path) -> Measures:
    """Sum up the records of a folder, of the files below it, and of the folders above it, whose state programs ask for.

    A name that was used counts as one file, however often, unless it was renamed: then each rename is of another file.
    """
    inside = f"{folder}/"
    values: dict[str, float] = dict.fromkeys(
        (
            "opens",
            "reads",
            "writes",
            "bytes read",
            "bytes written",
            "syncs",
            "flushes",
            "stats",
            "renames",
            "maps",
        ),
        0,
    )
    found = Measures(values)
    extents: dict[str, int] = {}
    moved_away: dict[str, int] = {}
    for record in records:
        counters = record.counters
        if not record.name.startswith(inside) and not inside.startswith(f"{record.name.rstrip('/')}/"):
            continue
        values["opens"] += opens_of(record)
        values["reads"] += count(counters, "READS")
        values["writes"] += count(counters, "WRITES")
        values["bytes read"] += count(counters, "BYTES_READ")
        values["bytes written"] += count(counters, "BYTES_WRITTEN")
        values["syncs"] += count(counters, "FSYNCS", "FDSYNCS")
        values["flushes"] += count(counters, "FLUSHES")
        if record.module == "POSIX":
            values["stats"] += count(counters, "STATS")
            values["maps"] += count(counters, "MMAPS")
            renames = count(counters, "RENAME_SOURCES")
            values["renames"] += renames
            if count(counters, "OPENS"):
                moved_away[record.name] = moved_away.get(record.name, 0) + renames
            for direction, past, order in (("READ", "READ", found.read), ("WRITE", "WRITTEN", found.write)):
                for name in BINS:
                    key = f"{direction.lower()}s of {name.replace('_', ' to ')}"
                    values[key] = values.get(key, 0) + count(counters, f"SIZE_{direction}_{name}")
                order.add(
                    *(count(counters, f"{prefix}{direction}S") for prefix in ("", "SEQ_", "CONSEC_")),
                    record.ranks,
                    count(counters, f"BYTES_{past}") / (count(counters, f"MAX_BYTE_{past}") + 1),
                )
        # A name that was only asked for its state may be a folder, for which a replica has a file.
        if count(counters, "OPENS", "READS", "WRITES"):
            extents[record.name] = max(extents.get(record.name, 0), extent_of(counters))
    values["files"] = sum(max(1, moved_away.get(name, 0)) for name in extents)
    found.reused = any(times > 1 for times in moved_away.values())
    values["extents"] = sum(extents.values())
    for name, order in (("reads", found.read), ("writes", found.write)):
        values[f"sequential {name}"] = order.ahead
        values[f"consecutive {name}"] = order.adjacent
    return found


def off_by(original: float, replica: float) -> float:
    """How far a replica's value is from the original's, in per cent of that; infinite where that is 0."""
    if original == replica:
        return 0.0
    return math.inf if original == 0 else 100 * abs(replica - original) / abs(original)


def compare(original: Measures, replica: Measures) -> list[Comparison]:
    """Put every measure of two runs side by side, those that both lack left out."""
    rows = []
    for name in dict.fromkeys([*original.values, *replica.values]):
        ours, theirs = original.values.get(name, 0), replica.values.get(name, 0)
        if not ours and not theirs:
            continue
        apart = off_by(ours, theirs)
        off = apart > APART_PCT and not by_chance(name, original, theirs)
        if name == "extents" and (original.reused or replica.reused):
            off = False
        rows.append(Comparison(name, ours, theirs, apart, off))
    return rows


def by_chance(name: str, original: Measures, replica: float) -> bool:
    """Whether a measure of order differs by chance alone: the original's own order is what random orders are like."""
    kind, _, direction = name.partition(" ")
    if kind not in ("sequential", "consecutive"):
        return False
    order = original.read if direction == "reads" else original.write
    if not order.may_be_random():
        return False
    return order.chance_ahead(replica) if kind == "sequential" else order.chance_adjacent(replica)


def off(rows: Iterable[Comparison]) -> list[Comparison]:
    """Those that are off."""
    return [row for row in rows if row.off]
