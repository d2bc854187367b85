"""The contents of the report's tables and cards: plain values and text, each with its source."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata

from workalike import __version__
from workalike.characterize.result import Characterization
from workalike.compare.fidelity_schema import (
    AgreementFidelity,
    CounterFidelity,
    FamilyFidelity,
    Fidelity,
    UncoveredShare,
)
from workalike.compare.grade import worst_bytes
from workalike.compare.laws import Law
from workalike.compare.pairing import Pairing, error_pct
from workalike.compare.side import sum_name
from workalike.compare.table import short_counter
from workalike.compare.verdict import LINES, largest_distance, operation_rows
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.record.run_record import Record
from workalike.report.guard import instrument_text
from workalike.report.sentences import ASSUMPTIONS, REASONS, family_sentences
from workalike.text import percent_text, plural, rate_text, seconds_text, size_text
from workalike.workload.ambiguity import ambiguity_words
from workalike.workload.model import Assumption, Reason, Role, Workload

MAX_FAMILIES = 40
MAX_DUMP_ROWS = 40
MAX_COUNTER_ROWS = 120
ORDER = [law.word for law in Law]
PARTS = {
    "engine": "engine",
    "mpi": "MPI",
    "mpi_io": "MPI-IO component",
    "hdf5": "HDF5",
    "pnetcdf": "PnetCDF",
    "compiler": "compiler",
    "file_system": "file system",
}
"""The entries of a record's environment that the report shows, with their names in it; the others are not shown."""


@dataclass
class Card:
    """A key figure: its name, its value, and what it means."""

    title: str
    value: str
    note: str
    mood: str = ""  # good, fair, bad or nothing


@dataclass
class Story:
    """A family in words, with the rules that decided and what was assumed."""

    name: str
    role: Role
    sentences: list[str]
    rules: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


def _mood(value: float | None, good: float, fair: float) -> str:
    if value is None:
        return ""
    return "good" if value <= good else "fair" if value <= fair else "bad"


def cards(fidelity: Fidelity) -> list[Card]:
    """The key figures at the top of the report."""
    out = []
    if fidelity.families:
        worst = max(fidelity.families, key=worst_bytes)
        error = worst_bytes(worst)
        out.append(
            Card("bytes", _off(error), "worst family, total or any dump", _mood(error, 0.1, 5)),
        )
    rows = operation_rows(fidelity)
    if rows:
        operations = max(r.error_pct or 0.0 for r in rows)
        out.append(Card("operations", _off(operations), "reads and writes", _mood(operations, 1, 10)))
    distance = largest_distance(fidelity)
    if distance is not None:
        text = "equal" if distance == 0 else f"{distance:.2g} apart"
        out.append(Card("operation sizes", text, "histogram distance, 0 to 1", _mood(distance, 0.02, 0.15)))
    out += _agreement_cards(fidelity.agreement)
    starts = [f.start_time_error_max_s for f in fidelity.families if f.start_time_error_max_s is not None]
    if starts:
        out.append(
            Card("start times", f"{seconds_text(max(starts))} off", "at most, in time of the original")
        )
    out += _time_cards(fidelity)
    out.append(_left_out_card(fidelity.uncovered))
    return out


def _left_out_card(left_out: UncoveredShare) -> Card:
    share = left_out.bytes_pct
    if not left_out.unknown_files:
        return Card("not covered", percent_text(share), "of the application's bytes", _mood(share, 0.0, 5))
    files = plural(left_out.unknown_files, "file")
    # What is unknown is not good.
    mood = "fair" if share <= 5 else "bad"
    return Card("not covered", percent_text(share), f"of the bytes, and {files} of unknown size", mood)


def _agreement_cards(agreement: AgreementFidelity) -> list[Card]:
    """Both lines of the verdict: shares are rounded down, so that 100 % means all."""
    lines = (
        (LINES["model"].lower(), agreement.model, agreement.counters_model),
        (LINES["replica"], agreement.replica, agreement.counters_replica),
    )
    return [
        Card(
            title,
            f"{math.floor(100 * share)} % agree",
            f"of {plural(count, 'determined counter')}, within 5 %",
            _mood(1 - share, 0.0, 0.1),
        )
        for title, share, count in lines
        if share is not None
    ]


def verified_cards(record: Record | None) -> list[Card]:
    """The result of --verify, where it was asked for."""
    if record is None or record.verified is None:
        return []
    found = record.verified
    note = f"{size_text(found.bytes)} read back after their dumps; {found.end_text()} (run.json: verified)"
    if not found.bytes:
        return [Card("verified", "nothing", "no data was written (run.json: verified)")]
    return [
        Card("verified", "all right", note, "good")
        if not found.errors
        else Card("verified", f"{found.errors:,} wrong", note, "bad")
    ]


