"""PnetCDF: variables, records, non-blocking calls and modes; an independent reader and ncmpidump read the files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, find_engine, make_plan, sharing, stream, without_id
from .netcdf import Netcdf, Variable
from .test_hdf5 import access, arrays, fit


def has_pnetcdf() -> bool:
    path = find_engine()
    if path is None:
        return False
    listed = subprocess.run(
        [str(path), "--list-backends"], capture_output=True, text=True, check=False
    ).stdout
    return "pnetcdf" in listed


pytestmark = pytest.mark.skipif(not has_pnetcdf(), reason="the engine has no pnetcdf backend")


def written(variable: Variable) -> Any:
    """The elements that were written: the payload's doubles are never zero."""
    return variable.data.view(">u8") != 0


def file_of(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


@pytest.mark.parametrize("collective", [False, True])
@pytest.mark.parametrize("nonblocking", [False, True])
def test_arrays_are_variables(engine: Engine, ranks: int, collective: bool, nonblocking: bool) -> None:
    kind = access([[3 * 16, [1, 6, 2], [1, 1, 1]]], collective=collective) | {"nonblocking": nonblocking}
    plan = make_plan(ranks, [family("pnetcdf")], [content(arrays=[arrays([8, 6, 4], kind, datasets=3)])])
    result = engine(plan, "--keep", "--verify")
    path = file_of(result.data)
    assert without_id(path.name) == "checkpoint-1.0000.nc"
    found = Netcdf(path)
    assert found.version == 5
    assert sorted(found.variables) == [f"a00_{d:06d}" for d in range(3)]
    for variable in found.variables.values():
        assert (variable.dims, variable.dtype, variable.record) == ((8, 6, 4), np.dtype(">f8"), False)
        assert written(variable).all()
    (first,) = result.dumps
    assert first["counters"]["WRITES"] == 3 * 16
    assert first["counters"]["COLL_WRITES"] == (3 * 16 if collective else 0)
    moved = 3 * 8 * 6 * 4 * 8
    assert first["bytes_written"] == first["levels"]["pnetcdf"]["bytes_written"] == moved
    # At MPI-IO the data and the header, once.
    assert first["levels"]["mpiio"]["bytes_written"] == moved + found.header
    assert result.end["verified"].items() >= {"bytes": moved, "errors": 0}.items()
    # One call per write on each rank. Waiting for non-blocking calls is time of theirs, and no call of its own.
    assert first["kinds"]["write"]["count"] == 3 * 16


def test_payload_is_the_linear_file_s(engine: Engine, ranks: int) -> None:
    """A variable of bytes has the bytes that the mpiio backend writes at the same place."""
    array_spec = arrays([40, 32], access([[40, [1, 32], [1, 1]]], collective=True), element=1)
    plan = make_plan(ranks, [family("pnetcdf")], [content(arrays=[array_spec])])
    variables = Netcdf(file_of(engine(plan, "--keep").data)).variables
    plain = file_of(engine(plan, "--keep", "--backend", "mpiio").data).read_bytes()
    assert variables["a00_000000"].data.tobytes() == plain


def test_strides_lie_where_the_rule_says(engine: Engine, ranks: int) -> None:
    array_spec = arrays([8, 12], access([[4, [4, 3], [2, 4]]]))
    result = engine(
        make_plan(ranks, [family("pnetcdf")], [content(arrays=[array_spec])]), "--keep", "--verify"
    )
    seen = written(Netcdf(file_of(result.data)).variables["a00_000000"])
    wanted = np.zeros((8, 12), bool)
    wanted[0:8:2] = True  # the first four of eight interleaved slabs: even rows
    assert (seen == wanted).all()
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize(
    ("element", "dtype", "inner"),
    [(1, ">i1", ()), (2, ">i2", ()), (4, ">f4", ()), (24, ">f8", (3,)), (6, ">i2", (3,))],
)
def test_elements(engine: Engine, element: int, dtype: str, inner: tuple[int, ...]) -> None:
    array_spec = arrays([100], access([[4, [25], [1]]]), element=element)
    result = engine(make_plan(1, [family("pnetcdf")], [content(arrays=[array_spec])]), "--keep", "--verify")
    (variable,) = Netcdf(file_of(result.data)).variables.values()
    assert (variable.dims, variable.dtype) == ((100, *inner), np.dtype(dtype))
    assert result.end["verified"].items() >= {"bytes": 100 * element, "errors": 0}.items()


@pytest.mark.parametrize("collective", [False, True])
def test_extendible_arrays_have_the_record_dimension(engine: Engine, ranks: int, collective: bool) -> None:
    """Two variables grow by four records with each dump; the last dump reads the last records."""
    entries = [[8, [1, 10], [1, 1]]]
    array_spec = arrays([4, 10], access(entries, collective=collective), extendible=True, datasets=2)
    read = arrays([4, 10], access(entries, "read", collective), extendible=True, datasets=2)
    contents = [content(arrays=[array_spec], flushes=ranks), content(arrays=[read])]
    dumps = [dump(i, file=0) for i in range(3)] + [dump(3, file=0, content=1)]
    plan = make_plan(ranks, [family("pnetcdf", lifetime="appended")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    found = Netcdf(file_of(result.data))
    assert found.records == 12
    assert len(found.variables) == 2
    for variable in found.variables.values():
        assert (variable.dims, variable.record) == ((12, 10), True)
        assert written(variable).all()
    assert [d["counters"]["FLUSHES"] for d in result.dumps] == [ranks] * 3 + [0]
    assert [d["counters"]["OPENS"] for d in result.dumps] == [ranks, 0, 0, 0]
    assert result.dumps[3]["bytes_read"] == 640
    assert result.end["verified"].items() >= {"bytes": 3 * 640, "errors": 0}.items()


def test_fixed_variables_of_an_appended_file_are_a_dump_s_own(engine: Engine, ranks: int) -> None:
    array_spec = arrays([4, 10], access([[4, [1, 10], [1, 1]]], collective=True))
    dumps = [dump(i, file=0) for i in range(3)]
    plan = make_plan(ranks, [family("pnetcdf", lifetime="appended")], [content(arrays=[array_spec])], dumps)
    result = engine(plan, "--keep", "--verify")
    variables = Netcdf(file_of(result.data)).variables
    assert sorted(variables) == [f"s{i:06d}_a00_000000" for i in range(3)]
    assert all(written(v).all() for v in variables.values())
    assert result.end["verified"].items() >= {"bytes": 3 * 320, "errors": 0}.items()


def test_accesses_of_several_modes(engine: Engine) -> None:
    """Rank 0 alone, all together, posted by ranks 2 and 3, and again alone: every rank changes modes with the others."""
    row = [1, 8]
    kinds = [
        access([[1, row, [1, 1]]], ranks=[[0, 0, 1]]),
        access([[8, row, [1, 1]]], collective=True),
        access([[2, row, [1, 1]]], ranks=[[2, 3, 1]]) | {"nonblocking": True},
        access([[2, row, [1, 1]]], ranks=[[1, 2, 1]]),
        access([[8, row, [1, 1]]], "read", collective=True),
    ]
    plan = make_plan(4, [family("pnetcdf")], [content(arrays=[arrays([8, 8], *kinds, datasets=1)] * 2)])
    result = engine(plan, "--keep", "--verify", timeout=60)
    assert result.end["verified"]["errors"] == 0
    counters = result.dumps[0]["counters"]
    assert (counters["COLL_WRITES"], counters["INDEP_WRITES"], counters["COLL_READS"]) == (16, 10, 16)
    assert all(written(v).all() for v in Netcdf(file_of(result.data)).variables.values())


@pytest.mark.parametrize("lifetime", ["per-dump", "appended", "reused"])
def test_streams_are_a_variable_of_bytes(engine: Engine, ranks: int, lifetime: str) -> None:
    streams = [
        stream([[ranks, 1000]], collective=True),
        stream([[3, 50]], base=1000 * ranks, pattern="interleaved"),
        stream([[2 * ranks, 60]], base=1000 * ranks + 150, pieces=3, collective=True),
        stream([[ranks, 1000]], "read", collective=True),
    ]
    one_file = lifetime != "per-dump"
    bases = [i * 2000 * ranks if lifetime == "appended" else 0 for i in range(2)]
    dumps = [dump(i, file=0 if one_file else i, base=base) for i, base in enumerate(bases)]
    plan = make_plan(ranks, [family("pnetcdf", lifetime=lifetime)], [content(*streams)], dumps)
    result = engine(plan, "--keep", "--verify")
    moved = 1120 * ranks + 150
    assert [d["bytes_written"] for d in result.dumps] == [moved] * 2
    assert result.end["verified"].items() >= {"bytes": 2 * moved, "errors": 0}.items()
    found = Netcdf(sorted(result.data.iterdir())[0])
    (variable,) = found.variables.values()
    assert (variable.name, variable.dtype) == ("extents", np.dtype(">i1"))
    assert variable.dims == (bases[1] * one_file + 1120 * ranks + 150,)
    # The same bytes as in a plain file.
    plain = engine(plan, "--keep", "--backend", "mpiio")
    assert variable.data[:moved].tobytes() == sorted(plain.data.iterdir())[0].read_bytes()[:moved]


@pytest.mark.parametrize("lifetime", ["per-dump", "appended"])
def test_a_fit_moves_its_bytes_with_the_header(engine: Engine, ranks: int, lifetime: str) -> None:
    one_file = lifetime == "appended"
    dumps = [dump(i, file=0 if one_file else i) for i in range(3)]
    plan = make_plan(
        ranks, [family("pnetcdf", lifetime=lifetime, level="mpiio")], [content(fit=fit(10**6))], dumps
    )
    result = engine(plan, "--keep", "--verify")
    assert sum(d["bytes_written"] for d in result.dumps) == pytest.approx(3 * 10**6, abs=3 * 8)
    assert all(abs(d["bytes_written"] - 10**6) < 8 for d in result.dumps)
    assert all(d["levels"]["mpiio"]["bytes_written"] == d["bytes_written"] for d in result.dumps)
    found = Netcdf(sorted(result.data.iterdir())[0])
    assert len(found.variables) == 43 * (3 if one_file else 1)
    assert result.end["verified"]["errors"] == 0


def test_a_fit_at_variable_level_is_taken_as_it_stands(engine: Engine, ranks: int) -> None:
    result = engine(make_plan(ranks, [family("pnetcdf")], [content(fit=fit(8 * 43 * 100))]), "--verify")
    assert result.dumps[0]["bytes_written"] == 8 * 43 * 100


@pytest.mark.parametrize("mode", ["per-rank", "groups", "subset", "root"])
def test_sharings(engine: Engine, mode: str) -> None:
    how = {
        "groups": sharing("groups", files=2),
        "subset": sharing("subset", [[1, 2, 1]]),
        "root": sharing("root", [[3, 3, 1]]),
    }.get(mode, sharing(mode))
    array_spec = arrays([16, 8], access([[16, [1, 8], [1, 1]]], collective=mode != "root"))
    result = engine(
        make_plan(4, [family("pnetcdf", sharing=how)], [content(arrays=[array_spec])]), "--keep", "--verify"
    )
    assert len(result.files()) == {"per-rank": 4, "groups": 2}.get(mode, 1)
    assert result.end["verified"].items() >= {"bytes": 16 * 64, "errors": 0}.items()


def test_groups_with_a_baton(engine: Engine) -> None:
    how = sharing("groups", files=2, turns="baton")
    array_spec = arrays([16, 8], access([[16, [1, 8], [1, 1]]]))
    result = engine(
        make_plan(4, [family("pnetcdf", sharing=how)], [content(arrays=[array_spec])]), "--keep", "--verify"
    )
    assert len(result.files()) == 2
    assert result.end["verified"].items() >= {"bytes": 16 * 64, "errors": 0}.items()


def test_a_load_s_file_is_made_first(engine: Engine, ranks: int) -> None:
    kinds = [
        access([[8, [1, 8], [1, 1]]], "read", collective=True),
        access([[8, [1, 8], [1, 1]]], "read") | {"nonblocking": True},
    ]
    plan = make_plan(
        ranks,
        [family("pnetcdf", role="input")],
        [content(arrays=[arrays([8, 8], *kinds)])],
        [dump(0, prepare=True)],
    )
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": 2 * 512, "errors": 0}.items()
    assert result.dumps[0]["bytes_read"] == 2 * 512
    assert result.dumps[0]["bytes_written"] == 0
    (variable,) = Netcdf(file_of(result.data)).variables.values()
    assert written(variable).all()


def test_a_flipped_byte_is_found(engine: Engine, ranks: int) -> None:
    array_spec = arrays([64, 8], access([[64, [1, 8], [1, 1]]]))
    plan = make_plan(ranks, [family("pnetcdf")], [content(arrays=[array_spec])])
    result = engine(plan, "--keep")
    path = file_of(result.data)
    begin = Netcdf(path).variables["a00_000000"].begin
    raw = bytearray(path.read_bytes())
    raw[begin + 1000] ^= 0x40
    path.write_bytes(bytes(raw))
    # A damaged element is found, and is the only one: byte 1000 is the highest of the 126th double.
    again = engine(plan, "--verify-only", data=result.data, check=False)
    assert again.code == 1
    assert "byte 1007 is" in again.refusal


@pytest.mark.skipif(shutil.which("ncmpidump") is None, reason="no ncmpidump (pnetcdf-bin)")
def test_the_library_s_own_dump(engine: Engine, ranks: int) -> None:
    array_spec = arrays([4, 10], access([[8, [1, 10], [1, 1]]]), extendible=True, datasets=2)
    fixed = arrays([6, 5], access([[6, [1, 5], [1, 1]]]), element=4)
    plan = make_plan(ranks, [family("pnetcdf")], [content(arrays=[array_spec, fixed])])
    path = file_of(engine(plan, "--keep").data)
    shown = subprocess.run(["ncmpidump", "-h", str(path)], capture_output=True, text=True, check=True).stdout
    assert "records = UNLIMITED ; // (4 currently)" in shown
    assert "double a00_000000(records, d10) ;" in shown
    assert "float a01_000000(d6, d5) ;" in shown


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (arrays([64], access([[70000, [64], [1]]]), datasets=70000), "70000 variables are more than"),
        (arrays([2**29], access([[1, [2**29], [1]]])), "less than 2 GiB in one operation"),
        (
            arrays([64], access([[2, [64], [1]]]), datasets=2, multi=True),
            "only HDF5 has one call for several datasets",
        ),
        (
            arrays([64, 1], access([[1, [64, 1], [1, 1]]]), extendible=True, unlimited=1),
            "grows in its first dimension",
        ),
        (arrays([2**40, 2**40], access([[1, [1, 1], [1, 1]]])), "the dataset is larger than"),
    ],
)
def test_impossible_variables_are_refused(engine: Engine, part: dict[str, Any], words: str) -> None:
    plan = make_plan(1, [family("pnetcdf")], [content(arrays=[part])])
    for more in ([], ["--check"]):
        result = engine(plan, *more, check=False)
        assert result.code == 2
        (line,) = result.stderr.splitlines()
        assert words in line
        assert not result.files()


def test_an_existing_file_of_another_format(engine: Engine, tmp_path: Path) -> None:
    """A file that is not PnetCDF is refused with the reason, and no rank hangs."""
    content_spec = content(arrays=[arrays([64], access([[4, [16], [1]]], "read", collective=True))])
    plan = make_plan(4, [family("pnetcdf")], [content_spec])
    folder = tmp_path / "there"
    folder.mkdir()
    result = engine(plan, "--verify-only", data=folder, check=False)
    assert result.code in (0, 2)  # it reads only: nothing to verify
    write = content(arrays=[arrays([64], access([[4, [16], [1]]], collective=True))])
    plan = make_plan(4, [family("pnetcdf")], [write])
    (name,) = _core.Plan(json.dumps(plan)).operations(rank=0, most=10)["names"]
    (folder / name).write_bytes(b"no netCDF" * 100)
    result = engine(plan, "--verify-only", data=folder, check=False)
    assert result.code == 1
    assert "PnetCDF" in result.stderr
