"""Fidelity on the terminal: a table of families, the counters with the largest errors, and a verdict."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from workalike.columns import Column, table_of
from workalike.compare.fidelity_schema import (
    CounterFidelity,
    FamilyFidelity,
    Fidelity,
    GradeReason,
    Line,
    TimesFidelity,
)
from workalike.compare.grade import CLOSE_BYTES_PCT, FAITHFUL_BYTES_PCT
from workalike.compare.summary import summary_lines
from workalike.compare.verdict import coverage_words, lines_words, verdict_of, worst_counters
from workalike.text import count_text, percent_text, plural, seconds_text, size_text
from workalike.workload.model import LEAST_COVERAGE_PCT

MAX_FAMILIES = 20
WORST_COUNTERS = 6
MAX_REASONS = 6
SIDES: dict[Line, tuple[str, str]] = {
    "model": ("the log says", "the workload"),
    "replica": ("the plan says", "the replica"),
    "storage": ("the log says", "the replica's log"),
}
STYLE_OF_GRADE = {
    "exact": "bold green",
    "faithful": "bold green",
    "close": "bold yellow",
    "different": "bold red",
    "unfinished": "bold red",
    "empty": "bold",
}


def print_fidelity(fidelity: Fidelity, console: Console) -> None:
    """Print families, the counters with the largest errors, and the verdict."""
    _print_families(fidelity, console)
    _print_counters(fidelity, console)
    _print_verdict(fidelity, console)
    _print_times(fidelity, console)


def print_summary(fidelity: Fidelity, report: Path, console: Console, *, has_trace: bool) -> None:
    """Print families, counters that are off where they were judged, and the replica in a few lines."""
    _print_families(fidelity, console)
    _print_counters(fidelity, console)
    _print_reasons(fidelity, console)
    _print_notes(fidelity, console)
    lines = summary_lines(fidelity, report, has_trace=has_trace)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for label, text in lines:
        style = STYLE_OF_GRADE[fidelity.verdict.grade] if label == "verdict" else ""
        table.add_row(Text(label, style="dim"), Text(text, style=style))
    console.print(table)


def _print_families(fidelity: Fidelity, console: Console) -> None:
    if fidelity.families:
        console.print(_families(fidelity, console.width))
        hidden = len(fidelity.families) - MAX_FAMILIES
        if hidden > 0:
            console.print(f"  and {plural(hidden, 'more family')} in fidelity.json", style="dim")
        console.print()


def _print_reasons(fidelity: Fidelity, console: Console) -> None:
    """What speaks against a better grade."""
    for reason in fidelity.verdict.reasons[:MAX_REASONS]:
        console.print(Text(f"  {reason_text(reason)}"))
    hidden = len(fidelity.verdict.reasons) - MAX_REASONS
    if hidden > 0:
        console.print(Text(f"  and {plural(hidden, 'more reason')} in fidelity.json", style="dim"))


def _print_notes(fidelity: Fidelity, console: Console) -> None:
    for note in fidelity.notes:
        console.print(Text(f"Note: {note}", style="yellow"))


def _print_counters(fidelity: Fidelity, console: Console) -> None:
    """The counters furthest off. Those below the families' level only where storage was judged: else they say nothing."""
    worst = worst_counters(fidelity, WORST_COUNTERS)
    if not fidelity.verdict.lines.storage.judged:
        worst = [row for row in worst if row.at_level]
    if worst:
        console.print(_counters(worst, console.width))
        console.print()


def _print_verdict(fidelity: Fidelity, console: Console) -> None:
    verdict = verdict_of(fidelity)
    console.print(Text.assemble((f"{verdict.headline}. ", STYLE_OF_GRADE[verdict.grade]), verdict.sentence))
    console.print(Text("; ".join(lines_words(fidelity)) + ".", style="dim"))
    if fidelity.original_is == "log":
        console.print(
            Text(
                coverage_words(fidelity), style="" if fidelity.coverage.least < LEAST_COVERAGE_PCT else "dim"
            )
        )
    _print_reasons(fidelity, console)
    compared = sum(row.comparable for row in fidelity.counters)
    right = sum(row.comparable and not row.error_pct for row in fidelity.counters)
    sources = {"plan": "a full-scale null run", "record": "the run's record", "log": "the replica's own log"}
    console.print(
        Text(
            f"{right} of {plural(compared, 'comparable counter')} as expected; "
            f"replica measured by {sources[fidelity.basis]}.",
            style="dim",
        )
    )
    left_out = fidelity.uncovered
    if left_out.bytes_pct or left_out.unknown_files:
        lost = (
            f" and {plural(left_out.unknown_files, 'file')} of unknown size" if left_out.unknown_files else ""
        )
        share = percent_text(left_out.bytes_pct)
        console.print(Text(f"Not covered: {share} of the bytes{lost} ({left_out.reason}).", style="yellow"))
    _print_notes(fidelity, console)
    if fidelity.stamp:
        reasons = "; ".join(fidelity.stamp.reasons)
        console.print(Text(f"Stamp: {fidelity.stamp.text} ({reasons}).", style="dim"))


