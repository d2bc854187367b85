"""ADIOS2: steps and variables of BP5 files, read back with the library's own bpls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .conftest import (
    MPI_ENVIRONMENT,
    SINGLETON_ENVIRONMENT,
    Engine,
    content,
    dump,
    family,
    find_engine,
    make_plan,
    sharing,
    stream,
    without_id,
)
from .test_hdf5 import access, arrays, fit

BPLS = shutil.which("bpls") or shutil.which("bpls.mpi")
TYPES = {"int8_t": "i1", "int16_t": "i2", "float": "f4", "double": "f8"}


def has_adios2() -> bool:
    path = find_engine()
    if path is None:
        return False
    listed = subprocess.run(
        [str(path), "--list-backends"], capture_output=True, text=True, check=False
    ).stdout
    return "adios2" in listed


pytestmark = [
    pytest.mark.skipif(not has_adios2(), reason="the engine has no adios2 backend"),
    pytest.mark.skipif(BPLS is None, reason="no bpls (adios2-mpi-bin)"),
]


def bpls(*args: str) -> str:
    return subprocess.run(
        [str(BPLS), *args],
        env={**os.environ, **MPI_ENVIRONMENT, **SINGLETON_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout


def variables(path: Path) -> dict[str, tuple[str, int, tuple[int, ...]]]:
    """Type, steps and extents of each variable."""
    out = {}
    for line in bpls(str(path)).splitlines():
        found = re.match(r"\s*(\w+)\s+(\w+)\s+(?:(\d+)\*)?\{(.*)\}", line)
        assert found, line
        steps, dims = int(found[3] or 1), tuple(int(d) for d in found[4].split(","))
        out[found[2]] = (TYPES[found[1]], steps, dims)
    return out


def bytes_of(path: Path, name: str, step: int = 0) -> bytes:
    """The bytes of one step of a variable of bytes."""
    _, steps, dims = variables(path)[name]
    which = (str(step), *("0" for _ in dims)) if steps > 1 else tuple("0" for _ in dims)
    many = ("1", *("-1" for _ in dims)) if steps > 1 else tuple("-1" for _ in dims)
    text = bpls("-d", "-y", "-n", "16", "-s", ",".join(which), "-c", ",".join(many), str(path), name)
    words = [w for line in text.splitlines() if ";" not in line for w in line.split()]
    return np.array([int(w) for w in words], np.int8).tobytes()


def file_of(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def size_of(path: Path) -> int:
    return sum(p.stat().st_size for p in path.iterdir())


@pytest.mark.parametrize("collective", [False, True])
def test_arrays_are_variables(engine: Engine, ranks: int, collective: bool) -> None:
    array_spec = arrays(
        [8, 6, 4], access([[3 * 16, [1, 6, 2], [1, 1, 1]]], collective=collective), datasets=3
    )
    plan = make_plan(ranks, [family("adios2", level="posix")], [content(arrays=[array_spec])])
    result = engine(plan, "--keep", "--verify")
    path = file_of(result.data)
    assert without_id(path.name) == "checkpoint-1.0000.bp"
    assert variables(path) == {f"a00_{d:06d}": ("f8", 1, (8, 6, 4)) for d in range(3)}
    (first,) = result.dumps
    moved = 3 * 8 * 6 * 4 * 8
    assert first["bytes_written"] == first["levels"]["posix"]["bytes_written"] == moved
    assert first["counters"]["WRITES"] == 3 * 16
    # One call per block. The end of the step is time of theirs, and no call of its own.
    assert first["kinds"]["write"]["count"] == 3 * 16
    assert result.end["verified"].items() >= {"bytes": moved, "errors": 0}.items()
    (file,) = result.end["files"]
    assert file["size"] == size_of(path) > moved


def test_payload_is_the_linear_file_s(engine: Engine, ranks: int) -> None:
    """A variable of bytes has the bytes that the mpiio backend writes at the same place."""
    array_spec = arrays([20, 16], access([[40, [1, 8], [1, 1]]]), element=1)
    plan = make_plan(ranks, [family("adios2", level="posix")], [content(arrays=[array_spec])])
    path = file_of(engine(plan, "--keep").data)
    plain = file_of(engine(plan, "--keep", "--backend", "mpiio").data).read_bytes()
    linear = np.frombuffer(plain, np.uint8).reshape(20, 2, 8).reshape(20, 16)
    assert variables(path) == {"a00_000000": ("i1", 1, (20, 16))}
    assert bytes_of(path, "a00_000000") == linear.tobytes()


@pytest.mark.parametrize(
    ("element", "dtype", "inner"),
    [(1, "i1", ()), (2, "i2", ()), (4, "f4", ()), (24, "f8", (3,)), (6, "i2", (3,))],
)
def test_elements(engine: Engine, element: int, dtype: str, inner: tuple[int, ...]) -> None:
    array_spec = arrays([100], access([[4, [25], [1]]]), element=element)
    plan = make_plan(1, [family("adios2", level="posix")], [content(arrays=[array_spec])])
    result = engine(plan, "--keep", "--verify")
    assert variables(file_of(result.data)) == {"a00_000000": (dtype, 1, (100, *inner))}
    assert result.end["verified"].items() >= {"bytes": 100 * element, "errors": 0}.items()


@pytest.mark.parametrize("lifetime", ["per-dump", "appended", "reused"])
def test_a_dump_is_a_step(engine: Engine, ranks: int, lifetime: str) -> None:
    """In a file that stays open, each dump is a step; a file that is opened again has only the last dump."""
    streams = [
        stream([[ranks, 100]], collective=True),
        stream([[3, 50]], base=100 * ranks, pattern="interleaved"),
        stream([[2 * ranks, 60]], base=100 * ranks + 150, pieces=3, collective=True),
    ]
    one_file = lifetime != "per-dump"
    size = 220 * ranks + 150
    bases = [i * size if lifetime == "appended" else 0 for i in range(3)]
    dumps = [dump(i, file=0 if one_file else i, base=base) for i, base in enumerate(bases)]
    plan = make_plan(ranks, [family("adios2", lifetime=lifetime, level="posix")], [content(*streams)], dumps)
    result = engine(plan, "--keep", "--verify")
    assert [d["bytes_written"] for d in result.dumps] == [size] * 3
    assert result.end["verified"].items() >= {"bytes": 3 * size, "errors": 0}.items()
    files = sorted(result.data.iterdir())
    assert len(files) == (1 if one_file else 3)
    steps = 3 if lifetime == "appended" else 1
    assert variables(files[0]) == {"extents": ("i1", steps, (size,))}
    plain = sorted(engine(plan, "--keep", "--backend", "mpiio").data.iterdir())[0].read_bytes()
    for step in range(steps):
        assert bytes_of(files[0], "extents", step) == plain[step * size : (step + 1) * size]
    again = engine(plan, "--verify-only", data=result.data, processes=0)
    assert again.code == 0


def test_a_step_may_be_larger_than_the_one_before(engine: Engine, ranks: int) -> None:
    contents = [content(arrays=[arrays([8 * n, 4], access([[8 * n, [1, 4], [1, 1]]]))]) for n in (1, 3)]
    dumps = [dump(i, file=0, content=i) for i in range(2)]
    plan = make_plan(ranks, [family("adios2", lifetime="appended", level="posix")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": 4 * 8 * 4 * 8, "errors": 0}.items()
    assert "2*{__, 4}" in bpls(str(file_of(result.data)))


@pytest.mark.parametrize("lifetime", ["per-dump", "appended"])
def test_a_fit_moves_its_bytes(engine: Engine, ranks: int, lifetime: str) -> None:
    one_file = lifetime == "appended"
    dumps = [dump(i, file=0 if one_file else i) for i in range(2)]
    plan = make_plan(
        ranks, [family("adios2", lifetime=lifetime, level="posix")], [content(fit=fit(86_000))], dumps
    )
    result = engine(plan, "--keep", "--verify")
    assert [d["bytes_written"] for d in result.dumps] == [86_000] * 2
    assert result.end["verified"].items() >= {"bytes": 172_000, "errors": 0}.items()
    found = variables(sorted(result.data.iterdir())[0])
    assert found == {f"f_{d:06d}": ("f8", 2 if one_file else 1, (250,)) for d in range(43)}


@pytest.mark.parametrize("aggregators", [1, 2, 4])
def test_aggregators_are_the_data_files(engine: Engine, aggregators: int) -> None:
    how = family("adios2", level="posix", aggregators=aggregators)
    plan = make_plan(4, [how], [content(stream([[8, 4096]]))])
    result = engine(plan, "--keep", "--verify")
    path = file_of(result.data)
    assert sorted(p.name for p in path.glob("data.*")) == [f"data.{i}" for i in range(aggregators)]
    assert sum(p.stat().st_size for p in path.glob("data.*")) >= 8 * 4096


@pytest.mark.parametrize("mode", ["per-rank", "groups", "subset", "root"])
def test_sharings(engine: Engine, mode: str) -> None:
    how = {
        "groups": sharing("groups", files=2),
        "subset": sharing("subset", [[1, 2, 1]]),
        "root": sharing("root", [[3, 3, 1]]),
    }.get(mode, sharing(mode))
    array_spec = arrays([16, 8], access([[16, [1, 8], [1, 1]]]))
    plan = make_plan(4, [family("adios2", sharing=how, level="posix")], [content(arrays=[array_spec])])
    result = engine(plan, "--keep", "--verify")
    assert len(list(result.data.iterdir())) == {"per-rank": 4, "groups": 2}.get(mode, 1)
    assert result.end["verified"].items() >= {"bytes": 16 * 64, "errors": 0}.items()


def test_loads_read_what_was_made_for_them(engine: Engine, ranks: int) -> None:
    """Loads of two sizes from one file: each reads the step that was prepared for it."""
    contents = [content(arrays=[arrays([n, 8], access([[n, [1, 8], [1, 1]]], "read"))]) for n in (8, 4)]
    dumps = [dump(i, file=0, content=i, prepare=True) for i in range(2)]
    for lifetime in ("reused", "appended"):
        how = family("adios2", role="input", level="posix", lifetime=lifetime)
        result = engine(make_plan(ranks, [how], contents, dumps), "--keep")
        assert [d["bytes_read"] for d in result.dumps] == [512, 256]
        assert [d["bytes_written"] for d in result.dumps] == [0, 0]
        assert "2*{__, 8}" in bpls(str(file_of(result.data)))


def test_loads_of_what_the_run_has_written(engine: Engine, ranks: int) -> None:
    """Also from a file that is still being written."""
    write = content(arrays=[arrays([8, 8], access([[8, [1, 8], [1, 1]]]))])
    read = content(arrays=[arrays([8, 8], access([[8, [1, 8], [1, 1]]], "read"))])
    dumps = [dump(i, file=0, content=i % 2) for i in range(4)]
    for lifetime in ("reused", "appended"):
        how = family("adios2", level="posix", lifetime=lifetime)
        result = engine(make_plan(ranks, [how], [write, read], dumps), "--keep", "--verify", timeout=60)
        assert [d["bytes_read"] for d in result.dumps] == [0, 512, 0, 512]
        assert result.end["verified"]["errors"] == 0
        steps = 2 if lifetime == "appended" else 1
        assert variables(file_of(result.data)) == {"a00_000000": ("f8", steps, (8, 8))}


def test_old_files_go_and_finished_ones_get_their_names(engine: Engine, ranks: int) -> None:
    how = family("adios2", level="posix", keep=2, rename=True)
    plan = make_plan(ranks, [how], [content(stream([[ranks, 1000]]))], [dump(i) for i in range(4)])
    result = engine(plan, "--keep", "--verify")
    assert sorted(without_id(p.name) for p in result.data.iterdir()) == [
        f"checkpoint-1.000{i}.bp" for i in (2, 3)
    ]
    assert result.end["verified"]["errors"] == 0
    assert not list(engine(plan).data.iterdir())


def test_a_flipped_byte_is_found(engine: Engine, ranks: int) -> None:
    plan = make_plan(ranks, [family("adios2", level="posix")], [content(stream([[ranks, 4000]]))])
    result = engine(plan, "--keep")
    path = file_of(result.data)
    raw = bytearray((path / "data.0").read_bytes())
    payload = bytes_of(path, "extents")
    at = raw.find(payload[100:200])
    assert at >= 0
    raw[at] ^= 0x40
    (path / "data.0").write_bytes(bytes(raw))
    again = engine(plan, "--verify-only", data=result.data, processes=0, check=False)
    assert again.code == 1
    assert "byte 100 is" in again.refusal


@pytest.mark.parametrize("damage", ["md.idx", "md.0", "data.0", "all"])
def test_damaged_files_are_refused_in_one_line(engine: Engine, damage: str) -> None:
    plan = make_plan(1, [family("adios2", level="posix")], [content(stream([[1, 4000]]))])
    result = engine(plan, "--keep")
    path = file_of(result.data)
    for file in path.iterdir() if damage == "all" else [path / damage]:
        file.write_bytes(b"")
    again = engine(plan, "--verify-only", data=result.data, check=False, timeout=60)
    assert again.code == 1
    assert "checkpoint" in again.refusal or "ADIOS2" in again.refusal


@pytest.mark.parametrize(
    ("more", "part", "words"),
    [
        ({}, arrays([64], access([[2, [16], [2]]])), "blocks without strides"),
        (
            {},
            arrays([64], access([[2, [64], [1]]]), datasets=2, multi=True),
            "only HDF5 has one call for several datasets",
        ),
        (
            {"sharing": sharing("groups", files=1, turns="baton")},
            arrays([64], access([[4, [16], [1]]])),
            "leave out `turns: baton`",
        ),
        (
            {},
            arrays([64], access([[4, [16], [1]]]), access([[4, [16], [1]]], "read")),
            "either writes or reads",
        ),
    ],
)
def test_the_impossible_is_refused(
    engine: Engine, more: dict[str, Any], part: dict[str, Any], words: str
) -> None:
    plan = make_plan(1, [family("adios2", level="posix", **more)], [content(arrays=[part])])
    for options in ([], ["--check"]):
        result = engine(plan, *options, check=False)
        assert result.code == 2
        (line,) = result.stderr.splitlines()
        assert words in line
        assert not result.files()


def test_steps_that_differ_in_what_they_hold(engine: Engine, ranks: int) -> None:
    """Only the second step has an array; it is found by its place in the file."""
    contents = [
        content(stream([[ranks, 64]])),
        content(arrays=[arrays([8], access([[4, [2], [1]]]), element=1)]),
    ]
    dumps = [dump(i, file=0, content=i % 2, base=0 if i < 2 else 64 * ranks) for i in range(4)]
    plan = make_plan(ranks, [family("adios2", lifetime="appended", level="posix")], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"].items() >= {"bytes": 2 * (64 * ranks + 8), "errors": 0}.items()
    found = variables(file_of(result.data))
    assert found == {"extents": ("i1", 2, (64 * ranks,)), "a00_000000": ("i1", 2, (8,))}
