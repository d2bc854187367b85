"""The installed command, and what each test needs of the machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from known_logs import SHARED_FOLDER as SHARED

__all__ = ["SHARED"]

REPOSITORY = Path(__file__).resolve().parents[2]

INSTALL = "tools/install-system-packages installs it on Debian"


def workalike_command() -> list[str]:
    """The installed command, or the same from the source tree."""
    installed = Path(sys.executable).with_name("workalike")
    if installed.exists():
        return [str(installed)]
    return [sys.executable, "-c", "from workalike.cli import main; main()"]


def workalike(
    *arguments: object,
    cwd: Path,
    environment: dict[str, str] | None = None,
    before: tuple[str, ...] = (),
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Run the command; `before` precedes it (salloc and its options)."""
    return subprocess.run(
        [*before, *workalike_command(), *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def needs(*programs: str) -> None:
    """Skip, with the reason, where a program is missing."""
    # A person's PATH has no sbin; the daemons live there.
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [program for program in programs if shutil.which(program, path=path) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed ({INSTALL})")


def needs_root(what: str) -> None:
    """Skip where the user may not do what the test must do."""
    if os.geteuid() != 0:
        pytest.skip(f"not root: {what} needs it")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def wait_until(happened: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition; the test fails with its name if it is never met."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.1)


def processes_naming(word: str) -> Iterator[tuple[int, str]]:
    """Processes with this word in their command line, except this one."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        if word in command:
            yield int(folder.name), command


def sizes_in(folder: Path) -> dict[str, int]:
    """Data files by their names without the plan's id."""
    return {without_id(path.name): path.stat().st_size for path in folder.iterdir()}


def without_id(name: str) -> str:
    return re.sub(r"\.[0-9a-f]{8}(?=\.[a-z0-9]+$)", "", name)


def recorded_sizes(record: dict[str, Any]) -> dict[str, int]:
    return {without_id(file["name"]): file["size"] for file in record["files"]}
