"""HDF5: datasets, hyperslabs, growing files, and a fit that moves the stated bytes, including metadata."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, find_engine, make_plan, sharing, stream

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")


def has_hdf5() -> bool:
    path = find_engine()
    if path is None:
        return False
    listed = subprocess.run(
        [str(path), "--list-backends"], capture_output=True, text=True, check=False
    ).stdout
    return "hdf5" in listed


pytestmark = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")


def arrays(dims: list[int], *access: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "datasets": 1,
        "element": 8,
        "dims": dims,
        "chunk": None,
        "extendible": False,
        "access": list(access),
        **more,
    }


def access(
    entries: list[Any], direction: str = "write", collective: bool = False, ranks: Any = "all"
) -> dict[str, Any]:
    return {"ranks": ranks, "direction": direction, "collective": collective, "entries": entries}


def fit(size: int, **more: Any) -> dict[str, Any]:
    return {"bytes": size, "datasets": 43, "element": 8, "collective": True, "ops": None, **more}


def written(dataset: Any) -> Any:
    """The elements that were written: the payload's doubles are never zero."""
    return dataset[...].view("u8") != 0 if dataset.dtype == np.float64 else dataset[...] != 0


@pytest.mark.parametrize("collective", [False, True])
def test_arrays_tile_their_datasets(engine: Engine, ranks: int, collective: bool) -> None:
    array_spec = arrays(
        [8, 6, 4], access([[2 * 3 * 16, [1, 6, 2], [1, 1, 1]]], collective=collective), datasets=3
    )
    plan = make_plan(ranks, [family("hdf5")], [content(arrays=[array_spec])], [dump(0), dump(1)])
    result = engine(plan, "--keep", "--verify")
    assert len(result.files()) == 2
    with h5py.File(result.path("checkpoint-1.0001.h5")) as file:
        names = sorted(file)
        assert len(names) == 3
        for name in names:
            assert file[name].shape == (8, 6, 4)
            assert file[name].dtype == np.float64
            assert file[name].chunks is None
            assert written(file[name]).all()
    (first, _) = result.dumps
    c = first["counters"]
    assert c["WRITES"] == 2 * 3 * 16
    assert c["COLL_WRITES"] == (c["WRITES"] if collective else 0)
    assert first["bytes_written"] == first["levels"]["h5d"]["bytes_written"] == 2 * 3 * 8 * 6 * 4 * 8
    # The data alone at MPI-IO level, and some metadata.
    assert 0 < first["levels"]["mpiio"]["bytes_written"] - first["bytes_written"] < 20000
    assert result.end["verified"].items() >= {"bytes": 2 * first["bytes_written"], "errors": 0}.items()


def test_a_dump_reads_back_the_datasets_of_its_places(engine: Engine, ranks: int) -> None:
    """Datasets that a dump leaves alone keep their place: the second and the fourth of four are read back."""
    rows = [8, 12, 20, 28]
    write = [arrays([n, 4], access([[ranks, [4, 4], [1, 1]]])) for n in rows]
    read = [
        arrays([n, 4], *([access([[1, [n, 4], [1, 1]]], "read")] if k % 2 else []))
        for k, n in enumerate(rows)
    ]
    again = [
        arrays([n, 4], *([access([[ranks, [4, 4], [1, 1]]])] if k == 2 else [])) for k, n in enumerate(rows)
    ]
    plan = make_plan(
        ranks,
        [family("hdf5", lifetime="reused")],
        [content(arrays=write), content(arrays=read), content(arrays=again)],
        [dump(k, content=k, file=0) for k in range(3)],
    )
    result = engine(plan, "--keep", "--verify")
    first, second, third = result.dumps
    assert first["bytes_written"] == 4 * ranks * 4 * 4 * 8
    assert second["bytes_read"] == (12 + 28) * 4 * 8
    assert third["bytes_written"] == ranks * 4 * 4 * 8
    assert result.end["verified"]["errors"] == 0


def test_selections_lie_where_the_rule_says(engine: Engine) -> None:
    """Tile t of a grid in row-major order; a stride of s interleaves s-fold."""
    cases: list[tuple[list[int], list[int], list[int], int, Any]] = [
        ([6, 8], [3, 4], [1, 1], 1, np.s_[0:3, 0:4]),
        ([6, 8], [3, 4], [2, 1], 1, np.s_[0:6:2, 0:4]),
        ([6, 8], [3, 4], [2, 2], 1, np.s_[0:6:2, 0:8:2]),
    ]
    for dims, count, stride, operations, place in cases:
        array_spec = arrays(dims, access([[operations, count, stride]]))
        result = engine(make_plan(1, [family("hdf5")], [content(arrays=[array_spec])]), "--keep")
        with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
            seen = written(next(iter(file.values())))
        wanted = np.zeros(dims, bool)
        wanted[place] = True
        assert (seen == wanted).all(), (count, stride)


