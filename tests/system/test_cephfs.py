"""Replicas on a real parallel file system: the record agrees with files, other clients, and objects on the servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest

from .support import read_json, recorded_sizes, sizes_in, wait_until, workalike
from .testbed import CephBed, needs_testbed

pytestmark = pytest.mark.system

RANKS = 4
MIB = 2**20
SHARED_DUMP = RANKS * 16 * MIB
RANK_FILE = 12 * MIB + 12345

SHARED = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: mpiio
  schedule: {{count: 3, first: 1 s, every: 10 s}}
  content:
    streams:
    - {{direction: write, sizes: [16/rank x 1 MiB], collective: true}}
"""
PER_RANK = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: posix
  sharing: per-rank
  schedule: {{count: 2, first: 1 s, every: 10 s}}
  content:
    fsyncs: {RANKS}
    streams:
    - {{direction: write, sizes: [12/rank x 1 MiB, 1/rank x 12345 B]}}
"""
HDF5 = f"""\
workalike: 2
ranks: {RANKS}
families:
- role: checkpoint
  interface: hdf5
  level: h5d
  schedule: {{count: 2, first: 1 s, every: 10 s}}
  content:
    arrays:
    - dims: [{RANKS}, 512, 1024]
      access:
      - {{direction: write, collective: true, slabs: [{{count: {RANKS}, shape: [1, 512, 1024]}}]}}
"""
DATASET = RANKS * 512 * 1024 * 8


@pytest.fixture(scope="module")
def bed() -> Iterator[CephBed]:
    needs_testbed()
    with CephBed() as started:
        yield started


@pytest.fixture(scope="module")
def second(bed: CephBed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mount of another client, which has no cache of what the ranks wrote."""
    folder = tmp_path_factory.mktemp("second")
    bed("client", folder)
    return folder


def perform(bed: CephBed, workload: str, folder: Path, name: str) -> dict[str, Any]:
    """Run with --keep and --verify."""
    (folder / "app.yaml").write_text(workload)
    done = workalike(
        *("run", "app.yaml", "--dir", bed.mount / name, "-o", "out", "--time-scale", "0"),
        *("--keep", "--verify"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = read_json(folder / "out/run.json")
    assert record["verified"]["errors"] == 0
    assert record["environment"]["file_system"] in ("fuse", "fuse.ceph-fuse", "ceph")
    return record


def stored(bed: CephBed, folder: Path) -> dict[str, int]:
    """Size of each file's objects on the servers."""
    objects = bed("objects")
    return {path.name: sum(objects.get(str(path.stat().st_ino), {}).values()) for path in folder.iterdir()}


def test_shared_file_over_all_daemons(bed: CephBed, second: Path, tmp_path: Path) -> None:
    before = bed("counters")
    record = perform(bed, SHARED, tmp_path, "shared")
    assert [d["bytes_written"] for d in record["dumps"]] == [SHARED_DUMP] * 3
    assert record["verified"]["bytes"] == 3 * SHARED_DUMP
    expected = {f"checkpoint-1.{i:04}.dat": SHARED_DUMP for i in range(3)}
    assert recorded_sizes(record) == sizes_in(bed.mount / "shared") == sizes_in(second / "shared") == expected
    assert set(stored(bed, second / "shared").values()) == {SHARED_DUMP}
    written = [counters["written"] - before[n]["written"] for n, counters in bed("counters").items()]
    # 16 objects a file; a hash decides where each lies.
    assert len(written) == 4 and min(written) >= SHARED_DUMP / 10, written
    assert sum(written) >= 3 * SHARED_DUMP


def test_file_per_rank(bed: CephBed, second: Path, tmp_path: Path) -> None:
    record = perform(bed, PER_RANK, tmp_path, "per-rank")
    expected = {f"checkpoint-1.{i:04}.r{r:06}.dat": RANK_FILE for i in range(2) for r in range(RANKS)}
    assert recorded_sizes(record) == sizes_in(second / "per-rank") == expected
    assert set(stored(bed, second / "per-rank").values()) == {RANK_FILE}


def test_hdf5_file(bed: CephBed, second: Path, tmp_path: Path) -> None:
    record = perform(bed, HDF5, tmp_path, "hdf5")
    assert [d["bytes_written"] for d in record["dumps"]] == [DATASET] * 2
    assert record["verified"]["bytes"] == 2 * DATASET
    assert recorded_sizes(record) == sizes_in(second / "hdf5")
    for path in (second / "hdf5").iterdir():
        with h5py.File(path, locking=False) as file:
            datasets = [node for node in file.values() if isinstance(node, h5py.Dataset)]
            assert sum(dataset.nbytes for dataset in datasets) == DATASET
        assert DATASET < path.stat().st_size < DATASET + MIB


def test_without_keep_nothing_is_left(bed: CephBed, tmp_path: Path) -> None:
    before = bed("objects")
    (tmp_path / "app.yaml").write_text(PER_RANK)
    done = workalike(
        *("run", "app.yaml", "--dir", bed.mount / "gone", "-o", "out", "--time-scale", "0"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert list((bed.mount / "gone").iterdir()) == []
    # CephFS removes the objects of a removed file when it has time.
    wait_until(lambda: set(bed("objects")) <= set(before), 60, "the objects' removal")