def _time_cards(fidelity: Fidelity) -> list[Card]:
    """Times that compare with the original's at this scale; the others are in the section on times."""
    times = fidelity.times
    figures = (
        (
            "I/O time",
            times.io_time_ratio,
            times.io_time_original_s,
            times.io_time_replica_s,
            "inside calls: ",
        ),
        (
            "wall clock",
            times.calls_ratio,
            times.calls_original_s,
            times.calls_replica_s,
            "first to last call: ",
        ),
    )
    return [
        Card(
            title,
            f"x {ratio:.3g}",
            f"{what}{seconds_text(before)} in the original, {seconds_text(after)} in the replica",
        )
        for title, ratio, before, after, what in figures
        if ratio is not None
    ]


def _off(value: float) -> str:
    return "exact" if value == 0 else f"{percent_text(value)} off"


def stories(workload: Workload, pairing: Pairing, log: Characterization | None) -> tuple[list[Story], int]:
    """(families in words, those with most bytes first; the number of families left out)."""
    facts = {(f.family.role, f.family.number): f for f in log.families} if log else {}
    ordered = sorted(
        workload.families,
        key=lambda f: -sum(d.moved for d in pairing.original.families[(f.role, f.number)].dumps),
    )
    out = []
    for family in ordered[:MAX_FAMILIES]:
        key = (family.role, family.number)
        side = pairing.original.families[key]
        out.append(
            Story(
                side.name,
                family.role,
                family_sentences(family, side, workload.ranks),
                facts[key].sentences() if key in facts else [],
                [assumption_text(a) for a in family.assumed],
            )
        )
    return out, max(0, len(ordered) - MAX_FAMILIES)


def assumption_text(assumption: Assumption | str) -> str:
    """An assumption in words."""
    if not isinstance(assumption, Assumption):
        return ambiguity_words(assumption)
    return ASSUMPTIONS.get(assumption, assumption.value)


def reason_text(reason: str) -> str:
    """The reason why bytes are not in the workload, in words."""
    try:
        return REASONS[Reason(reason)]
    except (ValueError, KeyError):
        return reason


def family_rows(fidelity: Fidelity) -> list[FamilyFidelity]:
    """Rows like the paper's Table II, families with most bytes first; the smallest of many are one row."""
    ordered = sorted(fidelity.families, key=lambda f: -f.bytes_original)
    if len(ordered) <= MAX_FAMILIES + 1:
        return ordered
    return [*ordered[:MAX_FAMILIES], _summed(ordered[MAX_FAMILIES:])]


def _summed(families: list[FamilyFidelity]) -> FamilyFidelity:
    """Several families as one row: counts and bytes are added, means are weighted by dumps, maxima kept."""
    dumps = sum(f.dumps_original for f in families)
    expected, replica = sum(f.bytes_expected for f in families), sum(f.bytes_replica for f in families)
    return FamilyFidelity(
        role=Role.OTHER,
        name=plural(len(families), "other family"),
        level=families[0].level,
        dumps_original=dumps,
        dumps_replica=sum(f.dumps_replica for f in families),
        bytes_original=sum(f.bytes_original for f in families),
        bytes_expected=expected,
        bytes_replica=replica,
        bytes_error_mean_pct=sum(f.bytes_error_mean_pct * f.dumps_original for f in families) / max(1, dumps),
        bytes_error_max_pct=max(f.bytes_error_max_pct for f in families),
        total_bytes_error_pct=error_pct(expected, replica),
        start_time_error_mean_s=None,
        start_time_error_max_s=max(
            (f.start_time_error_max_s for f in families if f.start_time_error_max_s is not None), default=None
        ),
        io_time_original_s=_added(f.io_time_original_s for f in families),
        io_time_replica_s=_added(f.io_time_replica_s for f in families),
        waiting_original_s=_added(f.waiting_original_s for f in families),
        waiting_replica_s=_added(f.waiting_replica_s for f in families),
        late_max_s=max((f.late_max_s for f in families if f.late_max_s is not None), default=None),
    )


def _added(times: Iterable[float | None]) -> float | None:
    known = [t for t in times if t is not None]
    return sum(known) if known else None


@dataclass
class DumpRow:
    """One dump on both sides; `before` and `after` are the bandwidths of original and replica."""

    family: str
    index: int
    expected: str
    replica: str
    error: str
    before: str
    after: str