def test_strided_slabs_cover_all(engine: Engine, ranks: int) -> None:
    array_spec = arrays([8, 12], access([[8, [4, 3], [2, 4]]]))
    result = engine(make_plan(ranks, [family("hdf5")], [content(arrays=[array_spec])]), "--keep", "--verify")
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        assert written(next(iter(file.values()))).all()
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("element", [1, 2, 4, 8, 24])
def test_elements(engine: Engine, element: int) -> None:
    array_spec = arrays([100], access([[4, [25], [1]]]), element=element)
    result = engine(make_plan(1, [family("hdf5")], [content(arrays=[array_spec])]), "--keep", "--verify")
    assert result.dumps[0]["bytes_written"] == 100 * element
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        assert next(iter(file.values())).dtype.itemsize == element
    assert result.end["verified"].items() >= {"bytes": 100 * element, "errors": 0}.items()


def test_extendible_array_grows_with_each_dump(engine: Engine, ranks: int) -> None:
    array_spec = arrays([4, 10], access([[4, [1, 10], [1, 1]]]), extendible=True, chunk=[2, 10])
    read = arrays([4, 10], access([[4, [1, 10], [1, 1]]], "read"), extendible=True, chunk=[2, 10])
    contents = [content(arrays=[array_spec], flushes=ranks), content(arrays=[read])]
    dumps = [dump(i, file=0) for i in range(3)] + [dump(3, file=0, content=1)]
    plan = make_plan(ranks, [family("hdf5", lifetime="appended")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        (dataset,) = file.values()
        assert dataset.shape == (12, 10)
        assert dataset.maxshape == (None, 10)
        assert dataset.chunks == (2, 10)
        assert written(dataset).all()
    assert [d["counters"]["FLUSHES"] for d in result.dumps] == [ranks] * 3 + [0]
    assert [d["counters"]["OPENS"] for d in result.dumps] == [ranks, 0, 0, 0]
    assert result.dumps[3]["bytes_read"] == 320
    assert result.end["verified"].items() >= {"bytes": 3 * 320, "errors": 0}.items()


def test_extendible_array_grows_in_its_last_dimension(engine: Engine, ranks: int) -> None:
    """Time is the last dimension of Meep's files."""
    grows = {"extendible": True, "unlimited": 2, "chunk": [4, 10, 1]}
    slabs = [[4, [1, 10, 1], [1, 1, 1]]]
    contents = [
        content(arrays=[arrays([4, 10, 1], access(slabs), **grows)]),
        content(arrays=[arrays([4, 10, 1], access(slabs, "read"), **grows)]),
    ]
    dumps = [dump(i, file=0) for i in range(3)] + [dump(3, file=0, content=1)]
    plan = make_plan(ranks, [family("hdf5", lifetime="appended")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        (dataset,) = file.values()
        assert (dataset.shape, dataset.maxshape) == ((4, 10, 3), (4, 10, None))
        assert written(dataset).all()
        first, second, third = (dataset[..., time] for time in range(3))
        assert (first != second).any() and (second != third).any()
    assert result.dumps[3]["bytes_read"] == 320
    assert result.end["verified"].items() >= {"bytes": 3 * 320, "errors": 0}.items()


@pytest.mark.parametrize("lifetime", ["per-dump", "appended", "reused"])
@pytest.mark.parametrize("layout", ["contiguous", "chunked"])
def test_streams_become_a_dataset_of_bytes(engine: Engine, ranks: int, lifetime: str, layout: str) -> None:
    family_spec = family(
        "hdf5",
        lifetime=lifetime,
        hdf5={"layout": layout, "chunk_bytes": 4096, "alignment": 0, "threshold": 0},
    )
    size = 3 * ranks * 5000
    streams = [stream([[2 * ranks, 5000]], collective=True), stream([[ranks, 5000]], base=2 * ranks * 5000)]
    single = lifetime != "per-dump"
    dumps = [
        dump(i, file=0 if single else i, base=i * size if lifetime == "appended" else 0) for i in range(3)
    ]
    result = engine(make_plan(ranks, [family_spec], [content(*streams)], dumps), "--keep", "--verify")
    assert len(result.files()) == (1 if single else 3)
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        dataset = file["extents"]
        assert dataset.shape == (3 * size if lifetime == "appended" else size,)
        assert np.count_nonzero(dataset[...]) > 0.99 * dataset.size
    assert [d["bytes_written"] for d in result.dumps] == [size] * 3
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("lifetime", ["per-dump", "appended", "reused"])
@pytest.mark.parametrize("collective", [False, True])
def test_a_fit_moves_its_bytes(engine: Engine, ranks: int, lifetime: str, collective: bool) -> None:
    """Within 0.1 % at MPI-IO level for dumps from 100 KB on, metadata included."""
    sizes = [100_000, 160_000, 130_000, 1_000_000, 5_000_000, 200_000]
    family_spec = family("hdf5", lifetime=lifetime, level="mpiio")
    contents = [content(fit=fit(size, collective=collective), opens=ranks) for size in sizes]
    single = lifetime != "per-dump"
    dumps = [dump(i, content=i, file=0 if single else i) for i in range(len(sizes))]
    result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
    for size, d in zip(sizes, result.dumps, strict=True):
        assert abs(d["bytes_written"] - size) <= 0.001 * size, (size, d["bytes_written"])
        assert d["bytes_written"] == d["levels"]["mpiio"]["bytes_written"]
        assert d["payload_bytes"] < size
    total = sum(d["bytes_written"] for d in result.dumps)
    assert abs(total - sum(sizes)) <= 0.001 * sum(sizes)
    assert result.end["verified"]["errors"] == 0
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        datasets: list[Any] = []
        file.visititems(lambda _, item: datasets.append(item) if isinstance(item, h5py.Dataset) else None)
    assert len(datasets) == 43 * (len(sizes) if single else 1)
    assert not [name for name in result.files() if "calibration" in name]


@pytest.mark.parametrize(
    ("dumps", "size", "datasets", "most"), [(100, 248_580, 43, 8), (1060, 40_000, 1, 1000)]
)
def test_a_fit_of_many_dumps_in_one_file_does_not_oscillate(
    engine: Engine, dumps: int, size: int, datasets: int, most: int
) -> None:
    """Also beyond the 1024 dumps that are rehearsed, where a dump costs the library what those before it did."""
    family_spec = family("hdf5", lifetime="appended", level="mpiio")
    contents = [content(fit=fit(size, datasets=datasets))]
    plan = make_plan(2, [family_spec], contents, [dump(i, file=0) for i in range(dumps)])
    found = [d["bytes_written"] for d in engine(plan).dumps]
    assert sum(found) == pytest.approx(dumps * size, rel=0.001)
    assert max(abs(number - size) for number in found[64:]) <= most


@pytest.mark.parametrize("flushes", [0, 1])
def test_a_chunked_fit(engine: Engine, ranks: int, flushes: int) -> None:
    sizes = [1_500_000, 1_000_000, 2_000_000, 2_000_000, 1_750_000]
    settings = {"layout": "chunked", "chunk_bytes": 8192, "alignment": 0, "threshold": 0}
    for lifetime in ("per-dump", "appended"):
        family_spec = family("hdf5", lifetime=lifetime, level="mpiio", hdf5=settings)
        contents = [content(fit=fit(size), opens=ranks, flushes=flushes * ranks) for size in sizes]
        dumps = [dump(i, content=i, file=0 if lifetime == "appended" else i) for i in range(len(sizes))]
        result = engine(make_plan(ranks, [family_spec], contents, dumps), "--keep", "--verify")
        total = sum(d["bytes_written"] for d in result.dumps)
        assert abs(total - sum(sizes)) <= 0.001 * sum(sizes)
        assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("mode", ["per-rank", "groups", "subset", "root"])
def test_a_fit_in_other_sharings(engine: Engine, mode: str) -> None:
    ranges: Any = {"subset": [[1, 3, 1]], "root": [[2, 2, 1]]}.get(mode, "all")
    family_spec = family(
        "hdf5", level="mpiio", sharing=sharing(mode, ranges, files=2 if mode == "groups" else 1)
    )
    plan = make_plan(
        4, [family_spec], [content(fit=fit(2_000_000, datasets=5, collective=False))], [dump(0), dump(1)]
    )
    result = engine(plan, "--verify")
    for d in result.dumps:
        assert abs(d["bytes_written"] - 2_000_000) <= 2000
    assert result.end["verified"]["errors"] == 0


def test_a_fit_at_dataset_level_is_taken_as_it_stands(engine: Engine, ranks: int) -> None:
    plan = make_plan(ranks, [family("hdf5", level="h5d")], [content(fit=fit(100_000))])
    assert engine(plan).dumps[0]["bytes_written"] == 100_000


def test_null_counts_a_fit_as_it_stands(engine: Engine, ranks: int) -> None:
    plan = make_plan(ranks, [family("hdf5", level="mpiio")], [content(fit=fit(123_457))])
    (d,) = engine(plan, "--backend", "null", processes=0).dumps
    assert d["bytes_written"] == 123_457
    assert d["counters"]["WRITES"] == 43 * ranks
    # Other interfaces can perform a fit, too.
    (d,) = engine(plan, "--backend", "posix", "--verify").dumps
    assert d["bytes_written"] == 123_457


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_arrays_without_hdf5_are_linear(engine: Engine, ranks: int, backend: str) -> None:
    array_spec = arrays([8, 8], access([[16, [2, 8], [1, 1]]]), datasets=2)
    plan = make_plan(ranks, [family("hdf5")], [content(arrays=[array_spec])])
    result = engine(plan, "--backend", backend, "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 2 * 8 * 8 * 8}
    assert result.dumps[0]["bytes_written"] == 16 * 2 * 8 * 8
    assert result.end["verified"]["errors"] == 0


def test_alignment(engine: Engine) -> None:
    settings = {"layout": "contiguous", "chunk_bytes": 4096, "alignment": 65536, "threshold": 1000}
    array_spec = arrays([1000], access([[1, [1000], [1]]]), datasets=3)
    result = engine(make_plan(1, [family("hdf5", hdf5=settings)], [content(arrays=[array_spec])]), "--keep")
    with h5py.File(result.path("checkpoint-1.0000.h5")) as file:
        assert all(dataset.id.get_offset() % 65536 == 0 for dataset in file.values())


def test_a_flipped_byte_in_a_dataset(engine: Engine, ranks: int) -> None:
    array_spec = arrays([16, 16], access([[4 * ranks, [2, 8], [1, 1]]]), element=4)
    plan = make_plan(ranks, [family("hdf5")], [content(arrays=[array_spec])])
    result = engine(plan, "--keep", "--verify")
    path: Path = result.path("checkpoint-1.0000.h5")
    command = [
        str(engine.path),
        "--plan",
        str(engine.write(plan)),
        "--dir",
        str(result.data),
        "--verify-only",
    ]

    def verify() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=engine.environment(), capture_output=True, text=True, check=False)

    assert verify().returncode == 0
    with h5py.File(path) as file:
        at = next(iter(file.values())).id.get_offset() + 5
    with path.open("r+b") as raw:
        raw.seek(at)
        byte = raw.read(1)[0]
        raw.seek(at)
        raw.write(bytes([byte ^ 1]))
    done = verify()
    assert done.returncode == 1
    assert "byte 5 is" in done.stderr
    assert "1 wrong bytes" in done.stderr


def test_hyperslabs_of_several_shapes_may_overlap(engine: Engine, ranks: int) -> None:
    """For an element that several slabs cover, either payload is right; a flipped bit is not."""
    slabs = [[8, [2, 5, 3], [1, 1, 1]], [6, [4, 4, 4], [2, 1, 1]], [7, [3, 9, 2], [1, 1, 2]]]
    array_spec = arrays([16, 12, 8], access(slabs), datasets=2)
    plan = make_plan(ranks, [family("hdf5")], [content(arrays=[array_spec])], [dump(0)])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    with h5py.File(result.path("checkpoint-1.0000.h5"), "r+") as file:
        file["a00_000001"][0, 0, 0] *= -1  # the sign's bit
    place = ["--plan", str(engine.write(plan)), "--dir", str(result.data)]
    command = [*engine.command(0), *place, "--verify-only"]
    done = subprocess.run(
        command, env=engine.environment(0), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "byte" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("filled", [False, True])
def test_fill_values_are_written_on_request(engine: Engine, ranks: int, filled: bool) -> None:
    """Below the dataset level, all data are written twice; above it, nothing changes."""
    array_spec = arrays(
        [1, 64, 128],
        access([[8, [1, 8, 128], [1, 1, 1]]]),
        chunk=[1, 64, 128],
        extendible=True,
        fill_values=filled,
    )
    plan = make_plan(
        ranks,
        [family("hdf5", level="h5d", lifetime="appended")],
        [content(arrays=[array_spec])],
        [dump(0), dump(1, file=0)],
    )
    result = engine(plan, "--keep", "--verify")
    payload = 2 * 64 * 128 * 8
    below = sum(d["levels"]["mpiio"]["bytes_written"] for d in result.dumps)
    assert sum(d["bytes_written"] for d in result.dumps) == payload
    assert (1 + filled) * payload <= below < (1 + filled) * payload + 16384
