"""What lies on a node is not a matter of shared storage: by the mount table of the log, and the site's lists of types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.planted_findings import GIB, MIB, ON_SHARED, SITE, T, planted
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Diagnosis, Finding
from workalike.diagnose.registry import all_rules
from workalike.diagnose.site import Site, default_text, read_site
from workalike.diagnose.storage import Storage
from workalike.diagnose.text import diagnosis_text
from workalike.errors import WorkalikeError
from workalike.facts.mounts import mount_table, mounts_of

OF_SHARED = ("crowded-folder", "metadata-share", "scratch-files", "tiny-files")
"""Rules about servers whose plants are small enough for each kind of file system."""
Mounts = tuple[tuple[str, str], ...]


def diagnosed(log: LogBuilder, folder: Path, mounts: Mounts, **site: object) -> Diagnosis:
    log.job = replace(log.job, mounts=mounts)
    return diagnose([open_log(log.write(folder / "x.darshan"))], Site(SITE | site))


def of_rule(found: Diagnosis, rule: str) -> Finding | None:
    return next((f for f in found.findings if rule in (f.rule, *f.also)), None)


def test_the_rules_about_shared_storage_are_these() -> None:
    assert {n for n, rule in all_rules().items() if rule.shared_storage} == {*OF_SHARED, "file-per-process"}


@pytest.mark.parametrize("rule", OF_SHARED)
@pytest.mark.parametrize("fs_type", ["ext4", "tmpfs", "overlay"])
def test_files_of_a_node_do_not_load_servers(tmp_path: Path, rule: str, fs_type: str) -> None:
    found = diagnosed(planted(rule, 2.0), tmp_path, ((fs_type, "/"),))
    assert of_rule(found, rule) is None
    (reason,) = [unknown.reason for unknown in found.cannot_tell if unknown.rule == rule]
    assert reason == f"no file lies on storage that nodes share, but on {fs_type}"


@pytest.mark.parametrize("rule", OF_SHARED)
def test_an_unknown_type_is_taken_for_shared_and_said(tmp_path: Path, rule: str) -> None:
    known = of_rule(diagnosed(planted(rule, 2.0), tmp_path, ON_SHARED), rule)
    assert known is not None and known.assumes == ""
    for mounts, word in ((((("blobfs", "/"),)), "blobfs"), ((), "unknown")):
        found = diagnosed(planted(rule, 2.0), tmp_path, mounts)
        finding = of_rule(found, rule)
        assert finding is not None and finding.rule == rule
        assert f"on shared storage: their file system is {word}" in finding.assumes
        assert "assumes:" in diagnosis_text(found) or finding.severity == "NOTE"


def scratch(*folders: str) -> LogBuilder:
    """Two GiB of scratch files of 16 ranks, in the folders by turns; each takes 10 s."""
    log = LogBuilder(nprocs=16, run_time=T)
    for rank in range(16):
        name = f"{folders[rank % len(folders)]}/tmp.{rank}"
        log.posix(name, rank, OPENS=1, WRITES=32, READS=32, BYTES_WRITTEN=128 * MIB, BYTES_READ=128 * MIB,
                  F_WRITE_START_TIMESTAMP=1.0, F_READ_START_TIMESTAMP=9.0, F_WRITE_TIME=10.0)  # fmt: skip
    return log


def test_files_of_a_node_beside_shared_ones_are_left_out_and_counted(tmp_path: Path) -> None:
    mounts = (("ext4", "/"), ("lustre", "/lus"), ("xfs", "/local"))
    both = {"scratch-files": {"bytes": GIB, "ranks": 0.5}}
    found = of_rule(diagnosed(scratch("/lus/a", "/local/b"), tmp_path, mounts, **both), "scratch-files")
    assert found is not None
    assert (found.evidence["files"], found.evidence["bytes"]) == (8, GIB)
    assert found.evidence["files_on_nodes_left_out"] == 8
    assert found.cost.rank_seconds == pytest.approx(80.0)
    assert found.assumes == ""


@pytest.mark.parametrize(
    ("folder", "mounts"),
    [
        ("/projects/a", (("overlay", "/"), ("lustre", "/lus"))),  # a symbolic link to /lus
        ("/", (("overlay", "/"), ("lustre", "/lus"))),  # hidden names: //4294967295
        ("/", (("ext4", "/"),)),
    ],
)
def test_a_file_that_only_the_root_holds_is_assumed_to_be_shared(
    tmp_path: Path, folder: str, mounts: Mounts
) -> None:
    log = LogBuilder(nprocs=16, run_time=T)
    for number in range(16 * 20):
        name = f"{folder}/{10**9 + number}"
        log.posix(name, number % 16, OPENS=1, WRITES=1, BYTES_WRITTEN=4096, F_META_TIME=0.1 * T / 20)
    finding = of_rule(diagnosed(log, tmp_path, mounts), "tiny-files")
    assert finding is not None
    assert "320 files on shared storage: their file system is unknown" in finding.assumes
    assert "no more than the root" in finding.assumes


def test_a_finding_about_all_files_assumes_their_storage(tmp_path: Path) -> None:
    """No family stands out where each file has less than a hundredth of the time in metadata."""
    log = LogBuilder(nprocs=512, run_time=T)
    for rank in range(512):
        log.posix(f"/projects/a/out.{rank}", rank, OPENS=1, WRITES=10, BYTES_WRITTEN=GIB, F_META_TIME=0.2 * T)
    found = diagnosed(log, tmp_path, (("overlay", "/"), ("lustre", "/lus")))
    finding = next(f for f in found.findings if f.rule == "metadata-share")
    assert finding.families == [] and "512 files on shared storage" in finding.assumes


def test_a_file_at_the_root_of_a_node_is_its_own(tmp_path: Path) -> None:
    """Where no storage is shared, and for the folders that every node has."""
    both = {"scratch-files": {"bytes": GIB, "ranks": 0.5}}
    assert of_rule(diagnosed(scratch("/x"), tmp_path, (("xfs", "/"),), **both), "scratch-files") is None
    mounts = (("xfs", "/"), ("lustre", "/lus"))
    assert of_rule(diagnosed(scratch("/x"), tmp_path, mounts, **both), "scratch-files") is not None
    for folder in ("/tmp/x", "/var/tmp"):
        assert of_rule(diagnosed(scratch(folder), tmp_path, mounts, **both), "scratch-files") is None


def test_the_kinds_of_storage_are_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    kinds_of = Storage.kinds_of
    monkeypatch.setattr(Storage, "kinds_of", lambda *given: asked.append(1) or kinds_of(*given))
    diagnosed(planted("tiny-files", 2.0), tmp_path, ON_SHARED)
    assert len(asked) == 1


def test_memory_is_no_shared_storage_though_logs_do_not_list_it(tmp_path: Path) -> None:
    assert of_rule(diagnosed(scratch("/dev/shm/a"), tmp_path, ON_SHARED), "scratch-files") is None
    more = {"storage": {"folders_of_a_node": ["/tmp"]}}
    assert of_rule(diagnosed(scratch("/tmp/a"), tmp_path, ON_SHARED), "scratch-files") is not None
    assert of_rule(diagnosed(scratch("/tmp/a"), tmp_path, ON_SHARED, **more), "scratch-files") is None
    assert of_rule(diagnosed(scratch("/tmpest/a"), tmp_path, ON_SHARED, **more), "scratch-files") is not None


def test_a_site_may_say_that_a_type_is_shared_or_local(tmp_path: Path) -> None:
    exported = {"storage": {"local": ["ext4"], "shared": ["xfs"]}}
    assert of_rule(diagnosed(scratch("/x"), tmp_path, (("xfs", "/"),)), "scratch-files") is None
    finding = of_rule(diagnosed(scratch("/x"), tmp_path, (("xfs", "/"),), **exported), "scratch-files")
    assert finding is not None and finding.assumes == ""
    own = {"storage": {"shared": [], "local": ["beegfs"]}}
    assert of_rule(diagnosed(scratch("/x"), tmp_path, (("beegfs", "/"),), **own), "scratch-files") is None


def test_a_lustre_record_says_more_than_a_mount_table(tmp_path: Path) -> None:
    log = scratch("/x")
    for rank in range(16):
        log.lustre(f"/x/tmp.{rank}")
    finding = of_rule(diagnosed(log, tmp_path, (("ext4", "/"),)), "scratch-files")
    assert finding is not None and finding.assumes == ""


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ('local = ["lustre"]', "lustre is in two lists"),
        ('local = ["two words"]', "pattern"),
        ('folders_of_a_node = ["tmp"]', "pattern"),
        ("local = 5", "tuple"),
        ('types = ["ext4"]', "not a parameter"),
    ],
)
def test_a_wrong_section_is_refused(tmp_path: Path, lines: str, word: str) -> None:
    (tmp_path / "site.toml").write_text(f"[storage]\n{lines}\n")
    with pytest.raises(WorkalikeError, match=r"site\.toml") as refused:
        read_site(tmp_path / "site.toml")
    assert word in str(refused.value) and "storage" in str(refused.value)


@pytest.mark.parametrize("rule", ["aggregators", "collective-hurts", "too-few-stripes"])
def test_a_name_that_moved_is_refused_with_its_new_place(tmp_path: Path, rule: str) -> None:
    (tmp_path / "site.toml").write_text(f"[{rule}]\nranks_per_node = 64\n")
    with pytest.raises(WorkalikeError, match=r"set ranks_per_node in \[job\]") as refused:
        read_site(tmp_path / "site.toml")
    assert f"{rule}.ranks_per_node" in str(refused.value)


@pytest.mark.parametrize("value", ["true", '"64"', "64.0", "-1"])
def test_ranks_on_a_node_are_a_whole_number(tmp_path: Path, value: str) -> None:
    (tmp_path / "site.toml").write_text(f"[job]\nranks_per_node = {value}\n")
    with pytest.raises(WorkalikeError, match=r"job\.ranks_per_node"):
        read_site(tmp_path / "site.toml")


def test_the_types_are_printed() -> None:
    assert "[storage]\n# Types of file systems on disks of a node" in default_text()
    assert '\n  "overlay",\n' in default_text()


def test_a_path_with_two_file_systems_has_an_unknown_type() -> None:
    table = mount_table(
        [[("rootfs", "/"), ("ext4", "/"), ("xfs", "/d")], [("lustre", "/d"), ("autofs", "/a")]]
    )
    assert sorted(table) == [("autofs", "/a"), ("ext4", "/"), ("unknown", "/d")]
    assert mounts_of(["/d/x", "/dd/x", "x"], table) == [
        ("/d", "unknown"),
        ("/", "ext4"),
        ("unknown", "unknown"),
    ]
