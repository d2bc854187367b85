"""What a launcher and its ranks say, without what launchers of MPI say about every run that was ended.

A rank that fails names its operation and calls MPI_Abort. Open MPI and MPICH (Hydra) then explain what MPI_Abort is,
over up to nine lines, which come before or after the cause. All else passes, and at once: a progress line has no end.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable

MOST_HELD = 1 << 16
"""Bytes of a block that are held back until it is known what it is; a longer one passes."""
LAST_WORDS_SECONDS = 5.0
"""How long to wait for the end of the messages after the launcher has ended."""
STANDARD_ERROR = 2

_RULE = re.compile(rb"(-{60,}|={60,}) *\r?\n")
_BLOCKS = re.compile(
    rb"MPI_ABORT was invoked on rank"
    rb"|Primary job +terminated normally, but \d+ process"
    rb"|detected that one or more processes exited with non-zero status"
    rb"|BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
)
"""Blocks between two lines of dashes or equals signs."""
_LINES = re.compile(
    rb"\[[^\]\n]+\] \d+ more process(es)? (has|have) sent help message help-mpi-api\.txt / mpi-abort"
    rb'|\[[^\]\n]+\] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help'
    rb"|\[warn\] Epoll (MOD|ADD|DEL)\(\d+\) on fd \d+ failed\."
    rb"|Abort\(\d+\) on node \d+ \(rank \d+ in comm \d+\): application called MPI_Abort\("
    rb"|application called MPI_Abort\("
    rb"|This typically refers to a problem with your application\."
    rb"|Please see the FAQ page for debugging suggestions"
)


class Filter:
    """Takes bytes in pieces of any size, and passes on what is no such message."""

    def __init__(self, passed: Callable[[bytes], object]) -> None:
        self._passed = passed
        self._line = b""
        self._block: bytes | None = None
        """The block that is held, from its first line on; None outside of one."""
        self._shown = 0
        """How much of the line has been passed on before its end."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        *lines, rest = (self._line + data).splitlines(keepends=True) or [b""]
        if rest.endswith((b"\n", b"\r")):
            lines.append(rest)
            rest = b""
        for line in lines:
            self._take(line)
        self._line = rest
        if self._block is None and len(rest) > self._shown and not _may_be_dropped(rest):
            self._passed(rest[self._shown :])
            self._shown = len(rest)

    def end(self) -> None:
        """Pass on what is held: there is no more."""
        held = (self._block or b"") + self._line[self._shown :]
        if held:
            self._passed(held)
        self._block, self._line, self._shown = None, b"", 0

    def _take(self, line: bytes) -> None:
        shown, self._shown = self._shown, 0
        if shown:
            self._passed(line[shown:])
        elif self._block is not None:
            self._block += line
            if _RULE.fullmatch(line):
                if not _BLOCKS.search(self._block):
                    self._passed(self._block)
                self._block = None
            elif len(self._block) > MOST_HELD:
                self._passed(self._block)
                self._block = None
        elif _RULE.fullmatch(line):
            self._block = line
        elif not _LINES.match(line):
            self._passed(line)


def _may_be_dropped(beginning: bytes) -> bool:
    """Whether a line that begins so may be one that is held or dropped."""
    return beginning[:1] in b"-=[AaPT" and len(beginning) < 400


def _standard_error() -> int:
    """The descriptor of standard error. A notebook or a test may have put an object in its place that has none."""
    try:
        return sys.stderr.fileno()
    except (AttributeError, OSError):
        return STANDARD_ERROR


class Relay:
    """Standard error of a launcher: `descriptor` is what it writes to, and what is passed on goes to ours, or nowhere."""

    def __init__(self, silent: bool = False) -> None:
        self._silent = silent
        self._reader, self.descriptor = os.pipe2(os.O_CLOEXEC)
        self._to = _standard_error()
        self._thread = threading.Thread(target=self._run, name="messages", daemon=True)

    def start(self) -> None:
        """Pass messages on, once the launcher has the pipe: the last of its processes that ends closes it."""
        os.close(self.descriptor)
        self.descriptor = -1
        self._thread.start()

    def end(self) -> None:
        """Wait for the last message."""
        if self.descriptor >= 0:  # the launcher was not started
            os.close(self.descriptor)
            os.close(self._reader)
        else:
            self._thread.join(LAST_WORDS_SECONDS)

    def _run(self) -> None:
        found = Filter(self._write)
        while data := os.read(self._reader, 1 << 16):
            found.feed(data)
        found.end()
        os.close(self._reader)

    def _write(self, data: bytes) -> None:
        try:
            while data and not self._silent:
                data = data[os.write(self._to, data) :]
        except OSError:  # whoever read our messages has gone; the launcher must not wait for that
            pass
