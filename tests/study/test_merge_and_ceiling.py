"""Joined results, machine files, and layouts as texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from studies import trials_in, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.study.driver import DriverOptions, run_study
from workalike.study.layouts import beegfs, cephfs, lustre
from workalike.study.layouts.base import CannotSet, Layout
from workalike.study.layouts.plain import Gpfs
from workalike.study.layouts.registry import KINDS, kind_of, layout_of
from workalike.study.merge import merge
from workalike.study.study_file import read_study
from workalike.study.system import system_id


def test_merge(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run_study(read_study(write_study(tmp_path)), DriverOptions(out=tmp_path / name))
    assert workalike("study", "merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c").returncode == 0
    rows = pq.read_table(tmp_path / "c" / "trials.parquet").to_pylist()
    assert len(rows) == 20
    assert {(row["source"], row["block"]) for row in rows} == {("a", 0), ("a", 1), ("b", 2), ("b", 3)}
    assert {row["setting"] for row in rows} == {row["setting"] for row in trials_in(tmp_path / "a")}
    sources = json.loads((tmp_path / "c" / "manifest.json").read_text())["sources"]
    assert [source["name"] for source in sources] == ["a", "b"] and all(s["system"]["cores"] for s in sources)
    with pytest.raises(WorkalikeError, match="named twice"):
        merge([tmp_path / "a", tmp_path / "a"], tmp_path / "d")


def test_ceiling(tmp_path: Path) -> None:
    done = workalike(
        "study", "ceiling", "--dir", tmp_path, "-o", tmp_path / "m.json", "--size", "8 MiB", "--repeats", 2
    )
    assert done.returncode == 0, done.stderr
    machine = json.loads((tmp_path / "m.json").read_text())
    assert set(machine["ceilings"]) == {
        *("write", "write_cached", "read", "read_cached", "small_random_reads", "small_random_writes"),
        *("files_created_and_removed", "sync_latency"),
    }
    assert all(
        len(ceiling["values"]) == 2 and min(ceiling["values"]) > 0 for ceiling in machine["ceilings"].values()
    )
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]
    assert machine["system_id"] == system_id(tmp_path)


GETSTRIPE = """\
/lustre/x
stripe_count:  4 stripe_size:   1048576 pattern:       raid0 stripe_offset: -1 pool: flash
"""
GETENTRYINFO = """\
Entry type: directory
EntryID: 0-5F1E4A9D-1
Metadata node: m01 [ID: 1]
Stripe pattern details:
+ Type: RAID0
+ Chunksize: 512K
+ Number of storage targets: desired: 4
+ Storage Pool: 1 (Default)
"""


def test_layouts_read_from_texts() -> None:
    text = "stripe_unit=1048576 stripe_count=4 object_size=134217728 pool=data"
    assert cephfs.parsed(text) == Layout(4, 2**20, 2**27, "data")
    assert lustre.parsed(GETSTRIPE) == Layout(4, 2**20, None, "flash")
    assert beegfs.parsed(GETENTRYINFO) == Layout(4, 512 * 1024, None, "1")
    assert cephfs.parsed("x") is lustre.parsed("stripe_count: many") is beegfs.parsed("") is None


def test_what_was_not_taken() -> None:
    assert Layout(4, 2**20).differs_from(Layout(1, 2**20)) == ["stripe_count 4, found 1"]
    assert Layout(stripe_count=4).differs_from(Layout(4, 2**16, 2**22, "data")) == []


def test_commands_of_lustre(tmp_path: Path) -> None:
    given: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> tuple[int, str]:
        given.append(command)
        return (0, "") if "-p" not in command else (1, "error: setstripe: pool 'x' does not exist\n")

    kind = lustre.Lustre(run)
    kind.apply(tmp_path, Layout(stripe_count=-1, stripe_size=2**22))
    assert given == [["lfs", "setstripe", "-c", "-1", "-S", "4194304", str(tmp_path)]]
    with pytest.raises(CannotSet, match="pool 'x' does not exist"):
        kind.apply(tmp_path, Layout(pool="x"))
    with pytest.raises(CannotSet, match="no object_size"):
        kind.apply(tmp_path, Layout(object_size=2**22))


def test_kinds(tmp_path: Path) -> None:
    names = {
        t: kind_of(tmp_path, t).name for t in ("fuse.ceph-fuse", "ceph", "lustre", "beegfs", "gpfs", "ext4")
    }
    assert list(names.values()) == ["cephfs", "cephfs", "lustre", "beegfs", "gpfs", "plain"]
    asked = {"stripe_count": "ranks", "stripe_size": 65536}
    assert layout_of(asked, KINDS[0], tmp_path, ranks=8, nodes=2) == Layout(8, 65536)
    with pytest.raises(CannotSet, match="nothing to set"):
        Gpfs().apply(tmp_path, Layout(stripe_count=2))
