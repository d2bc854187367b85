"""Commands that are killed amid their work, however fast the machine is at that moment."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

TRIES = 5


def delays(lasts_s: float, share: float) -> Iterator[float]:
    """When to kill after work has begun: after a share of its usual time, then sooner and sooner."""
    for attempt in range(TRIES - 1):
        yield lasts_s * share / 4**attempt
    yield 0.0


def run_command(command: Sequence[str | Path], sign: Path, kill_after_s: float | None) -> float | None:
    """Run a command, whose work begins when `sign` exists, and kill it so many seconds after that.

    Returns:
        None if it was killed amid its work; else how long it worked, in seconds.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None and not sign.exists():
        time.sleep(0.001)
    began = time.monotonic()
    try:
        assert process.wait(timeout=kill_after_s) == 0
        return time.monotonic() - began
    except subprocess.TimeoutExpired:
        process.kill()
        return None if process.wait() < 0 else time.monotonic() - began
    finally:
        wait_for_group(process.pid)


def wait_for_group(leader: int) -> None:
    """Wait until the workers of a killed command have ended, too; they write until they notice."""
    deadline = time.monotonic() + 10
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(leader, 0)
            time.sleep(0.05)
