"""Families that name a directory: their files lie in the one that `--dir NAME=DIR` gives, with every backend."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, Result, content, dump, family, make_plan, sharing, stream, without_id
from .test_adios2 import has_adios2
from .test_hdf5 import access, arrays, has_hdf5
from .test_mesh import mesh
from .test_pnetcdf import has_pnetcdf

KIB = 1024
BUILT = {"hdf5": has_hdf5, "typhonio": has_hdf5, "pnetcdf": has_pnetcdf, "adios2": has_adios2}
BACKENDS = ["posix", "stdio", "mpiio", *(name for name, there in BUILT.items() if there())]


def here_and_there(backend: str, ranks: int, **more: Any) -> dict[str, Any]:
    """Two families of equal dumps, of which the second names the directory `fast`."""
    more |= {"level": "mpiio"} if backend == "typhonio" else {"level": "posix"} if backend == "adios2" else {}
    families = [
        family(backend, **more),
        family(backend, id=1, role="output", directory="fast", **more),
    ]
    moved = content(stream([[4 * ranks, KIB]], collective=backend in ("mpiio", "pnetcdf")))
    if backend in ("hdf5", "pnetcdf", "adios2"):
        slabs = access([[ranks, [KIB // ranks], [1]]], collective=backend != "adios2")
        moved = content(arrays=[arrays([KIB], slabs)])
    if backend == "typhonio":
        moved = content(mesh=mesh(parts=4, nodes=103))
    return make_plan(ranks, families, [moved], [dump(0, start_s=0), dump(0, family=1, start_s=0.01)])


def names_in(folder: Path) -> list[str]:
    return sorted(without_id(path.name) for path in folder.iterdir())


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    (tmp_path / "fast").mkdir()
    return tmp_path / "fast"


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_files_lie_where_their_family_says(
    engine: Engine, ranks: int, fast: Path, backend: str, mode: str
) -> None:
    plan = here_and_there(backend, ranks, sharing=sharing(mode))
    result = engine(plan, f"--dir=fast={fast}", "--keep", "--verify")
    assert result.end["verified"]["bytes"] > 0 == result.end["verified"]["errors"]
    here, there = names_in(result.data), names_in(fast)
    assert here and all(name.startswith("checkpoint-1") for name in here)
    assert there and all(name.startswith("output-1") for name in there)
    assert [name.replace("output", "checkpoint") for name in there] == here


def test_nothing_is_left_in_either(engine: Engine, ranks: int, fast: Path) -> None:
    """Renamed, deleted, prepared and calibrated files among them."""
    plan = here_and_there("posix", ranks, rename=True, keep=1)
    plan["contents"].append(content(stream([[ranks, KIB]], "read")))
    plan["families"].append(family(id=2, role="input", directory="fast"))
    plan["dumps"] += [
        dump(1, start_s=0.02, family=1),
        dump(0, start_s=0.03, family=2, content=1, prepare=True),
    ]
    result = engine(plan, f"--dir=fast={fast}", "--verify")
    sizes = {(file["role"], file["index"]): file["size"] for file in result.end["files"]}
    assert sizes == {
        ("checkpoint", 0): 4 * ranks * KIB,
        ("output", 1): 4 * ranks * KIB,
        ("input", 0): ranks * KIB,
    }
    assert not list(fast.iterdir()) and not list(result.data.iterdir())


def test_prepared_files_lie_there(engine: Engine, ranks: int, fast: Path) -> None:
    plan = make_plan(
        ranks,
        [family(directory="fast", role="input")],
        [content(stream([[ranks, KIB]], "read"))],
        [dump(0, prepare=True)],
    )
    result = engine(plan, f"--dir=fast={fast}", "--keep", "--verify")
    assert names_in(fast) == ["input-1.0000.dat"] and not list(result.data.iterdir())


def test_kept_files_are_verified_there(engine: Engine, ranks: int, fast: Path) -> None:
    plan = here_and_there("posix", ranks)
    result = engine(plan, f"--dir=fast={fast}", "--keep")
    command = [*engine.command(ranks if ranks > 1 else 0), "--plan", str(engine.tmp / "plan.json")]
    command += ["--dir", str(result.data), "--dir", f"fast={fast}", "--verify-only"]

    def verified() -> subprocess.CompletedProcess[str]:
        environment = engine.environment(ranks if ranks > 1 else 0)
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert verified().returncode == 0
    (path,) = fast.iterdir()
    data = bytearray(path.read_bytes())
    data[17] ^= 1
    path.write_bytes(data)
    done = verified()
    assert done.returncode == 1 and "output 1" in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            [],
            "--dir fast=DIR is missing: where families of this directory go; the plan needs DIR, fast=DIR; given are DIR",
        ),
        (["--dir=slow=."], "the plan needs DIR, fast=DIR; given are DIR, slow=DIR"),
        (["--dir=fast="], "names no directory"),
        (["--dir=fast=.", "--dir=fast=."], "--dir fast= is given twice"),
        (["--dir=."], "--dir is given twice"),
        (["--dir=fast=/nowhere/at/all"], "/nowhere/at/all: --dir must name a directory that exists"),
    ],
)
def test_refusals(engine: Engine, given: list[str], words: str) -> None:
    result = engine(here_and_there("posix", 1), *given, check=False)
    assert result.code == 2
    assert words in result.refusal
    assert not result.lines and not list(result.data.iterdir())


def test_the_directory_without_a_name_may_be_the_missing_one(engine: Engine, fast: Path) -> None:
    plan = engine.write(here_and_there("posix", 1))
    command = [*engine.command(0), "--plan", str(plan), "--dir", f"fast={fast}", "--record", "/dev/stdout"]
    done = subprocess.run(command, env=engine.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--dir DIR is missing: where families without a directory go" in done.stderr
    only_fast = make_plan(1, [family(directory="fast")], [content(stream([[1, KIB]]))])
    command[2] = str(engine.write(only_fast))
    subprocess.run(command, env=engine.environment(), capture_output=True, check=True)


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "/tmp", "a=b", "1st", "-a", "a b", "fäst", "a\n", "a" * 33, "a.b", "a\u0000b"]
)
def test_hostile_names_are_refused(engine: Engine, name: str) -> None:
    plan = make_plan(1, [family(directory=name)], [content(stream([[1, KIB]]))])
    result = engine(plan, check=False)
    assert result.code == 2
    assert "families[0].directory: must be a letter, then at most 31 letters, digits and -" in result.refusal
    assert "\n" not in result.refusal and not list(result.data.iterdir())


def test_a_folder_may_look_like_a_name(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "a=b"
    folder.mkdir()
    plan = engine.write(make_plan(1, [family()], [content(stream([[1, KIB]]))]))
    command = [*engine.command(0), "--plan", str(plan), "--dir", "./a=b", "--keep", "--record", "run.jsonl"]
    subprocess.run(command, env=engine.environment(), check=True, cwd=tmp_path)
    assert names_in(folder) == ["checkpoint-1.0000.dat"]


def test_two_names_of_one_directory(engine: Engine, ranks: int, fast: Path, tmp_path: Path) -> None:
    """Also by another path: the lock of one directory is taken once."""
    (tmp_path / "link").symlink_to(fast)
    plan = here_and_there("posix", ranks)
    plan["families"][0]["directory"] = "slow"
    result = engine(plan, f"--dir=fast={fast}", f"--dir=slow={tmp_path / 'link'}", "--keep")
    assert names_in(fast) == ["checkpoint-1.0000.dat", "output-1.0000.dat"]
    assert not list(result.data.iterdir())


def test_the_record_has_the_file_system_of_each(engine: Engine, tmp_path: Path) -> None:
    memory = Path(f"/dev/shm/workalike-directories-{os.getpid()}")
    memory.mkdir()
    try:
        result = engine(here_and_there("mpiio", 1), f"--dir=fast={memory}")
    finally:
        memory.rmdir()
    found = result.head["environment"]
    assert found["file_system.fast"] == "tmpfs" and found["mpi_io.fast"] == found["mpi_io"] is not None
    assert (
        found["file_system"]
        == engine(make_plan(1, [family()], [content(stream([[1, KIB]]))])).head["environment"]["file_system"]
    )


def test_a_plan_without_names_has_the_record_that_it_had(engine: Engine, fast: Path) -> None:
    plan = make_plan(1, [family()], [content(stream([[1, KIB]]))])
    result = engine(plan, f"--dir=fast={fast}")  # a name that no family has is no error
    assert not any("." in name for name in result.head["environment"])


def test_files_in_the_way_are_found_in_each(engine: Engine, fast: Path) -> None:
    plan = here_and_there("posix", 1)
    first = engine(plan, f"--dir=fast={fast}", "--keep")
    for path in first.data.iterdir():
        path.unlink()
    again = engine(plan, f"--dir=fast={fast}", data=first.data, check=False)
    assert again.code == 2
    assert f"{fast}/output-1.0000" in again.refusal and "exists already" in again.refusal
    assert not list(first.data.iterdir())  # not even a lock file


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_a_full_disk_is_that_of_the_family(engine: Engine, small_disk: Path, backend: str) -> None:
    plan = here_and_there(backend, 1)
    plan["contents"] = [content(stream([[4, 2**20]]))]
    result = engine(plan, f"--dir=fast={small_disk}", check=False)
    assert result.code not in (0, 2)
    assert result.errors[0]["role"] == "output" and "No space left" in result.errors[0]["reason"]
    assert not list(small_disk.iterdir()) and not list(result.data.iterdir())


def killed(engine: Engine, plan: dict[str, Any], data: Path, fast: Path) -> None:
    """Kill a run in the midst of its dumps."""
    data.mkdir()
    command = [
        *engine.command(0),
        "--plan",
        str(engine.write(plan)),
        "--record",
        str(engine.tmp / "killed.jsonl"),
    ]
    command += ["--dir", str(data), "--dir", f"fast={fast}"]
    process = subprocess.Popen(command, env=engine.environment())
    until = time.monotonic() + 60
    while len(list(fast.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_leftovers_of_a_killed_run_are_removed_in_each(engine: Engine, fast: Path, tmp_path: Path) -> None:
    plan = here_and_there("posix", 1)
    plan |= {"time_scale": 1.0, "clock": "deadline"}
    plan["dumps"].append(dump(1, start_s=5))
    killed(engine, plan, tmp_path / "data", fast)
    assert len(list(fast.iterdir())) == 2  # the file and the lock
    result: Result = engine(plan, f"--dir=fast={fast}", data=tmp_path / "data")
    assert len(result.dumps) == 3
    assert not list(fast.iterdir()) and not list((tmp_path / "data").iterdir())


def test_the_plan_is_another_one_with_another_name() -> None:
    """The name is a part of the plan's identity, which is in the names of files."""
    from workalike import _core

    plan = here_and_there("posix", 1)
    other = json.loads(json.dumps(plan).replace('"fast"', '"slow"'))
    assert _core.Plan(json.dumps(plan), "", None, {}).id != _core.Plan(json.dumps(other), "", None, {}).id
