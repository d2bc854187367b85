"""What holds while a trial runs: variables of its environment, and the time that it may take."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any


class TrialTimeout(Exception):
    """The trial took longer than the study allows."""


@contextlib.contextmanager
def environment_set(variables: dict[str, str]) -> Iterator[None]:
    """Set variables of this process, which the launcher's processes inherit."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def limited_to(seconds: float | None) -> Iterator[None]:
    """Raise `TrialTimeout` after so many seconds; the launcher is then stopped as by Ctrl-C."""
    if seconds is None:
        yield
        return

    def end(_number: int, _frame: Any) -> None:
        raise TrialTimeout

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
