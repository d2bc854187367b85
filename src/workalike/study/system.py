"""The machine as a study finds it: what describes it, what identifies its software, and its state at a trial."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from workalike.files import free_bytes
from workalike.launch.engines import engine_if_built
from workalike.version import VERSION

_ESCAPED = re.compile(r"\\([0-7]{3})")


def file_system_of(folder: Path) -> dict[str, str]:
    """Type and source of the file system that a folder is on; the type is `unknown` where the kernel does not say."""
    path = str(folder.resolve())
    best = {"type": "unknown", "source": "", "mount": ""}
    try:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return best
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        mount = _ESCAPED.sub(lambda m: chr(int(m[1], 8)), fields[1])
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best["mount"]):  # a later mount covers an earlier one
            best = {"type": fields[2], "source": fields[0], "mount": mount}
    return best


def describe(folders: dict[str, Path]) -> dict[str, Any]:
    """The system: a row of a table that compares systems. `folders` are those under test, by name."""
    return {
        "host": platform.node(),
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "memory_bytes": _memory().get("MemTotal", 0),
        "kernel": platform.release(),
        "file_systems": {
            name: {
                **file_system_of(folder),
                "bytes": shutil.disk_usage(folder).total or None,  # a file system may not tell
                "free": free_bytes(folder),
            }
            for name, folder in folders.items()
        },
        "versions": versions(),
    }


def system_id(folder: Path | None) -> str:
    """Sixteen digits that differ between machines and between file systems."""
    place = file_system_of(folder) if folder is not None else {}
    text = repr((platform.node(), _cpu(), os.cpu_count(), _memory().get("MemTotal"), sorted(place.items())))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    """What trials depend on: this package, the engine's program, and the libraries that it is linked with."""
    found = {"workalike": VERSION, "python": platform.python_version(), "kernel": platform.release()}
    engine = engine_if_built()
    if engine is None:
        return found
    found["engine"] = hashlib.sha256(engine.read_bytes()).hexdigest()[:16]
    for name, path in _libraries(engine):
        found[name] = Path(os.path.realpath(path)).name
    return found


def versions_key() -> str:
    """Sixteen digits that change with any of the versions."""
    return hashlib.sha256(repr(sorted(versions().items())).encode()).hexdigest()[:16]


def state() -> dict[str, float | int]:
    """Load and page cache now: `load` is that of the last minute, the others are bytes."""
    memory = _memory()
    return {
        "load": os.getloadavg()[0],
        "cached_bytes": memory.get("Cached", 0),
        "dirty_bytes": memory.get("Dirty", 0) + memory.get("Writeback", 0),
    }


def nodes() -> list[str]:
    """The nodes that trials run on: those of the batch job, or this one."""
    listed = os.environ.get("SLURM_JOB_NODELIST")
    return [listed] if listed else [platform.node()]


def node_count() -> int:
    """The nodes of the batch job (Slurm, Flux, PBS); 1 outside of one."""
    for name in ("SLURM_JOB_NUM_NODES", "FLUX_JOB_NNODES"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0:
            return int(text)
    if listed := os.environ.get("PBS_NODEFILE"):  # a line for each rank
        try:
            return max(1, len(set(Path(listed).read_text(encoding="utf-8").split())))
        except (OSError, UnicodeDecodeError):
            return 1
    return 1


def _libraries(engine: Path) -> list[tuple[str, str]]:
    """(short name, path) of the I/O and MPI libraries that a program loads."""
    if sys.platform != "linux":
        return []
    try:
        done = subprocess.run(["ldd", str(engine)], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    pairs = re.findall(r"lib(mpi|hdf5|pnetcdf|adios2)[\w.-]*\.so\S* => (/\S+)", done.stdout)
    return [(f"lib{name}", path) for name, path in pairs]


@cache
def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found[1].strip() if found else platform.machine()


def _memory() -> dict[str, int]:
    """Fields of /proc/meminfo, bytes."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    return {name: int(value) * 1024 for name, value in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
