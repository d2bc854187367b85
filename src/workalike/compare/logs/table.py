"""The comparison of two logs on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from workalike.columns import Column, table_of
from workalike.compare.logs.names import common_folder, within
from workalike.compare.logs.schema import Change, LogComparison
from workalike.compare.logs.sentences import before_text, counter_text, now_text, rest_text
from workalike.errors import bounded
from workalike.text import percent_text

MOST_ROWS = 50
STYLES = {"equal": "bold green", "alike": "bold green", "changed": "bold red"}


def print_comparison(found: LogComparison, console: Console) -> None:
    """Print the headline, the largest changes, and the notes."""
    word, _, rest = found.headline.partition(":")
    console.print(Text.assemble((f"{printable(word)}:", STYLES[found.word]), printable(rest)))
    shown = found.compared.changes[:MOST_ROWS]
    if shown:
        folder = common_folder([change.file for change in shown])
        console.print()
        console.print(_table(shown, folder, console.width))
        if folder.count("/") > 1:
            console.print(Text(f"  files of {printable(folder)}", style="dim"))
        more = rest_text(found.compared, len(shown))
        if more:
            console.print(Text(f"  {more}", style="dim"))
        console.print()
    for note in found.notes:
        console.print(Text(f"Note: {printable(note)}.", style="yellow"))


def printable(text: str) -> str:
    """The text with control characters escaped, and without its middle where it is long."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in bounded(text))


def file_text(change: Change, folder: str) -> str:
    """The name of a changed file, and its earlier name where that is another; the job where it is none."""
    if change.kind == "job":
        return "(the job)"
    name = within(change.file, folder) or "(no name)"
    if change.file_before is None:
        return printable(name)
    return f"{printable(name)} (was {printable(within(change.file_before, folder)) or '(no name)'})"


def _table(changes: list[Change], folder: str, width: int) -> Table:
    columns = [
        Column("file", [Text(file_text(change, folder)) for change in changes], left=True),
        Column("counter", [Text(counter_text(change)) for change in changes], left=True),
        Column("was", [Text(before_text(change)) for change in changes]),
        Column("is", [Text(now_text(change)) for change in changes]),
        Column("off", [Text(percent_text(change.off_pct)) for change in changes], 1),
    ]
    return table_of("Largest changes", columns, width)
