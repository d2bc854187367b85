"""Words that stay, because they are the same everywhere and name nobody: a closed list."""

from __future__ import annotations

import re

from workalike.darshan import layouts

_EXTENSIONS = """
7z bak bin bp bz2 c cc cdf cfg cgns chk ckpt conf cpp csv cub cube dat data db dcd dump edr egg err exe exo f f90
fits gro gz h h5 hdf hdf5 hpp idx in ini inp jar json la lammpstrj lock log mod msh nc nc4 netcdf nii npy npz
out parquet pdb pdf pgm pid pkl plt png ppm pt pth py pyc pyd restart root rst safetensors sh silo sm so stderr
stdout tar tfrecord tif tiff tmp toml tpr traj trr txt upf UPF vtk vtp vtu wav xdmf xmf xml xtc xyz xz yaml yml
zarr zip zst
"""
EXTENSIONS = frozenset(_EXTENSIONS.split())
"""Extensions of file formats and of usual purposes."""

_SYSTEM_FOLDERS = "bin boot dev etc lib lib64 opt proc sbin sys usr var"
SYSTEM_FOLDERS = frozenset(_SYSTEM_FOLDERS.split())
"""Folders of every Linux system, directly below the root; what is in them is replaced."""

FOLDERS = frozenset(["site-packages", "__pycache__", "jre", "jdk"])
"""Folders of Python and Java, anywhere."""

JAVA = frozenset(["jre", "jdk"])
"""Folders in which `lib` stays, too."""

NAMES = frozenset(
    [
        "<STDIN>",
        "<STDOUT>",
        "<STDERR>",
        "<OTHER FILES>",
        "/tmp",
        *(f"heatmap:{api}" for api in layouts.HEATMAP_APIS),
    ]
)
"""Names of records that are not paths, and of the folder that MPI libraries ask for its state when they start."""

_FILE_SYSTEMS = """
9p afs aufs autofs beegfs bpf btrfs ceph cgroup cgroup2 cifs configfs debugfs devtmpfs dvs efivarfs ext2 ext3 ext4
fuse fuse.ceph fuse.daos fuse.glusterfs fuse.gvfsd-fuse fuse.portal fuse.sshfs gpfs hugetlbfs iso9660 lustre
mqueue nfs nfs4 nsfs orangefs overlay panfs proc pstore pvfs2 ramfs rootfs securityfs selinuxfs smb3 squashfs
sysfs tmpfs tracefs ufs vfat wekafs xfs zfs
"""
FILE_SYSTEMS = frozenset(_FILE_SYSTEMS.split())
"""Types of file systems."""

LIBRARY_VERSION = re.compile(r"(?:workalike-)?\d{1,2}\.\d{1,2}\.\d{1,2}(?:-(?:pre|rc)\d{0,2})?")
"""`lib_ver` of the metadata: who wrote the log."""

LOG_HINTS = re.compile(r"(?:(?:romio_no_indep_rw=(?:true|false)|cb_nodes=\d{1,4})(?:;|$))+")
"""`h` of the metadata: hints for writing the log."""

SHARED_LIBRARY = re.compile(r"(.+)\.so(?:\.[0-9.]+)?")
"""A shared library with or without its version."""

TEXT_LOG = re.compile(r"(?:.*[-_.])?log\.[a-z]+")
"""`log.lammps`, `solver.log.old`: a text log without its extension."""

MPI_FILES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r".*_cid-.*\.sm"), "{}_cid-{}.sm"),
    (re.compile(r".*\.locktest\.\d+"), "{}.locktest.0"),
    (re.compile(r"ompi\..+"), "ompi.{}"),
    (re.compile(r"prte\..+"), "prte.{}"),
    (re.compile(r"prterun\..+"), "prterun.{}"),
    (re.compile(r"\.?shfp\..*"), "shfp.{}"),
    (re.compile(r".*\.shfp\.\d+"), "{}.shfp.0"),
    (re.compile(r".*-\d+-\d+\.lock"), "{}-0-0.lock"),
    (re.compile(r"mca_.+\.so"), "mca_{}.so"),
    (re.compile(r"mca_.+"), "mca_{}"),
    (re.compile(r"vader_segment.*"), "vader_segment-{}"),
    (re.compile(r"openmpi-sessions.*"), "openmpi-sessions-{}"),
)
"""Temporary files of MPI libraries, and their new form; {} is a token of the whole name."""

_FORMS = [form for _, form in MPI_FILES]
WORDS = frozenset(
    form.lower()
    for words in (EXTENSIONS, SYSTEM_FOLDERS, FOLDERS, FILE_SYSTEMS, NAMES, _FORMS)
    for word in words
    for form in (word, *re.findall("[A-Za-z0-9]+", word))
)
"""All words that may be in a new log, and the words within them, in lower case."""
