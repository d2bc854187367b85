"""On which file system each file lies, by the mount tables of the logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

UNKNOWN = "unknown"
PLACEHOLDERS = frozenset({"autofs", "rootfs"})
"""Types of mounts that another file system of the same path covers."""


def mount_table(tables: Iterable[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    """(type, path) of each mounted path, from the tables of several logs.

    A path whose type differs between entries has the type `UNKNOWN`.
    """
    types: dict[str, set[str]] = {}
    for table in tables:
        for kind, path in table:
            types.setdefault(path, set()).add(kind)
    out = []
    for path, found in types.items():
        real = found - PLACEHOLDERS or found
        out.append((next(iter(real)) if len(real) == 1 else UNKNOWN, path))
    return out


def mounts_of(names: Sequence[str], mounts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """(path, type) of the mount that each file is on: the longest that contains its folder; `UNKNOWN` for both without."""
    known: dict[str, tuple[str, str]] = {}
    ordered = sorted(mounts, key=lambda mount: -len(mount[1]))
    out = []
    for name in names:
        folder = name[: name.rfind("/") + 1]
        if folder not in known:
            on = (mount for mount in ordered if folder.startswith(f"{mount[1].rstrip('/')}/"))
            fs_type, path = next(on, ("", ""))
            known[folder] = (path or UNKNOWN, fs_type or UNKNOWN)
        out.append(known[folder])
    return out
