"""The file systems that benchmarks compare: memory, the local disk, and a CephFS: free, limited, delayed.

With a name, a bed is at the same place each time, so that a study that was interrupted goes on there.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from catalogue import ROOT

LIMIT, DELAY_S = "400mbit", "0.002"
"""Of CephFS limited: what each storage daemon receives and sends. Of CephFS delayed: before each of its operations."""
TESTBED = [sys.executable, str(ROOT / "tools/testbed")]


@contextlib.contextmanager
def in_memory(name: str = "") -> Iterator[Path]:
    """A tmpfs, which needs root. No capture counts files below /dev: paths there are the system's."""
    with _folder(Path(tempfile.gettempdir()), name) as folder:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


@contextlib.contextmanager
def on_disk(name: str = "") -> Iterator[Path]:
    """A folder of the local disk."""
    with _folder(Path("/var/tmp"), name) as folder:
        yield folder


@contextlib.contextmanager
def on_cephfs(name: str = "", change: tuple[str, ...] = ()) -> Iterator[Path]:
    """A CephFS of its own, changed by a command of the testbed."""
    words = ["--name", name] if name else []
    if name:  # of a run that was killed
        subprocess.run([*TESTBED, "stop", *words], capture_output=True, check=False)
    done = subprocess.run([*TESTBED, "start", *words], capture_output=True, text=True, check=True)
    bed = json.loads(done.stdout)
    try:
        if change:
            subprocess.run([*TESTBED, change[0], "--name", bed["name"], *change[1:]], check=True)
        yield Path(bed["mount"])
    finally:
        subprocess.run([*TESTBED, "stop", "--name", bed["name"]], check=True, capture_output=True)


@contextlib.contextmanager
def _folder(parent: Path, name: str) -> Iterator[Path]:
    if not name:
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            yield Path(folder)
        return
    path = parent / f"workalike-{name}"
    path.mkdir(exist_ok=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


SYSTEMS: dict[str, Callable[..., contextlib.AbstractContextManager[Path]]] = {
    "ext4": on_disk,
    "cephfs": on_cephfs,
    "cephfs-limited": lambda name="": on_cephfs(name, ("limit", "all", LIMIT)),
    "cephfs-delayed": lambda name="": on_cephfs(name, ("delay", "all", DELAY_S)),
}
"""Those that logs are transferred to; a bed is called with its name, or without one."""