def _print_times(fidelity: Fidelity, console: Console) -> None:
    """One line of times, and why they differ. Nothing where no call was timed."""
    if fidelity.times.io_time_replica_s is not None:
        console.print(Text(times_text(fidelity.times), style="dim"))
    for cause in fidelity.causes:
        console.print(Text(f"Times: {cause.text}.", style="yellow"))


def times_text(times: TimesFidelity) -> str:
    """The times of original and replica in one sentence; figures that are not known are left out."""
    pairs = (
        (
            "I/O time in rank-seconds (inside calls, all ranks)",
            times.io_time_original_s,
            times.io_time_replica_s,
            times.io_time_ratio,
        ),
        ("first to last I/O call", times.calls_original_s, times.calls_replica_s, times.calls_ratio),
    )
    parts = []
    for what, before, after, ratio in pairs:
        if after is not None:
            factor = "" if ratio is None else f" ({ratio:.3g} x)"
            parts.append(f"{what}: was {seconds_text(before)}, is {seconds_text(after)}{factor}")
    if times.overlap.distance is not None:
        parts.append(f"dumps in progress at once: {times.overlap.distance:.2g} apart (0 is equal)")
    return "; ".join(parts) + "."


def reason_text(reason: GradeReason) -> str:
    """A reason of the verdict on one line."""
    sides = SIDES[reason.line]
    at = "at storage, " if reason.line == "storage" else ""
    what = f"{at}{reason.family}: {reason.module} {reason.counter}"
    if reason.expected is None and not reason.error_pct:
        return what
    if reason.expected is None:
        return f"{what}: {percent_text(reason.error_pct)} off"
    return f"{what}: {sides[0]} {count_text(reason.expected)}, {sides[1]} {count_text(reason.found)}"


def _families(fidelity: Fidelity, width: int) -> Table:
    families = sorted(fidelity.families, key=lambda f: -f.bytes_original)[:MAX_FAMILIES]
    columns = [
        Column("family", [Text(f.name) for f in families], left=True),
        Column("level", [Text(f.level.value) for f in families], 3, left=True),
        Column("dumps", [_dumps(f) for f in families]),
        Column("expected", [Text(size_text(f.bytes_expected)) for f in families], 4),
        Column("replica", [Text(size_text(f.bytes_replica)) for f in families]),
        Column("mean off", [_error(f.bytes_error_mean_pct) for f in families], 2),
        Column("max off", [_error(f.bytes_error_max_pct) for f in families]),
        Column("sizes off", [_distance(f) for f in families], 2),
    ]
    if any(f.start_time_error_max_s is not None for f in families):
        columns.append(
            Column("starts off", [Text(seconds_text(f.start_time_error_max_s)) for f in families], 1)
        )
    if any(f.io_time_replica_s is not None for f in families):
        was, now = ([_rank_seconds(s) for s in side] for side in zip(*map(_io_times, families), strict=True))
        columns += [Column("I/O rank-s was", was, 1), Column("is", now)]
    return table_of("Fidelity by family", columns, width)


def _io_times(family: FamilyFidelity) -> tuple[float | None, float | None]:
    return family.io_time_original_s, family.io_time_replica_s


def _rank_seconds(seconds: float | None) -> Text:
    """Never in hours: a sum over ranks is not a time of day."""
    if seconds is None:
        return Text("-")
    return Text(f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}")


def _dumps(family: FamilyFidelity) -> Text:
    if family.dumps_replica == family.dumps_original:
        return Text(f"{family.dumps_replica:,}")
    return Text(f"{family.dumps_replica:,} of {family.dumps_original:,}", "red")


def _distance(family: FamilyFidelity) -> Text:
    distances = (family.size_histogram_distance.read, family.size_histogram_distance.write)
    distance = max((d for d in distances if d is not None), default=None)
    return Text("-" if distance is None else f"{distance:.2g}")


def _error(value: float | None) -> Text:
    off = value or 0.0
    style = "green" if off <= FAITHFUL_BYTES_PCT else "yellow" if off <= CLOSE_BYTES_PCT else "red"
    return Text(percent_text(value), style=style)


def _counters(rows: list[CounterFidelity], width: int) -> Table:
    columns = [
        Column("module", [Text(r.module if r.at_level else f"{r.module} (below)") for r in rows], left=True),
        Column("counter", [Text(short_counter(r.counter)) for r in rows], left=True),
        Column("original", [Text(count_text(r.original)) for r in rows], 1),
        Column("expected", [Text(count_text(r.expected)) for r in rows]),
        Column("replica", [Text(count_text(r.replica)) for r in rows]),
        Column("off", [_error(r.error_pct) for r in rows]),
    ]
    below = not any(row.at_level for row in rows)
    title = "Off only below the families' level, where the libraries of two systems differ"
    return table_of(title if below else "Counters furthest off", columns, width)


def short_counter(name: str) -> str:
    """The name of a counter for tables: `all WRITES` for the sum of every kind of write."""
    return f"all {name.rpartition('_')[2]}" if "+" in name else name
