"""The five HACC-IO kernels on disk: the writer of each byte, and the place of each dataset.

See docs/reference/hacc-kernels.md#offsets.
"""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.workload_file import read_workload

from .conftest import Engine, Result
from .test_hdf5 import has_hdf5

h5py = pytest.importorskip("h5py")
np = pytest.importorskip("numpy")

FOLDER = Path(__file__).parents[2] / "workloads/hacc"
VARIABLES = 9
BYTES = 65536  # per rank and variable, s
pytestmark = pytest.mark.skipif(not has_hdf5(), reason="the engine has no hdf5 backend")


def kernel(name: str, ranks: int, collective: bool = True) -> str:
    """The shipped kernel at other ranks and a smaller size."""
    workload = read_workload(FOLDER / f"{name}.yaml")
    if not collective:
        content = workload.families[0].content
        assert content is not None
        for part in [*content.streams, *(a for arrays in content.arrays for a in arrays.access)]:
            part.collective = False
    options = Options(ranks=ranks, scaling="weak", bytes_scale=Fraction(1, 256), scale_by="size")
    return plan_text(resolve(workload, options))


def performed(engine: Engine, name: str, ranks: int, collective: bool) -> tuple[Result, Path]:
    plan = kernel(name, ranks, collective)
    result = engine(plan, "--keep", "--verify", processes=ranks)
    moved = VARIABLES * ranks * BYTES
    assert [d["bytes_written"] for d in result.dumps] == [moved] * 4
    assert result.end["verified"].items() >= {"bytes": 4 * moved, "errors": 0}.items()
    calls = "COLL_WRITES" if collective else "INDEP_WRITES"
    assert result.dumps[0]["counters"][calls] == result.dumps[0]["counters"]["WRITES"] > 0
    (file, *_) = sorted(result.data.iterdir())
    return result, file


def operations(engine: Engine, name: str, ranks: int) -> list[tuple[int, int, int]]:
    """(rank, offset, size) of the first dump's writes, as the expander lists them."""
    path = engine.tmp / f"{name}.txt"
    engine(kernel(name, ranks), "--backend", "record", "--operations", str(path), processes=0)
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [(int(r[0]), int(r[4]), int(r[5])) for r in rows if r[1] == "0" and r[3] == "write"]


@pytest.mark.parametrize("collective", [True, False], ids=["collective", "independent"])
@pytest.mark.parametrize("name", ["mpi-contiguous", "mpi-interleaved"])
def test_mpi_kernels(engine: Engine, ranks: int, name: str, collective: bool) -> None:
    _, file = performed(engine, name, ranks, collective)
    assert file.stat().st_size == VARIABLES * ranks * BYTES
    s = BYTES
    places = [
        (r, v * ranks * s + r * s if name == "mpi-contiguous" else r * VARIABLES * s + v * s, s)
        for r in range(ranks)
        for v in range(VARIABLES)
    ]
    assert operations(engine, name, ranks) == places


@pytest.mark.parametrize("collective", [True, False], ids=["collective", "independent"])
def test_hdf5_individual(engine: Engine, ranks: int, collective: bool) -> None:
    _, path = performed(engine, "hdf5-individual", ranks, collective)
    block = ranks * BYTES
    raw = np.fromfile(path, np.uint8)
    with h5py.File(path) as file:
        datasets = [file[name] for name in sorted(file)]
        assert [d.shape for d in datasets] == [(block // 8,)] * VARIABLES
        assert {d.dtype for d in datasets} == {np.dtype("f8")}
        offsets = [d.id.get_offset() for d in datasets]
        # v*R*s, and the headers between.
        for v, (offset, dataset) in enumerate(zip(offsets, datasets, strict=True)):
            assert 0 < offset - v * block < 16384
            assert dataset[...].tobytes() == raw[offset : offset + block].tobytes()
    assert offsets == sorted(offsets)
    places = [(r, v * block + r * BYTES, BYTES) for r in range(ranks) for v in range(VARIABLES)]
    assert operations(engine, "hdf5-individual", ranks) == places


@pytest.mark.parametrize("collective", [True, False], ids=["collective", "independent"])
def test_hdf5_compound(engine: Engine, ranks: int, collective: bool) -> None:
    _, path = performed(engine, "hdf5-compound", ranks, collective)
    with h5py.File(path) as file:
        (dataset,) = file.values()
        assert dataset.shape == (ranks * BYTES // 8,)
        assert dataset.dtype.itemsize == 72
        fields = dataset.dtype.fields
        assert [fields[name][1] for name in dataset.dtype.names] == [8 * m for m in range(VARIABLES)]
        assert {kind for kind, *_ in fields.values()} == {np.dtype("f8")}
        offset = dataset.id.get_offset()
        assert 0 < offset < 16384
        values = dataset[...]
    # The nine values of an element side by side in the file.
    raw = np.fromfile(path, np.uint8)[offset : offset + values.nbytes]
    assert values.tobytes() == raw.tobytes()
    places = [(r, r * VARIABLES * BYTES, VARIABLES * BYTES) for r in range(ranks)]
    assert operations(engine, "hdf5-compound", ranks) == places


def features(engine: Engine) -> dict[str, str]:
    done = subprocess.run([str(engine.path), "--features"], capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_hdf5_multi(engine: Engine, ranks: int) -> None:
    """If HDF5 has the call, the same file as of Individual; else one line before anything is written."""
    if features(engine)["hdf5.multi"] == "yes":
        result, path = performed(engine, "hdf5-multi", ranks, True)
        assert result.dumps[0]["counters"]["WRITES"] == ranks
        with h5py.File(path) as file:
            offsets = [file[name].id.get_offset() for name in sorted(file)]
        assert all(0 < o - v * ranks * BYTES < 16384 for v, o in enumerate(offsets))
    else:
        result = engine(kernel("hdf5-multi", ranks), processes=ranks, check=False)
        assert result.code == 2
        assert "checkpoint 1: one call over several datasets needs HDF5 1.14" in result.refusal
        assert not result.files()
    # One call of each rank moves its slab of all nine.
    places = [(r, r * BYTES, VARIABLES * BYTES) for r in range(ranks)]
    assert operations(engine, "hdf5-multi", ranks) == places


@pytest.mark.parametrize("collective", [True, False], ids=["collective", "independent"])
def test_multi_through_mpiio_is_a_call_a_variable(engine: Engine, ranks: int, collective: bool) -> None:
    plan = kernel("hdf5-multi", ranks, collective)
    result = engine(plan, "--backend", "mpiio", "--keep", "--verify", processes=ranks)
    assert result.dumps[0]["counters"]["WRITES"] == VARIABLES * ranks
    contiguous = engine(kernel("hdf5-individual", ranks), "--backend", "mpiio", "--keep", processes=ranks)
    for file, contiguous_file in zip(
        sorted(result.data.iterdir()), sorted(contiguous.data.iterdir()), strict=True
    ):
        assert file.read_bytes() == contiguous_file.read_bytes()


def test_an_access_with_fewer_calls_than_ranks_joins_all_of_a_multi_call(engine: Engine) -> None:
    """Only rank 0 has slabs; the others join one call per dataset."""
    from .conftest import content, family, make_plan
    from .test_hdf5 import access, arrays

    array_spec: dict[str, Any] = arrays(
        [64], access([[3, [64], [1]]], collective=True), datasets=3, multi=True
    )
    plan = make_plan(4, [family("hdf5")], [content(arrays=[array_spec])])
    result = engine(plan, "--backend", "mpiio", "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 3 * 512}
    assert result.end["verified"].items() >= {"bytes": 1536, "errors": 0}.items()
