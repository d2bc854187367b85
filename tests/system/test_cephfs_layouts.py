"""Layouts of CephFS, set and read back by our class and by Ceph's own tools."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from workalike.study.layouts.base import CannotSet, Layout
from workalike.study.layouts.cephfs import CephFs
from workalike.study.layouts.registry import kind_of, layout_of
from workalike.study.system import file_system_of

from .support import needs
from .testbed import CephBed, needs_testbed

pytestmark = pytest.mark.system

MIB = 2**20
DEFAULT = Layout(stripe_count=1, stripe_size=4 * MIB, object_size=4 * MIB, pool="data")
WIDE = Layout(stripe_count=3, stripe_size=MIB, object_size=128 * MIB, pool="data")


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    needs_testbed()
    needs("getfattr")
    with CephBed() as started:
        yield started


@pytest.fixture
def folder(bed: CephBed, request: pytest.FixtureRequest) -> Path:
    path = bed.mount / request.node.name.replace("[", "-").rstrip("]")
    path.mkdir()
    return path


def attribute(path: Path, name: str) -> str:
    """By the tool of the package attr."""
    command = ["getfattr", "--only-values", "--absolute-names", "-n", name, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_it_is_recognized(bed: CephBed, tmp_path: Path) -> None:
    found = file_system_of(bed.mount)
    assert found["type"] == "fuse.ceph-fuse" and found["mount"] == str(bed.mount)
    assert isinstance(kind_of(bed.mount, found["type"]), CephFs)
    assert not isinstance(kind_of(tmp_path, file_system_of(tmp_path)["type"]), CephFs)


def test_new_files_inherit_what_was_set(bed: CephBed, folder: Path) -> None:
    kind = CephFs()
    assert kind.read(folder) == DEFAULT, "a folder without a layout of its own: that of a file made in it"
    kind.apply(folder, Layout())
    assert kind.read(folder) == DEFAULT
    assert list(folder.iterdir()) == []
    kind.apply(folder, WIDE)
    assert kind.read(folder) == WIDE
    text = "stripe_unit=1048576 stripe_count=3 object_size=134217728 pool=data"
    assert attribute(folder, "ceph.dir.layout") == text
    file = folder / "file"
    file.write_bytes(bytes(3 * MIB))
    assert attribute(file, "ceph.file.layout") == text
    assert kind.read(file) == WIDE
    inode = str(file.stat().st_ino)
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
    assert bed("objects")[inode] == {"0": MIB, "1": MIB, "2": MIB}, "a stripe unit on each object"


def test_a_layout_from_a_study(folder: Path) -> None:
    kind = CephFs()
    asked = {"stripe_count": "ranks", "object_size": 8 * MIB}
    layout = layout_of(asked, kind, folder, ranks=4, nodes=2)
    kind.apply(folder, layout)
    found = kind.read(folder)
    assert found is not None and layout.differs_from(found) == []
    assert (found.stripe_count, found.object_size, found.stripe_size) == (4, 8 * MIB, 4 * MIB)
    other = Layout(stripe_count=2, object_size=8 * MIB)
    assert other.differs_from(found) == ["stripe_count 2, found 4"]
    with pytest.raises(CannotSet, match="give a number"):
        layout_of({"stripe_count": "all"}, kind, folder, ranks=4, nodes=2)


def test_pools(bed: CephBed, folder: Path) -> None:
    kind = CephFs()
    kind.apply(folder, Layout(pool="only2"))
    assert kind.read(folder) == Layout(stripe_count=1, stripe_size=4 * MIB, object_size=4 * MIB, pool="only2")
    (folder / "file").write_bytes(b"x" * 100)
    assert bed("where", "--objects", 3, folder / "file") == [[2, 2, 2]]


@pytest.mark.parametrize(
    "layout",
    [
        Layout(stripe_size=1000),
        Layout(stripe_size=4096),
        Layout(stripe_size=MIB, object_size=MIB + 65536),
        Layout(pool="nowhere"),
    ],
)
def test_what_it_does_not_take_is_said(folder: Path, layout: Layout) -> None:
    with pytest.raises(CannotSet, match=r"CephFS refused stripe_unit=.*: "):
        CephFs().apply(folder, layout)
    assert CephFs().read(folder) == DEFAULT


def test_a_written_file_keeps_its_layout(folder: Path) -> None:
    """Why a trial's layout goes on its empty folder."""
    file = folder / "file"
    file.write_bytes(b"data")
    for _ in range(2):
        with pytest.raises(OSError) as refused:
            os.setxattr(file, "ceph.file.layout.stripe_count", b"2")
        assert refused.value.errno == errno.ENOTEMPTY
        os.truncate(file, 0)
    CephFs().apply(folder, WIDE)  # the folder's layout changes for new files only
    assert attribute(file, "ceph.file.layout.stripe_count") == "1"