def dump_rows(pairing: Pairing) -> list[DumpRow]:
    """Bytes and bandwidth of each dump on both sides; empty where there are too many dumps to list."""
    if sum(len(p.original.dumps) for p in pairing.pairs) > MAX_DUMP_ROWS:
        return []
    out = []
    for pair in pairing.pairs:
        for index, (original, replica) in enumerate(pair.dumps()):
            want = original.moved * pairing.factors.bytes if original else 0.0
            have = float(replica.moved) if replica else 0.0
            error = (
                "0 %" if abs(have - want) <= 1 else f"{100 * (have - want) / want:+.2g} %" if want else "-"
            )
            out.append(
                DumpRow(
                    pair.original.name,
                    index + 1,
                    size_text(want),
                    size_text(have) if replica else "-",
                    error if replica else "missing",
                    rate_text(original.bandwidth if original else None),
                    rate_text(replica.bandwidth if replica else None),
                )
            )
    return out


@dataclass
class CounterTable:
    """The rows of one module, at the families' level or below it."""

    title: str
    note: str
    rows: list[CounterFidelity]


def counter_tables(fidelity: Fidelity) -> list[CounterTable]:
    """Comparable counters, module by module, without those that are zero on both sides."""
    tables: dict[tuple[str, bool], CounterTable] = {}
    shown = 0
    for row in fidelity.counters:
        if not row.comparable or not (row.original or row.replica) or shown >= MAX_COUNTER_ROWS:
            continue
        shown += 1
        key = (row.module, row.at_level)
        note = (
            "at the families' level" if row.at_level else "below the families' level: calls of the libraries"
        )
        tables.setdefault(key, CounterTable(row.module, note, [])).rows.append(row)
    for table in tables.values():
        table.rows.sort(key=lambda row: ORDER.index(row.law) if row.law in ORDER else len(ORDER))
    return list(tables.values())


def incomparable(fidelity: Fidelity) -> list[tuple[str, str]]:
    """(reason, counters) for the counters that cannot be compared."""
    by_reason: dict[str, dict[str, None]] = {}
    for row in fidelity.counters:
        if not row.comparable and (row.original or row.replica):
            by_reason.setdefault(row.reason, {})[f"{row.module} {short_counter(row.counter)}"] = None
    return [(reason, _first_of(list(names))) for reason, names in by_reason.items()]


