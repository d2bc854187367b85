"""Which file systems nodes share, by their types: the section `storage` of the site file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from workalike.diagnose.parameters import Parameters
from workalike.facts.naming import is_obfuscated

Word = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S+$")]
Folder = Annotated[str, StringConstraints(pattern=r"^/.")]

ROOT = "/"
OF_A_ROOT = ("/tmp/", "/var/tmp/")
"""Folders of a node's own root by custom. Other folders there may be symbolic links to shared storage."""


class Kind(StrEnum):
    """Who reaches a file system."""

    SHARED = "shared"
    """Several nodes, over a network."""
    LOCAL = "local"
    """One node."""
    MEMORY = "memory"
    """One node, in its memory."""
    UNKNOWN = "unknown"


class Storage(Parameters):
    """Types of file systems, as a mount table names them. A type that is in none of the lists is not known."""

    local: tuple[Word, ...] = Field(
        (
            *(
                "apfs",
                "btrfs",
                "erofs",
                "ext2",
                "ext3",
                "ext4",
                "f2fs",
                "fuse.fuse-overlayfs",
                "fuse.squashfuse",
            ),
            *(
                "fuse.squashfuse_ll",
                "fuseblk",
                "iso9660",
                "jfs",
                "overlay",
                "reiserfs",
                "squashfs",
                "ufs",
                "vfat",
            ),
            *("xfs", "zfs"),
        ),
        description="Types of file systems on disks of a node, or in images. Findings about servers leave them out.",
    )
    memory: tuple[Word, ...] = Field(
        ("devtmpfs", "hugetlbfs", "ramfs", "tmpfs"),
        description="Types of file systems in the memory of a node. Findings about servers leave them out.",
    )
    shared: tuple[Word, ...] = Field(
        (
            *(
                "9p",
                "afs",
                "beegfs",
                "ceph",
                "cifs",
                "cvmfs2",
                "dvs",
                "fuse.beegfs",
                "fuse.ceph",
                "fuse.ceph-fuse",
            ),
            *(
                "fuse.daos",
                "fuse.dfuse",
                "fuse.glusterfs",
                "fuse.juicefs",
                "fuse.sshfs",
                "gfs2",
                "gpfs",
                "lustre",
            ),
            *("mmfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "virtiofs", "wekafs"),
        ),
        description="Types of file systems that nodes share. A finding says so where a type is in no list.",
    )
    folders_of_a_node: tuple[Folder, ...] = Field(
        ("/dev/shm",),
        description="Folders on a node or in its memory, whatever the mount table says: logs do not list tmpfs.",
    )

    @model_validator(mode="after")
    def _in_one_list(self) -> Self:
        every = [*dict.fromkeys(self.local), *dict.fromkeys(self.memory), *dict.fromkeys(self.shared)]
        twice = [name for name, count in Counter(every).items() if count > 1]
        if twice:
            raise ValueError(f"{twice[0]} is in two lists of types")
        return self

    def kind_of(self, fs_type: str) -> Kind:
        """The kind of a type."""
        for kind, types in ((Kind.SHARED, self.shared), (Kind.LOCAL, self.local), (Kind.MEMORY, self.memory)):
            if fs_type in types:
                return kind
        return Kind.UNKNOWN

    def kinds_of(self, names: Sequence[str], mounts: Sequence[tuple[str, str]], shared: bool) -> list[Kind]:
        """The kind of each file, from its name and its mount (path, type); `shared`: the job had shared storage, too.

        A mount table does not list what symbolic links lead to, and hidden names have no folder. So a file that only
        the root holds may lie on shared storage, unless there is none or the folder is one of a node by custom.
        """
        known = {fs_type: self.kind_of(fs_type) for _, fs_type in set(mounts)}
        folders = tuple(f"{folder.rstrip('/')}/" for folder in self.folders_of_a_node)
        out = []
        for name, (path, fs_type) in zip(names, mounts, strict=True):
            kind = known[fs_type]
            if name.startswith(folders):
                kind = Kind.LOCAL
            elif kind is not Kind.SHARED and path == ROOT and not name.startswith(OF_A_ROOT):
                kind = Kind.UNKNOWN if shared or _is_hidden(name) else kind
            out.append(kind)
        return out


def _is_hidden(name: str) -> bool:
    """Whether a number stands in the place of the whole path of a file."""
    return is_obfuscated(name) and not name[: name.rfind("/") + 1].strip("/")
