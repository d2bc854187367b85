"""Fidelity on the terminal: a table of families, the worst counters, and a verdict in one line."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from workalike.compare.model import CounterFidelity, FamilyFidelity, Fidelity
from workalike.compare.words import count_text, percent_text, plural, seconds_text, size_text

MAX_FAMILIES = 20
WORST_COUNTERS = 6
GOOD_PCT, FAIR_PCT = 0.1, 5.0


def verdict(fidelity: Fidelity) -> str:
    """How close, in one sentence of words and numbers."""
    if not fidelity.families:
        return "There was nothing to replicate."
    worst = max(f.total_bytes_error_pct for f in fidelity.families)
    word = "exact in bytes" if worst == 0 else f"within {percent_text(worst)} in bytes"
    parts = [f"The replica is {word}"]
    distances = (fidelity.size_histogram_distance.read, fidelity.size_histogram_distance.write)
    known = [d for d in distances if d is not None]
    if known:
        parts.append(
            "identical in operation sizes"
            if max(known) == 0
            else f"{max(known):.2g} apart in operation sizes"
        )
    return " and ".join(parts) + "." + ("" if fidelity.complete else " The run did not finish.")


def worst_counters(fidelity: Fidelity, count: int = WORST_COUNTERS) -> list[CounterFidelity]:
    """The comparable counters that are furthest off, those at the families' level first."""
    off = [row for row in fidelity.counters if row.error_pct]
    return sorted(off, key=lambda r: (not r.at_level, -(r.error_pct or 0)))[:count]


def print_fidelity(fidelity: Fidelity, console: Console) -> None:
    """Print families, worst counters and the verdict."""
    console.print(_families(fidelity))
    hidden = len(fidelity.families) - MAX_FAMILIES
    if hidden > 0:
        console.print(f"  and {plural(hidden, 'more family')} in fidelity.json", style="dim")
    worst = worst_counters(fidelity)
    if worst:
        console.print(_counters(worst))
    _print_words(fidelity, console)


def _print_words(fidelity: Fidelity, console: Console) -> None:
    compared = sum(row.comparable for row in fidelity.counters)
    right = sum(row.comparable and not row.error_pct for row in fidelity.counters)
    console.print(Text(verdict(fidelity), style="bold"))
    scale = fidelity.scale
    console.print(
        f"{right} of {compared} comparable counters are exactly as expected; measured by: {fidelity.basis}; "
        f"scale: ranks x {scale.ranks:.4g}, bytes x {scale.bytes:.4g}, time x {scale.time:.4g}",
        style="dim",
        highlight=False,
    )
    if fidelity.uncovered.bytes_pct:
        share = percent_text(fidelity.uncovered.bytes_pct)
        console.print(f"Not covered: {share} of the bytes ({fidelity.uncovered.reason})", style="yellow")
    for note in fidelity.notes:
        console.print(Text(f"Note: {note}", style="yellow"))
    if fidelity.stamp:
        console.print(Text(f"{fidelity.stamp.text}: {'; '.join(fidelity.stamp.reasons)}", style="dim italic"))


def _families(fidelity: Fidelity) -> Table:
    table = Table(title="Fidelity", title_justify="left", header_style="bold", box=None, pad_edge=False)
    table.add_column("family", no_wrap=True)
    table.add_column("level")
    for name in ("dumps", "bytes expected", "bytes replica", "mean off", "max off", "start off", "I/O time"):
        table.add_column(name, justify="right")
    for family in sorted(fidelity.families, key=lambda f: -f.bytes_original)[:MAX_FAMILIES]:
        table.add_row(*_family_cells(family))
    return table


def _family_cells(family: FamilyFidelity) -> list[Text]:
    dumps = f"{family.dumps_original}"
    if family.dumps_replica != family.dumps_original:
        dumps = f"{family.dumps_replica} of {dumps}"
    times = "-"
    if family.io_time_replica_s is not None:
        before = seconds_text(family.io_time_original_s) if family.io_time_original_s is not None else "?"
        times = f"{before} -> {seconds_text(family.io_time_replica_s)}"
    start = (
        "-" if family.start_time_error_max_s is None else f"<= {seconds_text(family.start_time_error_max_s)}"
    )
    return [
        Text(family.name),
        Text(family.level.value),
        Text(dumps, style="" if family.dumps_replica == family.dumps_original else "red"),
        Text(size_text(family.bytes_expected)),
        Text(size_text(family.bytes_replica)),
        _error(family.bytes_error_mean_pct),
        _error(family.bytes_error_max_pct),
        Text(start),
        Text(times),
    ]


def _error(value: float | None) -> Text:
    style = "green" if (value or 0) <= GOOD_PCT else "yellow" if (value or 0) <= FAIR_PCT else "red"
    return Text(percent_text(value), style=style)


def _counters(rows: list[CounterFidelity]) -> Table:
    table = Table(
        title="Counters furthest off", title_justify="left", header_style="bold", box=None, pad_edge=False
    )
    for name in ("module", "counter"):
        table.add_column(name)
    for name in ("original", "expected", "replica", "off"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            Text(row.module + ("" if row.at_level else " (below)")),
            Text(row.counter),
            Text(count_text(row.original)),
            Text(count_text(row.expected)),
            Text(count_text(row.replica)),
            _error(row.error_pct),
        )
    return table