def _first_of(names: list[str], most: int = 8) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def versions(
    record: Record | None, log: Characterization | None, extra: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """(part, version, source of the version) of every program and library involved."""
    out = [
        ("workalike", __version__, "this program"),
        ("Python", platform.python_version(), "this program"),
        *((name, metadata.version(name), "this program") for name in ("numpy", "pydantic", "matplotlib")),
    ]
    for key, value in (record.environment if record else {}).items():
        part, _, directory = key.partition(".")
        if part in PARTS:
            where = f", directory {directory}" if directory else ""
            out.append((PARTS[part] + where, "-" if value is None else str(value), "run.json"))
    for first in log.logs[:1] if log else []:
        instrument = instrument_text(first.job.metadata.get("lib_ver", ""))
        out.append(("instrument of the original", instrument, "lib_ver of the log"))
        out.append(("log format", first.format_version, "header of the log"))
    out += [(key, value, "given") for key, value in extra.items()]
    return out


@dataclass(frozen=True)
class Measure:
    """How one kind of figure is measured."""

    figure: str
    original: str
    replica: str
    formula: str


def measured_by(pairing: Pairing) -> str:
    """The source of the replica's figures, for the first paragraph of the report."""
    if pairing.replica.basis == "plan":
        return "a full-scale run that counts every operation without performing it (the null backend)"
    if pairing.replica.basis == "record":
        return "the record that the engine kept of its run"
    log = "a log of the replica's run"
    by_record = [f.name for f in pairing.replica.families.values() if f.timed_by_record]
    if not by_record:
        return log
    return f"{log}; the begin and end of dumps are from the engine's record for {_first_of(by_record)}"


@dataclass(frozen=True)
class Timing:
    """The sources of the replica's times: of the starts and ends of its dumps, and of how long they were open."""

    intervals: str
    open_times: str


def timed_by(pairing: Pairing) -> Timing:
    """The sources of the replica's times: the engine's record, a log, or one of them depending on the family."""
    record = Timing("run.json, dumps[].start_s and end_s", "run.json, dumps[].io_s")
    clock = ", on the record's clock" if pairing.replica.moved_s else ""
    log = Timing(
        f"first and last access in the replica's log{clock}", "first open to last close in the replica's log"
    )
    families = pairing.replica.families.values()
    if pairing.replica.basis != "log" or (families and all(f.timed_by_record for f in families)):
        return record
    if not any(f.timed_by_record for f in families):
        return log
    return Timing(f"{log.intervals}, or {record.intervals}", f"{log.open_times}, or {record.open_times}")


def measures(fidelity: Fidelity, pairing: Pairing) -> list[Measure]:
    """How every figure of the report is measured."""
    levels = sorted({f.level for f in fidelity.families})
    modules = ", ".join(MODULE_OF_LEVEL[level] for level in levels) or "the family's module"
    log = fidelity.original_is == "log"
    original = (
        f"BYTES_WRITTEN and BYTES_READ of {modules}, summed over a dump's files"
        if log
        else "the workload's sizes"
    )
    replica = {
        "plan": "the engine's count of a full-scale null run (run.json: dumps[].bytes_written, bytes_read)",
        "record": "the engine's own count at the same level (run.json: dumps[].bytes_written, bytes_read)",
        "log": f"BYTES_WRITTEN and BYTES_READ of {modules} in the replica's log",
    }[fidelity.basis]
    windows = "first open to last close of a dump's files (F_OPEN_START_TIMESTAMP, F_CLOSE_END_TIMESTAMP)"
    timers = f"F_READ_TIME + F_WRITE_TIME + F_META_TIME of {modules}"
    by_log = fidelity.basis == "log"
    return [
        Measure("bytes", original, replica, "error = |replica - original x F| ÷ (original x F)"),
        Measure(
            "operations",
            " and ".join(sum_name(MODULE_OF_LEVEL[level], "WRITES") for level in levels)
            if log
            else "counts of the workload",
            "run.json: dumps[].counters"
            if fidelity.basis != "log"
            else "the same counters of the replica's log",
            "error as for bytes; the expected count follows the counter's law (docs/scaling-laws.md)",
        ),
        Measure(
            "operation sizes",
            "SIZE_READ_* and SIZE_WRITE_* (ten bins)"
            if log
            else "sizes of the workload, in the same ten bins",
            "run.json: SIZE_READ, SIZE_WRITE"
            if fidelity.basis != "log"
            else "the same counters of the replica's log",
            "distance = half the sum of |share - share| over the bins",
        ),
        Measure(
            "start times",
            "*_START_TIMESTAMP, or the trace where there is one" if log else "the workload's schedule",
            f"{timed_by(pairing).intervals} ÷ time-scale",
            "mean and largest |replica - original|; none at time-scale 0",
        ),
        Measure(
            "I/O time",
            timers if log else "not known: a workload has no timers",
            "the same timers of the replica's log" if by_log else "run.json: dumps[].kinds[].total_s",
            "seconds inside calls, summed over all ranks and files; flush and fsync count as writing",
        ),
        Measure(
            "waiting",
            "the same timers of MPI-IO, less those of POSIX, for files opened collectively"
            if log
            else "not known",
            "the same timers of the replica's log"
            if by_log
            else "not known: nothing below the engine's calls is timed",
            "other ranks, exchange of data, and the library's own work",
        ),
        Measure(
            "wall clock",
            "first and last timestamp of the application's files" if log else "the workload's schedule",
            timed_by(pairing).intervals,
            "last call - first call; replica ÷ original",
        ),
        Measure(
            "dumps in progress",
            windows if log else "the workload's schedule",
            timed_by(pairing).intervals,
            "share of the time from first to last call with k dumps open; distance = half the sum of |share - share|",
        ),
        Measure(
            "bandwidth",
            f"bytes ÷ ({windows})" if log else "bytes ÷ duration",
            f"bytes ÷ ({timed_by(pairing).open_times})",
            "last close - first open over all ranks; as measured, not scaled",
        ),
    ]


def scale_text(fidelity: Fidelity) -> str:
    """The replica's scale, in words."""
    scale = fidelity.scale
    parts = [f"{plural(fidelity.ranks_replica, 'rank')}"]
    if fidelity.ranks_replica != fidelity.ranks_original:
        parts[0] += f" (the original has {fidelity.ranks_original:,})"
    parts.append("all bytes (F = 1)" if scale.bytes == 1 else f"bytes x {scale.bytes:.4g} (F below)")
    parts.append(
        "no waiting between dumps"
        if not scale.time
        else "time as it was"
        if scale.time == 1
        else f"time x {scale.time:.4g}"
    )
    return ", ".join(parts)
