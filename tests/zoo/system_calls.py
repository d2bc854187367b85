"""A second witness, by strace: opens, stats, syncs and renames that reach the kernel, of a program and of its replica.

Unlike a log, it sees what the C library does for itself. While the engine prepares its inputs it asks the capture
library to pause (docs/capture.md). A small library takes that request here, and marks the trace by a call that fails.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import WORKALIKE, perform
from .measures import APART_PCT, off_by

if TYPE_CHECKING:
    from .case import Bench

CALLS = {
    "open": "opens", "openat": "opens", "openat2": "opens", "creat": "opens",
    "stat": "stats", "lstat": "stats", "fstat": "stats", "newfstatat": "stats", "statx": "stats",
    "fsync": "syncs", "fdatasync": "syncs",
    "rename": "renames", "renameat": "renames", "renameat2": "renames",
}  # fmt: skip
MARKER = "/zoo-marker/"
PAUSES = f"""
#include <unistd.h>
void workalike_capture_pause(void) {{ access("{MARKER}pause", F_OK); }}
void workalike_capture_resume(void) {{ access("{MARKER}resume", F_OK); }}
"""
LINE = re.compile(r"^(?P<call>\w+)\((?P<arguments>.*)\)\s+= (?P<result>-?\d+)")
NAME = re.compile(
    r'(?:(?P<descriptor>AT_FDCWD|\d+)<(?P<at>[^>]*)>(?:\(deleted\))?)?(?:, )?(?:"(?P<path>[^"]*)")?'
)
LIMIT_S = 120.0


def counted(lines: Sequence[str], folder: Path, start: Path) -> dict[str, int]:
    """Count calls of one process on files below `folder` that succeeded, outside of pauses; it began in `start`."""
    inside = f"{folder}/"
    counts = dict.fromkeys(("opens", "stats", "syncs", "renames"), 0)
    paused = 0
    for line in lines:
        if MARKER in line:
            paused += 1 if f"{MARKER}pause" in line else -1
            continue
        found = LINE.match(line)
        if paused > 0 or found is None or found["result"].startswith("-") or found["call"] not in CALLS:
            continue
        arguments = found["arguments"]
        name = NAME.match(arguments)
        if name is None or "O_DIRECTORY" in arguments:
            continue
        path = str(Path(name["at"] or start) / (name["path"] or ""))
        if path.startswith(inside):
            counts[CALLS[found["call"]]] += 1
    return counts


def traced(
    command: Sequence[str], start: Path, folder: Path, output: Path, preload: Path | None
) -> dict[str, int]:
    """Run a command under strace and count what it and its children do to files below `folder`."""
    output.mkdir()
    names = ",".join([*CALLS, "access", "faccessat", "faccessat2"])
    # A file of each process: lines of several processes would be cut in two.
    strace = [
        "strace",
        "-ff",
        "--seccomp-bpf",
        "-y",
        "-qq",
        "-s",
        "512",
        "-e",
        f"trace={names}",
        "-e",
        "signal=none",
    ]
    environment = ["env", f"LD_PRELOAD={preload}"] if preload else []
    done = perform([*strace, "-o", f"{output}/calls", *environment, *command], start, LIMIT_S)
    if done.timed_out or done.code not in (0, 3):
        raise RuntimeError(f"{command[0]} ended with {done.code} under strace: {done.last_words}")
    total: dict[str, int] = {}
    for file in output.glob("calls.*"):
        lines = file.read_text(errors="replace").splitlines()
        for name, number in counted(lines, folder, start).items():
            total[name] = total.get(name, 0) + number
    return total


def compare(bench: Bench, replica: Path, scratch: Path) -> dict[str, Any]:
    """Trace the program of a case, and its replica by the plan in `replica`; empty if there is none."""
    if shutil.which("strace") is None or not (replica / "plan.json").exists():
        return {}
    scratch.mkdir()
    library = scratch / "pauses.so"
    (scratch / "pauses.c").write_text(PAUSES)
    bench.must(["cc", "-shared", "-fPIC", "pauses.c", "-o", str(library)], scratch)
    bench.prepare()
    data = scratch / "data"
    data.mkdir()
    run = [
        WORKALIKE,
        "run",
        str(replica / "plan.json"),
        "--dir",
        str(data),
        "-o",
        str(scratch / "run"),
        "--quiet",
    ]
    try:
        original = traced(bench.command(), bench.data, bench.data, scratch / "original", None)
        theirs = traced(run, scratch, data, scratch / "replica", library)
    except RuntimeError as error:
        return {"failed": str(error), "off": []}
    finally:
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(bench.data, ignore_errors=True)
    off = [
        f"{name} {number}→{theirs.get(name, 0)}"
        for name, number in original.items()
        if off_by(number, theirs.get(name, 0)) > APART_PCT
    ]
    return {"original": original, "replica": theirs, "off": off}
