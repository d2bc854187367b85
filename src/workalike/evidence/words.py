"""The closed lists of an evidence file: it has no other text, so that no name can stand in it."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why something was not measured."""

    NO_LAYOUT = "this file system has no layout that a user sets"
    ALL_DISKS = "this file system stripes every file over all disks of its pool, and a user sets nothing"
    NO_TOOL = "the tool that sets layouts is not installed"
    REFUSED = "the file system refused this layout"
    NOT_SHOWN = "the file system does not tell the layout of a file"
    NO_TIME = "there was no time left for it"
    TOO_LONG = "a run did not end within the time that was left"
    FAILED = "a run failed"
    NO_ROOM = "there was too little space for it"
    NO_LIBRARY = "the engine was built without the library that it needs"
    NO_CAPTURE = "there is no capture library for this system"
    NOT_CHARACTERIZED = "its log could not be characterized"
    NO_TIME_IN_CALLS = "its log has no time in calls"
    SINGLE = "one value has no variation"


class Program(StrEnum):
    """The programs of the transfers: workloads of the package, which the engine performs."""

    SHARED_COLLECTIVE = "shared-collective"
    FILE_PER_RANK = "file-per-rank"
    HDF5_DATASETS = "hdf5-datasets"
    ROOT_TEXT = "root-text"
    RANDOM_READS = "random-reads"
    MANY_FILES = "many-files"


class Part(StrEnum):
    """The parts of the measurement."""

    STRIPING = "striping"
    VARIANCE = "variance"
    TRANSFER = "transfer"


class FileSystem(StrEnum):
    """Types of file systems, as mounted. A type of a site's own could name the site, and becomes `other`."""

    BEEGFS = "beegfs"
    BTRFS = "btrfs"
    CEPH = "ceph"
    CIFS = "cifs"
    EXT3 = "ext3"
    EXT4 = "ext4"
    F2FS = "f2fs"
    FUSE_CEPH = "fuse.ceph"
    FUSE_CEPH_FUSE = "fuse.ceph-fuse"
    FUSE_DFUSE = "fuse.dfuse"
    FUSE_GLUSTERFS = "fuse.glusterfs"
    FUSE_JUICEFS = "fuse.juicefs"
    GPFS = "gpfs"
    LUSTRE = "lustre"
    NFS = "nfs"
    NFS4 = "nfs4"
    OVERLAY = "overlay"
    PANFS = "panfs"
    PVFS2 = "pvfs2"
    RAMFS = "ramfs"
    SMB3 = "smb3"
    TMPFS = "tmpfs"
    VIRTIOFS = "virtiofs"
    WEKAFS = "wekafs"
    XFS = "xfs"
    ZFS = "zfs"
    NINE_P = "9p"
    OTHER = "other"
    UNKNOWN = "unknown"


class Mpi(StrEnum):
    """Names of MPIs."""

    OPEN_MPI = "Open MPI"
    INTEL = "Intel MPI"
    CRAY = "Cray MPICH"
    MVAPICH = "MVAPICH"
    MPICH = "MPICH"
    OTHER = "another MPI"
    UNKNOWN = "unknown"


class MpiIo(StrEnum):
    """Implementations of MPI-IO."""

    OMPIO = "ompio"
    ROMIO = "romio"
    OTHER = "other"
    UNKNOWN = "unknown"
