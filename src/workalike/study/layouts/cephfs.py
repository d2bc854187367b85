"""CephFS: layouts are virtual extended attributes of a folder or a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from workalike.study.layouts.base import CannotSet, Layout, refuse_fields

FOLDER, FILE = "ceph.dir.layout", "ceph.file.layout"
DEFAULT_UNIT = 4 * 2**20


class CephFs:
    """CephFS.

    A folder has a layout of its own only after one was set, and new files inherit it. What files of another folder get
    is seen in a file made there. A stripe unit must be a multiple
    of 64 KiB and divide the object size. Objects of the default 4 MiB spread a large file over all servers whatever its
    stripe count is: studies of the count set `object_size`, too.
    """

    name = "cephfs"
    tested_on = "CephFS 16.2 through ceph-fuse, with four storage daemons"

    def is_on(self, file_system: str, folder: Path) -> bool:
        return file_system in ("ceph", "fuse.ceph-fuse", "fuse.ceph")

    def apply(self, folder: Path, layout: Layout) -> None:
        refuse_fields(layout, "CephFS", "components")
        if layout == Layout():
            return
        unit = layout.stripe_size or (
            min(DEFAULT_UNIT, layout.object_size) if layout.object_size else DEFAULT_UNIT
        )
        words = [f"stripe_unit={unit}", f"stripe_count={layout.stripe_count or 1}"]
        words.append(f"object_size={layout.object_size or max(unit, DEFAULT_UNIT)}")
        words += [f"pool={layout.pool}"] if layout.pool else []
        try:
            os.setxattr(folder, FOLDER, " ".join(words).encode())
        except OSError as error:
            raise CannotSet(f"CephFS refused {' '.join(words)}: {error.strerror}") from error

    def read(self, path: Path) -> Layout | None:
        if not path.is_dir():
            return _attribute(path, FILE)
        return _attribute(path, FOLDER) or _of_a_new_file(path)

    def targets(self, folder: Path) -> int | None:
        return None


def _attribute(path: Path, name: str) -> Layout | None:
    try:
        return parsed(os.getxattr(path, name).decode(errors="replace"))
    except OSError:  # a folder without a layout of its own
        return None


def _of_a_new_file(folder: Path) -> Layout | None:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".workalike-layout-") as file:
            return _attribute(Path(file.name), FILE)
    except OSError:
        return None


def parsed(text: str) -> Layout | None:
    """The layout that an attribute's text states, `stripe_unit=... stripe_count=... object_size=... pool=...`."""
    fields = dict(word.split("=", 1) for word in text.split() if "=" in word)
    try:
        return Layout(
            stripe_count=int(fields["stripe_count"]),
            stripe_size=int(fields["stripe_unit"]),
            object_size=int(fields["object_size"]),
            pool=fields.get("pool"),
        )
    except (KeyError, ValueError):
        return None
