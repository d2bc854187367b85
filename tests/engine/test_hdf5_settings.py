"""HDF5's settings on disk: the effect of each on the file, read back with h5py and as bytes."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, content, family, make_plan, stream
from .test_hdf5 import access, arrays, fit, has_hdf5

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")
KIB, MIB = 2**10, 2**20


def written(engine: Engine, ranks: int, settings: dict[str, Any], **more: Any) -> Path:
    """A verified file of three datasets of 512 KiB, written with these settings."""
    array_spec = arrays(
        [65536], access([[3 * ranks, [65536 // ranks], [1]]], collective=True), datasets=3, **more
    )
    plan = make_plan(ranks, [family("hdf5", hdf5=settings)], [content(arrays=[array_spec])])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": 3 * 512 * KIB, "errors": 0}.items()
    return result.path("checkpoint-1.0000.h5")


def offsets(path: Path) -> list[int]:
    with h5py.File(path) as file:
        return [file[name].id.get_offset() for name in sorted(file)]


def test_alignment_and_threshold(engine: Engine, ranks: int) -> None:
    assert any(o % (64 * KIB) for o in offsets(written(engine, ranks, {})))
    assert all(o % (64 * KIB) == 0 for o in offsets(written(engine, ranks, {"alignment": 64 * KIB})))
    above = {"alignment": 64 * KIB, "threshold": MIB}
    assert any(o % (64 * KIB) for o in offsets(written(engine, ranks, above)))


def test_a_metadata_block_holds_all_headers(engine: Engine, ranks: int) -> None:
    """The block is at the head of the file, and the datasets follow it without a gap."""
    first, *_ = offsets(written(engine, ranks, {}))
    assert first < 8 * KIB
    found = offsets(written(engine, ranks, {"metadata_block": MIB}))
    assert found[0] >= MIB
    assert [b - a for a, b in itertools.pairwise(found)] == [512 * KIB] * 2


@pytest.mark.parametrize(("libver", "superblock"), [("earliest", 0), ("v18", 2), ("v110", 3), ("latest", 3)])
def test_library_bounds(engine: Engine, ranks: int, libver: str, superblock: int) -> None:
    path = written(engine, ranks, {"libver": libver})
    # The byte after the signature.
    assert path.read_bytes()[8] == superblock


@pytest.mark.parametrize(
    ("word", "strategy"),
    [("fsm-aggr", "FSM_AGGR"), ("page", "PAGE"), ("aggr", "AGGR"), ("none", "NONE")],
)
def test_file_space(engine: Engine, ranks: int, word: str, strategy: str) -> None:
    settings: dict[str, Any] = {"file_space": word}
    if word == "page":
        settings["page_bytes"] = 65536
    with h5py.File(written(engine, ranks, settings)) as file:
        plist = file.id.get_create_plist()
        found, *_ = plist.get_file_space_strategy()
        assert found == getattr(h5py.h5f, f"FSPACE_STRATEGY_{strategy}")
        assert plist.get_file_space_page_size() == (65536 if word == "page" else 4096)


def test_filters(engine: Engine, ranks: int) -> None:
    settings = {"layout": "chunked", "chunk_bytes": 64 * KIB, "deflate": 4, "shuffle": True}
    path = written(engine, ranks, settings)
    with h5py.File(path) as file:
        for dataset in file.values():
            assert dataset.chunks == (8192,)
            assert (dataset.compression, dataset.compression_opts, dataset.shuffle) == ("gzip", 4, True)
    # An array's own chunks are filtered, too.
    with h5py.File(written(engine, ranks, {**settings, "shuffle": False}, chunk=[4096])) as file:
        dataset = next(iter(file.values()))
        assert (dataset.chunks, dataset.compression, dataset.shuffle) == ((4096,), "gzip", False)


def test_tables_of_a_mesh_are_filtered_but_one_rank_s_axes(engine: Engine, ranks: int) -> None:
    settings = {"layout": "chunked", "chunk_bytes": 4096, "deflate": 4}
    mesh = {
        "type": "rectilinear", "dimensions": 2, "parts": ranks, "nodes": 4000, "part_dims": None,
        "variables": [[2, "zone", "float64"]], "direction": "write", "collective": True,
    }  # fmt: skip
    plan = make_plan(ranks, [family("hdf5", hdf5=settings)], [content(mesh=mesh)])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    with h5py.File(next(iter(result.data.iterdir()))) as file:
        found: dict[str, str | None] = {}
        file.visititems(lambda name, item: found.update({name: getattr(item, "compression", "group")}))
    tables = [name for name, compression in found.items() if compression == "gzip"]
    plain = [name for name, compression in found.items() if compression is None]
    assert len(tables) == 2 and len(plain) >= 1, found
    alone = make_plan(ranks, [family("hdf5", hdf5=settings)], [content(mesh={**mesh, "collective": False})])
    if ranks > 1:
        assert "need collective writes" in engine(alone, check=False).refusal


@pytest.mark.parametrize(
    "settings",
    [{"layout": "chunked"}, {"libver": "latest"}, {"metadata_block": 4096}, {"driver": "serial"}],
    ids=str,
)
def test_typhonio_takes_no_settings_that_it_would_ignore(engine: Engine, settings: dict[str, Any]) -> None:
    mesh = {
        "type": "point", "dimensions": 2, "parts": 1, "nodes": 100, "part_dims": None,
        "variables": [[1, "node", "float64"]], "direction": "write", "collective": True,
    }  # fmt: skip
    plan = make_plan(1, [family("typhonio", level="mpiio", hdf5=settings)], [content(mesh=mesh)])
    result = engine(plan, check=False)
    assert result.code == 2
    assert "takes alignment, threshold and MPI-IO hints" in result.refusal
    assert not result.files()


def test_deflate_makes_compressible_data_small(engine: Engine, ranks: int) -> None:
    array_spec = arrays([65536], access([[ranks, [65536 // ranks], [1]]], collective=True))
    sizes = []
    for settings in ({"layout": "chunked"}, {"layout": "chunked", "deflate": 1}):
        plan = make_plan(
            ranks,
            [family("hdf5", hdf5=settings)],
            [content(arrays=[array_spec])],
            payload={"compressibility": 0.75},
        )
        result = engine(plan, "--keep", "--verify")
        assert result.dumps[0]["bytes_written"] == 512 * KIB
        sizes += result.files().values()
    assert sizes[0] > 512 * KIB
    assert sizes[1] < 0.4 * sizes[0]


@pytest.mark.parametrize(
    "settings", [{"collective_metadata": True}, {"individual_io": True}, {"sieve_buffer": MIB}], ids=str
)
def test_settings_that_leave_no_mark(engine: Engine, ranks: int, settings: dict[str, Any]) -> None:
    """They change how a file is written, but nothing in it (the unit tests check the property lists).

    The whole files may differ, because datasets store the second of their creation.
    """
    tuned, plain = written(engine, ranks, settings), written(engine, ranks, {})
    assert tuned.stat().st_size == plain.stat().st_size
    with h5py.File(tuned) as tuned_file, h5py.File(plain) as plain_file:
        assert list(tuned_file) == list(plain_file) != []
        for name in tuned_file:
            assert tuned_file[name].id.get_offset() == plain_file[name].id.get_offset()
            assert tuned_file[name][...].tobytes() == plain_file[name][...].tobytes()


@pytest.mark.parametrize(
    ("settings", "part", "words"),
    [
        ({"layout": "chunked", "deflate": 1}, {"arrays": [False]}, "need collective writes"),
        ({"layout": "chunked", "shuffle": True}, {"streams": [False]}, "need collective writes"),
        ({"layout": "chunked", "deflate": 1}, {"fit": True}, "filters change the bytes"),
        ({"deflate": 1}, {"arrays": [True]}, "filters go with layout chunked"),
        ({"page_bytes": 65536}, {"arrays": [True]}, "page_bytes goes with file_space page"),
        ({"file_space": "paged"}, {"arrays": [True]}, "use one of standard, fsm-aggr, page"),
        ({"libver": "v19"}, {"arrays": [True]}, "use one of earliest"),
        ({"metadata_block": 2**40}, {"arrays": [True]}, "metadata_block"),
        ({"deflate": 10}, {"arrays": [True]}, "deflate"),
        ({"driver": "serial"}, {"arrays": [False]}, "ranks that write to one file need MPI-IO"),
        ({"driver": "serial"}, {"fit": True}, "without MPI-IO nothing is counted at level mpiio"),
        ({"driver": "serial", "subfiling": True}, {"arrays": [False]}, "go with driver mpi only"),
        ({"driver": "sec2"}, {"arrays": [False]}, "use one of mpi, serial"),
    ],
)
def test_impossible_settings_are_refused(
    engine: Engine, settings: dict[str, Any], part: dict[str, Any], words: str
) -> None:
    """One line before anything is written: by the engine under mpiexec, and by --check without MPI."""
    if "fit" in part:
        content_spec = content(fit=fit(10**6))
        level = "mpiio"
    elif "streams" in part:
        content_spec, level = content(stream([[4, 4096]])), "h5d"
    else:
        content_spec = content(arrays=[arrays([64], access([[4, [16], [1]]], collective=part["arrays"][0]))])
        level = "h5d"
    plan = make_plan(4, [family("hdf5", hdf5=settings, level=level)], [content_spec])
    result = engine(plan, check=False)
    assert result.code == 2
    assert words in result.refusal
    assert not result.files()
    checked = engine(plan, "--check", processes=0, check=False)
    assert checked.code == 2
    assert words in checked.stderr
    assert len(checked.stderr.splitlines()) == 1


def test_independent_filters_are_fine_alone(engine: Engine) -> None:
    array_spec = arrays([64], access([[4, [16], [1]]]))
    settings = {"layout": "chunked", "deflate": 1}
    result = engine(make_plan(1, [family("hdf5", hdf5=settings)], [content(arrays=[array_spec])]), "--verify")
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"element": 10, "members": 3}, "cannot be divided into this many equal members"),
        ({"members": 0}, "members"),
        ({"datasets": 3, "multi": True}, "multiples of the 3 datasets"),
        ({"datasets": 2, "multi": True, "direction": "read"}, "several datasets must write"),
    ],
)
def test_impossible_arrays_are_refused(engine: Engine, more: dict[str, Any], words: str) -> None:
    direction = more.pop("direction", "write")
    array_spec = arrays([64], access([[4, [16], [1]]], direction), **more)
    result = engine(make_plan(1, [family("hdf5")], [content(arrays=[array_spec])]), check=False)
    assert result.code == 2
    assert words in result.refusal
