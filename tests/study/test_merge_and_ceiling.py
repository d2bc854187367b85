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


def studies(folder: Path, *names: str, reuse: Sequence[Path] = ()) -> list[Path]:
    """Results of the same small study."""
    for name in names:
        run_study(read_study(write_study(folder)), DriverOptions(out=folder / name, reuse=reuse))
    return [folder / name for name in names]


def test_joined_results_are_joined_again_by_their_studies(tmp_path: Path) -> None:
    a, b, c = studies(tmp_path, "a", "b", "c")
    merge([a, b], tmp_path / "ab")
    assert merge([tmp_path / "ab", c], tmp_path / "abc") == 30
    manifest = json.loads((tmp_path / "abc" / "manifest.json").read_text())
    assert [source["name"] for source in manifest["sources"]] == ["a", "b", "c"]
    assert all(source["system"]["cores"] for source in manifest["sources"])
    assert manifest["factors"] == ["ranks", "bytes_scale"]
    rows = trials_in(tmp_path / "abc")
    assert {(row["source"], row["block"]) for row in rows} == {
        (n, 2 * i + k) for i, n in enumerate("abc") for k in (0, 1)
    }


def test_a_study_inside_of_joined_ones_counts_once(tmp_path: Path) -> None:
    a, b = studies(tmp_path, "a", "b")
    merge([a, b], tmp_path / "ab")
    for folders in ([a, tmp_path / "ab"], [tmp_path / "ab", b], [tmp_path / "ab", tmp_path / "ab"]):
        with pytest.raises(WorkalikeError, match="named twice"):
            merge(folders, tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


def test_trials_that_one_study_took_from_another_count_once(tmp_path: Path) -> None:
    (a,) = studies(tmp_path, "a")
    (b,) = studies(tmp_path, "b", reuse=[a])
    assert all(row["reused_from"] for row in trials_in(b))
    said: list[str] = []
    assert merge([b, a], tmp_path / "both", report=said.append) == 10
    assert {row["source"] for row in trials_in(tmp_path / "both")} == {"a"}
    assert said == ["b: 10 of its trials were taken from another of these studies, and are there once"]
    (c,) = studies(tmp_path, "c", reuse=[a])
    assert merge([b, c], tmp_path / "copies") == 10, "two copies of one measurement"


def test_joined_results_whose_sources_are_damaged(tmp_path: Path) -> None:
    a, b, c = studies(tmp_path, "a", "b", "c")
    merge([a, b], tmp_path / "ab")
    path = tmp_path / "ab" / "manifest.json"
    whole = json.loads(path.read_text())
    for sources in (
        [],
        None,
        "x",
        whole["sources"][:1],
        [whole["sources"][0]] * 2,
        [{"name": "a"}, {"name": "b"}],
    ):
        path.write_text(json.dumps(whole | {"sources": sources}))
        with pytest.raises(WorkalikeError, match="do not belong together"):
            merge([tmp_path / "ab", c], tmp_path / "out")


def test_a_directory_without_room_for_its_ceiling_is_studied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workalike.study.places.free_bytes", lambda _: 2**20)
    study = read_study(
        write_study(tmp_path, fixed={"time_scale": 0}, factors={"ranks": [1]}, blocks=1, a_a=False)
    )
    said: list[str] = []
    outcome = run_study(study, DriverOptions(tmp_path / "out", ceiling=True, report=said.append))
    assert outcome.state == "done" and [row.trial["state"] for row in outcome.finished] == ["ok"]
    assert "has no room to measure what one process gets there" in said[0]
    assert not (tmp_path / "out" / "MACHINE.json").exists()
