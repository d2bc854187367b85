"""Work that a test bounds instead of its time: lines of Python that run, and searches of a text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")


def lines_run(function: Callable[[], Result]) -> tuple[Result, int]:
    """What a function returns, and how many lines of Python run in it; each turn of a comprehension is one."""
    lines = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        result = function()
    finally:
        sys.settrace(before)
    return result, lines


class SearchedText(str):
    """A text that counts how often all of it is searched for a part, also in lower case."""

    searches = 0  # of the text in any case

    def lower(self) -> SearchedText:
        return SearchedText(super().lower())

    def find(self, *arguments: Any) -> int:
        SearchedText.searches += 1
        return super().find(*arguments)

    def __contains__(self, part: str) -> bool:  # type: ignore[override]
        SearchedText.searches += 1
        return super().__contains__(part)
