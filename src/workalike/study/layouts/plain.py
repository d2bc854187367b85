"""File systems whose files have no layout that a user sets: local ones, NFS, GPFS."""

from __future__ import annotations

from pathlib import Path

from workalike.study.layouts.base import CannotSet, Layout


class Plain:
    """Any file system without a class of its own."""

    name = "plain"
    tested_on = "ext4, tmpfs"

    def is_on(self, file_system: str, folder: Path) -> bool:
        return True

    def apply(self, folder: Path, layout: Layout) -> None:
        if layout != Layout():
            raise CannotSet("this file system has no layout that can be set")

    def read(self, path: Path) -> Layout | None:
        return None

    def targets(self, folder: Path) -> int | None:
        return None


class Gpfs(Plain):
    """GPFS (Spectrum Scale) stripes each file over all disks of its pool, in blocks of a size that is the file system's."""

    name = "gpfs"
    tested_on = "nothing: there is nothing to set"

    def is_on(self, file_system: str, folder: Path) -> bool:
        return file_system == "gpfs"

    def apply(self, folder: Path, layout: Layout) -> None:
        if layout != Layout():
            raise CannotSet("GPFS stripes every file over all disks of its pool: there is nothing to set")
