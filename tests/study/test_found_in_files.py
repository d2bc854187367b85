"""Settings as found in the data files of trials: layouts and settings of HDF5, read back before the files are removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from needed import needs_engine
from studies import WORKLOAD, trials_in, write_study

from workalike.darshan import LogBuilder
from workalike.launch.run import RunOptions, run_plan
from workalike.plan.plan_schema import PlanHdf5
from workalike.study import trial as trial_module
from workalike.study.driver import DriverOptions, load, run_study
from workalike.study.found import aggregators_in, aggregators_not_taken
from workalike.study.found_hdf5 import hdf5_found
from workalike.study.layouts import cephfs
from workalike.study.layouts.base import Layout
from workalike.study.layouts.plain import Plain
from workalike.study.study_file import read_study

MIB = 2**20
HDF5_WORKLOAD = """\
workalike: 2
ranks: 2
families:
- role: checkpoint
  interface: hdf5
  level: h5d
  schedule: {count: 1}
  content:
    arrays:
    - datasets: 2
      element: 8
      dims: [65536]
      access:
      - {direction: write, collective: true, slabs: [{count: 4, shape: [32768]}]}
"""


def written(path: Path, **options: Any) -> Path:
    """A file with one dataset of 1 MiB, or as the options of `create_dataset` say."""
    with h5py.File(path, "w", **options.pop("file", {})) as file:
        file.create_dataset("d", **{"data": np.zeros((1024, 128)), **options})
    return path


def asked(**settings: Any) -> PlanHdf5:
    return PlanHdf5(**settings)


def test_alignment_is_seen_in_where_data_lie(tmp_path: Path) -> None:
    plain = written(tmp_path / "plain.h5")
    aligned = written(tmp_path / "aligned.h5", file={"alignment_threshold": 1, "alignment_interval": MIB})
    found = hdf5_found(aligned, asked(alignment=MIB))
    assert (found.values, found.not_taken, found.not_readable) == ({"alignment": MIB}, [], [])
    (reason,) = hdf5_found(plain, asked(alignment=MIB)).not_taken
    assert reason.startswith("tunable.alignment 1048576 asked for, data at byte ")
    # Objects below the threshold are not aligned: such a file tells nothing.
    found = hdf5_found(plain, asked(alignment=MIB, threshold=2 * MIB))
    assert (found.not_taken, found.not_readable) == ([], ["tunable.threshold", "tunable.alignment"])


@pytest.mark.parametrize(
    ("options", "settings", "reason"),
    [
        ({"chunks": (64, 128)}, {"layout": "chunked", "chunk_bytes": 65536}, None),
        ({"chunks": (63, 128)}, {"layout": "chunked", "chunk_bytes": 65536}, None),
        ({"chunks": (1024, 128)}, {"layout": "chunked", "chunk_bytes": 16 * MIB}, None),
        (
            {"chunks": (65, 128)},
            {"layout": "chunked", "chunk_bytes": 65536},
            "chunk_bytes 65536 asked for, 66560",
        ),
        (
            {"chunks": (16, 128)},
            {"layout": "chunked", "chunk_bytes": 65536},
            "chunk_bytes 65536 asked for, 16384",
        ),
        ({}, {"layout": "chunked"}, "layout chunked asked for, contiguous"),
        ({"chunks": (64, 128), "compression": 4}, {"layout": "chunked", "deflate": 4}, None),
        (
            {"chunks": (64, 128), "compression": 1},
            {"layout": "chunked", "deflate": 4},
            "deflate 4 asked for, 1",
        ),
        ({"chunks": (64, 128), "shuffle": True}, {"layout": "chunked", "shuffle": True}, None),
        ({"chunks": (64, 128)}, {"layout": "chunked", "shuffle": True}, "shuffle True asked for, False"),
        ({"file": {"libver": "earliest"}}, {"libver": "v18"}, "libver v18 asked for, superblock 0"),
        ({"file": {"libver": ("v108", "v108")}}, {"libver": "v18"}, None),
        ({"file": {"libver": ("v108", "v108")}}, {"libver": "v110"}, "libver v110 asked for, superblock 2"),
        ({"file": {"libver": "latest"}}, {"libver": "latest"}, None),
        ({"file": {"fs_strategy": "page"}}, {"file_space": "page"}, None),
        (
            {"file": {"fs_strategy": "page", "fs_page_size": 8192}},
            {"file_space": "page", "page_bytes": 8192},
            None,
        ),
        (
            {"file": {"fs_strategy": "page", "fs_page_size": 8192}},
            {"file_space": "page", "page_bytes": 16384},
            "page_size 16384 asked for, 8192",
        ),
        ({}, {"file_space": "page"}, "file_space page asked for, fsm-aggr"),
    ],
)
def test_what_a_file_tells(
    tmp_path: Path, options: dict[str, Any], settings: dict[str, Any], reason: str | None
) -> None:
    found = hdf5_found(written(tmp_path / "f.h5", **options), asked(**settings))
    assert found.not_readable == []
    if reason is None:
        assert found.not_taken == [] and found.values
    else:
        assert any(f"tunable.{reason} found" in line for line in found.not_taken), found.not_taken


def test_what_a_file_does_not_tell_is_named(tmp_path: Path) -> None:
    settings = asked(metadata_block=MIB, sieve_buffer=MIB, driver="serial")
    found = hdf5_found(written(tmp_path / "f.h5"), settings)
    assert found.not_readable == [
        "tunable.metadata_block",
        "tunable.sieve_buffer",
        "tunable.driver",
    ]
    together = asked(collective_metadata=True, individual_io=True)
    assert hdf5_found(tmp_path / "f.h5", together).not_readable == [
        "tunable.collective_metadata",
        "tunable.individual_io",
    ]
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(written(tmp_path / "g.h5").read_bytes()[:200])
    found = hdf5_found(damaged, asked(alignment=MIB))
    assert (found.values, found.not_taken, found.not_readable) == ({}, [], ["tunable.alignment"])
    assert hdf5_found(tmp_path / "missing", asked()).not_readable == []


def test_ranks_that_write_metadata_alone_are_no_aggregators(tmp_path: Path) -> None:
    """Two ranks write the data of a file, two more its metadata."""
    builder = LogBuilder(nprocs=4, run_time=10.0)
    for rank, size in enumerate((10 * MIB, 8 * MIB, 2048, 512)):
        builder.posix("/data/shared", rank=rank, OPENS=1, WRITES=2, BYTES_WRITTEN=size)
    log = builder.write(tmp_path / "replica.darshan")
    assert aggregators_in(log, is_hdf5=True) == 2
    assert aggregators_in(log) == 4


@pytest.mark.mpi
def test_aggregators_of_arrays_in_hdf5(tmp_path: Path) -> None:
    path = write_study(
        tmp_path,
        fixed={"time_scale": 0},
        factors={"aggregators": {"set": "tunable.cb_nodes", "levels": [1, 3]}},
        capture=True,
        blocks=1,
        a_a=False,
    )
    wide = HDF5_WORKLOAD.replace("ranks: 2", "ranks: 4").replace("[65536]", "[524288]")
    (tmp_path / "w.yaml").write_text(wide.replace("count: 4, shape: [32768]", "count: 8, shape: [131072]"))
    run_study(read_study(path), DriverOptions(tmp_path / "out"))
    rows = {row["aggregators"]: row for row in trials_in(tmp_path / "out")}
    assert [rows[n]["found"]["ranks_that_write_to_a_file"] for n in (1, 3)] == [1, 3]
    assert [rows[n]["state"] for n in (1, 3)] == ["ok", "ok"]
    assert "not_readable" not in rows[1]["found"]
    (single, _) = load(read_study(path)).settings
    assert aggregators_not_taken(single, 2) == ["cb_nodes 1 asked for, 2 ranks found that wrote to one file"]


@needs_engine
def test_settings_of_hdf5_in_a_study(tmp_path: Path) -> None:
    path = write_study(
        tmp_path,
        fixed={"time_scale": 0, "tunable.metadata_block": "1 MiB"},
        factors={"alignment": {"set": "tunable.alignment", "levels": {"none": None, "64KiB": "64 KiB"}}},
        blocks=1,
        a_a=False,
    )
    (tmp_path / "w.yaml").write_text(HDF5_WORKLOAD)
    run_study(read_study(path), DriverOptions(tmp_path / "out"))
    rows = {row["alignment"]: row for row in trials_in(tmp_path / "out")}
    assert [row["state"] for row in rows.values()] == ["ok", "ok"], [row["reasons"] for row in rows.values()]
    assert rows["64KiB"]["found"]["hdf5_settings"] == {"alignment": 65536}
    assert "hdf5_settings" not in rows["none"]["found"]
    assert all(row["found"]["not_readable"] == ["tunable.metadata_block"] for row in rows.values())
    assert not (tmp_path / "out" / "data").exists()


class Striped(Plain):
    """A file system that takes every layout for its folders, and gives files stripes of its own."""

    name = "striped"

    def __init__(self, of_files: Layout) -> None:
        self._of_files = of_files

    def apply(self, folder: Path, layout: Layout) -> None:
        pass

    def read(self, path: Path) -> Layout | None:
        return self._of_files if path.is_file() else Layout(stripe_count=4, stripe_size=MIB)


@pytest.fixture
def striped(monkeypatch: pytest.MonkeyPatch) -> Callable[[Layout], None]:
    def use(of_files: Layout) -> None:
        kind = Striped(of_files)
        monkeypatch.setattr(trial_module, "kind_of", lambda *_: kind)
        monkeypatch.setattr("workalike.study.places.kind_of", lambda *_: kind)

    return use


@needs_engine
@pytest.mark.parametrize(
    ("fixed", "of_files", "state", "reason"),
    [
        ({"layout.stripe_count": 4}, Layout(4, MIB), "ok", None),
        # The folder says 4, as asked for; the file that was written has 1.
        ({"layout.stripe_count": 4}, Layout(1, MIB), "not-taken", "layout: stripe_count 4, found 1"),
        (
            {"tunable.stripe_count": 4},
            Layout(1, MIB),
            "not-taken",
            "hint striping_factor 4 asked for, 1 found",
        ),
        (
            {"hint.striping_unit": 4096},
            Layout(1, MIB),
            "not-taken",
            "hint striping_unit 4096 asked for, 1048576 found",
        ),
        ({"tunable.stripe_count": 4}, Layout(4, MIB), "ok", None),
        ({"tunable.stripe_count": -1}, Layout(4, MIB), "ok", None),
    ],
)
def test_the_layout_of_a_trial_is_that_of_its_files(
    tmp_path: Path,
    striped: Callable[[Layout], None],
    fixed: dict[str, object],
    of_files: Layout,
    state: str,
    reason: str | None,
) -> None:
    striped(of_files)
    path = write_study(
        tmp_path, fixed={"time_scale": 0, **fixed}, factors={"ranks": [2]}, blocks=1, a_a=False
    )
    run_study(read_study(path), DriverOptions(tmp_path / "out"))
    (row,) = trials_in(tmp_path / "out")
    assert (row["state"], row["reasons"]) == (state, [reason] if reason else [])
    assert row["found"]["layout"]["stripe_count"] == of_files.stripe_count
    assert "not_readable" not in row["found"]
    assert not (tmp_path / "out" / "data").exists()


@needs_engine
def test_the_layout_of_files_in_folders(tmp_path: Path, striped: Callable[[Layout], None]) -> None:
    """They are looked at, and nothing is left, though the run itself has deleted the older files."""
    striped(Layout(1, MIB))
    path = write_study(
        tmp_path,
        fixed={"time_scale": 0, "layout.stripe_count": 4},
        factors={"ranks": [2]},
        blocks=1,
        a_a=False,
    )
    in_folders = "  sharing: per-rank\n  folders: {files: 1, per_rank: true}\n  keep: 1\n"
    (tmp_path / "w.yaml").write_text(WORKLOAD.replace("  sharing: shared\n", in_folders))
    run_study(read_study(path), DriverOptions(tmp_path / "out"))
    (row,) = trials_in(tmp_path / "out")
    assert (row["state"], row["reasons"]) == ("not-taken", ["layout: stripe_count 4, found 1"])
    assert not (tmp_path / "out" / "data").exists()


@needs_engine
def test_files_that_a_killed_driver_left_are_no_obstacle(tmp_path: Path) -> None:
    """It was killed after a run, before its files were removed."""
    path = write_study(tmp_path, fixed={"time_scale": 0}, factors={"ranks": [2]}, blocks=1, a_a=False)
    file = read_study(path)
    (prepared,) = load(file).settings
    place = trial_module.Workplace(tmp_path, "abc")
    place.prepare()
    left = place.folder / "trial-000000"
    run_plan(prepared.plan, RunOptions(left, tmp_path / "record", keep=True, quiet=True))
    assert list(left.iterdir())
    trial = trial_module.Trial(0, 0, 0, prepared)
    finished = trial_module.perform(file, trial, place, tmp_path / "scratch")
    assert finished.trial["state"] == "ok", finished.trial["reasons"]
    assert place.leave()


def test_cephfs_gives_new_files_its_default_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without a layout of its own: a file made in it tells what files get, and is removed."""
    text = b"stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data"
    asked_of: list[str] = []

    def getxattr(path: Any, name: str) -> bytes:
        asked_of.append(name)
        if name == cephfs.FOLDER:
            raise OSError
        assert Path(path).is_file() and Path(path).parent == tmp_path
        return text

    monkeypatch.setattr(os, "getxattr", getxattr)
    assert cephfs.CephFs().read(tmp_path) == Layout(1, 4 * MIB, 4 * MIB, "data")
    assert asked_of == [cephfs.FOLDER, cephfs.FILE]
    assert list(tmp_path.iterdir()) == []
