"""Short commands of a system, such as those that submit a job or set a layout."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

SECONDS = 60
"""A command that takes longer hangs."""


def output_of(command: Sequence[str]) -> tuple[int, str]:
    """(exit code, output with errors) of a command without input.

    Raises:
        OSError: it cannot be started.
        subprocess.TimeoutExpired: it does not end.
    """
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout
