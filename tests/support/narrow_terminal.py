"""What a command prints on a terminal of few columns."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*arguments: object, cwd: Path, columns: int = 40) -> list[str]:
    """The lines of a command's stdout, a terminal; it must succeed."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "xterm"}
    running = subprocess.Popen(
        [sys.executable, "-m", "workalike", *map(str, arguments)],
        cwd=cwd,
        env=environment,
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    out = b""
    try:
        while piece := os.read(reader, 1 << 16):
            out += piece
    except OSError:  # the last process that had the terminal has ended
        pass
    os.close(reader)
    _, errors = running.communicate()
    assert running.returncode == 0, errors.decode()
    return STYLE.sub("", out.decode()).replace("\r\n", "\n").splitlines()
