"""Scratch files and folders of commands, and the removal of those that a killed command left.

A command holds a lock (flock) on what it creates. The kernel releases the lock when the process ends, in whatever way.
What no process locks is left over, and the next command that works in the same place removes it. Names contain a mark
of the node and its boot, because on a shared file system the locks of other nodes may not be visible.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

KEPT = "kept"
"""A file of this name marks a folder that was left on purpose."""


@cache
def node_mark() -> str:
    """Eight hexadecimal digits that differ between nodes, and between two starts of a node."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    except OSError:
        text = os.uname().nodename.encode()
    return hashlib.sha256(text).hexdigest()[:8]


def new_name(stem: str) -> str:
    """A name that `remove_leftovers` recognizes: `.workalike-run` becomes `.workalike-run-MARK-RANDOM`."""
    return f"{stem}-{node_mark()}-{secrets.token_hex(4)}"


def make_locked(path: Path, folder: bool) -> int:
    """Create a file or a folder, which must not exist, and lock it until the returned descriptor is closed.

    Raises:
        OSError: it cannot be created.
    """
    while True:
        if folder:
            path.mkdir(mode=0o700)
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:  # another command removed it as left over before it was opened
                continue
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # another command removed it as left over before it was locked


@contextlib.contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A folder in `parent` that is removed at the end; first, what killed commands left in `parent` is removed.

    Raises:
        OSError: it cannot be created.
    """
    remove_leftovers(parent)
    path = parent / new_name(".workalike-run")
    descriptor = make_locked(path, folder=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def remove_leftovers(folder: Path, in_use: Callable[[Path], bool] = lambda _: False) -> list[Path]:
    """Remove what killed commands of this user on this node left in a folder, and return the removed paths.

    Args:
        folder: the folder to search, without its subfolders.
        in_use: whether a process that outlived its command still uses a path.
    """
    ours = re.compile(rf"\.?workalike-(?:run|capture|part)-{node_mark()}-[0-9a-f]+")
    try:
        with os.scandir(folder) as entries:
            found = [Path(entry.path) for entry in entries if ours.fullmatch(entry.name)]
    except OSError:
        return []
    return [path for path in found if not in_use(path) and _remove_if_free(path)]


def _remove_if_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(descriptor).st_uid != os.geteuid() or (path / KEPT).exists():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(descriptor, path):
            return False
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    except OSError:  # locked, or a file system without locks
        return False
    finally:
        os.close(descriptor)
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False
