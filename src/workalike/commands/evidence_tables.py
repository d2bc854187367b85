"""What an evidence file says, as short tables."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from workalike.columns import Column, table_of
from workalike.evidence.document import Evidence, LayoutNumbers, Spread, Striping, Transfer
from workalike.evidence.measure import words_of
from workalike.text import count_text, percent_text, plural, rate_text, seconds_text, size_text

UNKNOWN = "unknown"
MOST_SHOWN = 3
LINES = {"model": "model against log", "replica": "replica against model", "storage": "storage"}


def print_evidence(evidence: Evidence, screen: Console) -> None:
    """Print system, striping, variance, transfers, and what is left out."""
    for line in _system_lines(evidence):
        screen.print(line, soft_wrap=True)
    _print_striping(evidence.striping, screen)
    variance = evidence.variance
    screen.print(f"variance of {variance.workload.value}, {size_text(variance.bytes)} a run: ", end="")
    screen.print(_variance_text(variance.bandwidth) or str(variance.not_measured), soft_wrap=True)
    _print_transfers(evidence.transfers, screen)
    named = {missing.program for missing in evidence.left_out}
    for transfer in evidence.transfers:
        if transfer.not_measured and transfer.program not in named:
            screen.print(f"{transfer.program.value}: {transfer.not_measured.value}", soft_wrap=True)
    for missing in evidence.left_out:
        screen.print(f"left out: {words_of(missing)}", soft_wrap=True)


def _system_lines(evidence: Evidence) -> list[str]:
    system = evidence.system
    nodes = plural(system.nodes, "node") if system.nodes else "nodes unknown"
    memory = f", {system.memory_gib:,} GiB of memory" if system.memory_gib is not None else ""
    cores = (system.cores_of_a_node or 0) * (system.nodes or 0)
    crowded = "; more ranks than cores, which makes times vary" if 0 < cores < system.ranks else ""
    return [
        f"{evidence.made_on}: {system.file_system.value}, Linux {system.kernel or UNKNOWN}, "
        f"{system.mpi.value} {system.mpi_version or ''} ({system.mpi_io.value}), HDF5 {system.hdf5_version or UNKNOWN}",
        f"{plural(system.ranks, 'rank')} on {nodes}{memory}; workalike {system.workalike_version or UNKNOWN}, "
        f"engine {system.engine_version or UNKNOWN}; took {seconds_text(60 * evidence.took_min)}{crowded}",
    ]


def _print_striping(striping: Striping, screen: Console) -> None:
    if striping.not_measured:
        screen.print(f"striping: {striping.not_measured.value}", soft_wrap=True)
        return
    rows = []
    for test in striping.tests:
        said = test.not_measured.value if test.not_measured else ""
        judged = {True: "as asked", False: "not as asked", None: said or "nothing asked"}[test.as_asked]
        rows.append((_layout_text(test.asked), _layout_text(test.found), judged))
    _print_table("striping", ("asked", "found", ""), rows, screen)


def _layout_text(layout: LayoutNumbers | None) -> str:
    if layout is None:
        return "-"
    words = [_stripes_text(layout.stripe_count)] if layout.stripe_count is not None else []
    words += [f"of {size_text(layout.stripe_size)}"] if layout.stripe_size is not None else []
    words += [f"objects of {size_text(layout.object_size)}"] if layout.object_size is not None else []
    if layout.components:
        words = [
            f"{_stripes_text(part.stripe_count)} to {'the end' if part.end is None else size_text(part.end)}"
            for part in layout.components
        ]
    return ", ".join(words) or "nothing"


def _stripes_text(count: int) -> str:
    return "all targets" if count < 0 else plural(count, "stripe")


def _variance_text(spread: Spread | None) -> str:
    if spread is None:
        return ""
    if spread.coefficient_of_variation is None:
        return f"{rate_text(spread.median)} in 1 run; {spread.not_measured or UNKNOWN}"
    return (
        f"median {rate_text(spread.median)} of {plural(len(spread.values), 'run')}, {rate_text(spread.min)} to "
        f"{rate_text(spread.max)}; coefficient of variation {percent_text(100 * spread.coefficient_of_variation)}"
    )


def _print_transfers(transfers: Sequence[Transfer], screen: Console) -> None:
    rows = []
    for transfer in transfers:
        verdict = transfer.verdict
        rows.append(
            (
                transfer.program.value,
                str(len(transfer.pairs)),
                *_in_calls_texts(transfer),
                _ratio_text(transfer.in_calls_ratio),
                verdict.grade if verdict else "-",
            )
        )
    heads = ("program", "pairs", "in calls", "of its run", "replica ÷ program", "verdict")
    _print_table("transfers", heads, rows, screen)
    for transfer in transfers:
        for line in _difference_lines(transfer):
            screen.print(line, soft_wrap=True)


def _difference_lines(transfer: Transfer) -> list[str]:
    """The largest differences of a replica, a line each."""
    found = transfer.verdict.differences if transfer.verdict else []
    return [
        f"{transfer.program.value}, {LINES[each.line]}: {each.module} {each.counter} "
        f"{count_text(each.expected)} expected, {count_text(each.found)} found"
        for each in found[:MOST_SHOWN]
    ]


def _in_calls_texts(transfer: Transfer) -> tuple[str, str]:
    """The program's seconds in calls, and their share of its run; of the median pair."""
    sides = sorted((pair.program for pair in transfer.pairs), key=lambda side: side.in_calls_s)
    if not sides:
        return "-", "-"
    middle = sides[len(sides) // 2]
    share = percent_text(100 * middle.in_calls_s / middle.run_s) if middle.run_s else "-"
    return seconds_text(middle.in_calls_s), share


def _ratio_text(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    if len(spread.values) == 1:
        return f"{spread.median:.2f}"
    return f"{spread.median:.2f} ({spread.min:.2f} to {spread.max:.2f})"


def _print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], screen: Console) -> None:
    columns = [
        Column(head, [Text(row[number]) for row in rows], rank=0, left=not number or not head)
        for number, head in enumerate(heads)
        if head or any(row[number] for row in rows)
    ]
    screen.print(table_of(title, columns, screen.width))
