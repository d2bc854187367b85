"""Programs that run beside a test and end with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self


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

    def last_output(self) -> str:
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


class InFolder:
    """A service with a folder of its own, as a context manager that stops what was started, even after a failure."""

    def __init__(self, prefix: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=prefix))
        self._stack = ExitStack()

    def set_up(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        try:
            self.set_up()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
