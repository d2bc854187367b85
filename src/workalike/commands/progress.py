"""What goes to stderr while long work goes on: a bar on a terminal, a line from time to time elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from workalike.text import seconds_text

LINE_EVERY_S = 10.0

Progress = Callable[[int, int], None]
"""Is called with what is done and the total."""


@contextmanager
def progress(what: str, *, hidden: bool = False) -> Iterator[Progress]:
    """A bar that goes away when the work is done; without a terminal, a line every `LINE_EVERY_S`.

    Args:
        what: the plural of what is counted, such as `logs`.
        hidden: show nothing.
    """
    if hidden:
        yield lambda _, __: None
        return
    if not sys.stderr.isatty():
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what, markup=False), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def _lines(what: str) -> Progress:
    """Prints how far it is, and how long the rest will take at the same rate."""
    start = shown = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown < LINE_EVERY_S or not done:
            return
        shown = now
        rest = seconds_text((now - start) * (total - done) / done)
        print(f"workalike: {done:,} of {total:,} {what}, about {rest} left", file=sys.stderr, flush=True)

    return show


def tracked(what: str, *, hidden: bool = False) -> Callable[[Sequence[Any]], Iterable[Any]]:
    """A function that goes through a list and shows how far it is, as `progress` does."""

    def through(items: Sequence[Any]) -> Iterator[Any]:
        with progress(what, hidden=hidden) as report_done:
            for number, item in enumerate(items):
                report_done(number, len(items))
                yield item

    return through
