"""The command line in a process of its own, for tests that look at its exit code and at what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MAIN = "from workalike.cli import main; main()"


def workalike(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `workalike` with these arguments in a folder."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
