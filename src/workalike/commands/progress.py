"""A bar on stderr while long work goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

Progress = Callable[[int, int], None]
"""Is called with what is done and the total."""


@contextmanager
def progress(what: str, *, hidden: bool = False) -> Iterator[Progress]:
    """A bar that goes away when the work is done; without a terminal, nothing.

    Args:
        what: the plural of what is counted, such as `logs`.
        hidden: show nothing on a terminal, too.
    """
    if hidden or not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what, markup=False), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def tracked(what: str, *, hidden: bool = False) -> Callable[[Sequence[Any]], Iterable[Any]]:
    """A function that goes through a list and shows how far it is, as `progress` does."""

    def through(items: Sequence[Any]) -> Iterator[Any]:
        with progress(what, hidden=hidden) as report_done:
            for number, item in enumerate(items):
                report_done(number, len(items))
                yield item

    return through
