"""Programs that run beside a test and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path


class Daemon:
    """A program in the foreground of its own session, its output in a file."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str] | None = None) -> None:
        self.log = log
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                list(command),
                env={**os.environ, "PATH": path, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def running(self) -> bool:
        return self._process.poll() is None

    def told(self) -> str:
        """The end of what it printed, for a failed test."""
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.running():
                return
            self._process.send_signal(number)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                continue
