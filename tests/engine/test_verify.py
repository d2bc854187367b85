"""--verify and --verify-only find every wrong byte, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, Result, content, dump, family, make_plan, sharing, stream, without_id


def verify_only(
    engine: Engine, plan: dict[str, Any], data: Path, processes: int = 0
) -> subprocess.CompletedProcess[str]:
    path = engine.write(plan)
    command = [*engine.command(processes), "--plan", str(path), "--dir", str(data), "--verify-only"]
    return subprocess.run(
        command, env=engine.environment(processes), capture_output=True, text=True, timeout=60, check=False
    )


def flip(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_a_flipped_byte_is_found(engine: Engine, ranks: int, backend: str) -> None:
    streams = [stream([[4 * ranks, 5000]], pattern="interleaved"), stream([[ranks, 100]], pattern="same")]
    plan = make_plan(ranks, [family(backend)], [content(*streams)], [dump(0), dump(1)])
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    fine = verify_only(engine, plan, result.data)
    assert (fine.returncode, fine.stderr) == (0, "")

    flip(result.path("checkpoint-1.0001.dat"), 12345)
    bad = verify_only(engine, plan, result.data, processes=2 if ranks > 1 else 0)
    assert bad.returncode == 1
    line = bad.stderr.splitlines()[0]
    assert "checkpoint 1, dump 1, file checkpoint-1.0001.dat: byte 12345 is" in without_id(line)
    assert "; 1 wrong bytes" in line


def damaged_during(
    engine: Engine, plan: dict[str, Any], damage: Callable[[Path], None], *, data: Path | None = None
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """A run with --verify of which a file of the first dump is damaged while it goes on."""
    folder, record = data or engine.tmp / "damaged", engine.tmp / "damaged.jsonl"
    folder.mkdir(exist_ok=True)
    command = [
        *engine.command(0),
        "--plan",
        str(engine.write(plan)),
        "--dir",
        str(folder),
        "--record",
        str(record),
    ]
    process = subprocess.Popen(
        [*command, "--verify"],
        env=engine.environment(0),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    for _ in range(400):
        if record.exists() and '"type":"dump"' in record.read_text():
            break
        time.sleep(0.02)
    (first,) = [path for path in folder.iterdir() if "checkpoint-1.0000" in path.name]
    damage(first)
    out, err = process.communicate(timeout=60)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return subprocess.CompletedProcess(command, process.returncode, out, err), lines


PLAN_OF_TWO = make_plan(
    1, [family()], [content(stream([[4, 1000]]))], [dump(0), dump(1, start_s=2.0)], time_scale=1.0
)


def test_a_byte_that_changes_after_its_dump_is_found_at_the_end(engine: Engine) -> None:
    done, lines = damaged_during(engine, PLAN_OF_TWO, lambda path: flip(path, 1234))
    assert done.returncode == 1
    assert "checkpoint 1, dump 0" in done.stderr and "byte 1234 is" in done.stderr
    assert lines[-1]["verified"]["errors"] == 1


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x" * 10)])
def test_a_file_that_is_lost_after_its_dump_ends_the_run(
    engine: Engine, damage: Callable[[Path], None]
) -> None:
    """By the comparison at the end, which comes before that of sizes."""
    done, lines = damaged_during(engine, PLAN_OF_TWO, damage)
    assert done.returncode == 1
    assert "No such file" in done.stderr or "checkpoint-1.0000" in done.stderr
    assert lines[-1]["type"] == "error" or lines[-1]["verified"]["errors"] > 0


def test_what_was_proven_is_stated(engine: Engine, tmp_path: Path) -> None:
    """From storage on a disk; from memory on tmpfs, whose pages are the file; nothing of files that are gone."""
    plan = make_plan(1, [family()], [content(stream([[4, 1000]]))], [dump(0), dump(1)])
    on_disk = engine(plan, "--verify").end["verified"]
    if engine.tmp.as_posix().startswith("/dev/shm"):
        pytest.skip("the temporary folder is in memory")
    assert on_disk == {"bytes": 8000, "errors": 0, "end_bytes": 8000, "storage_bytes": 8000}
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        in_memory = engine(plan, "--verify", data=memory).end["verified"]
    finally:
        shutil.rmtree(memory)
    assert in_memory == {"bytes": 8000, "errors": 0, "end_bytes": 8000, "storage_bytes": 0}
    gone = make_plan(1, [family(keep=1)], [content(stream([[4, 1000]]))], [dump(0), dump(1)])
    assert engine(gone, "--verify").end["verified"]["end_bytes"] == 4000


@pytest.mark.parametrize("lifetime", ["reused", "appended"])
def test_later_dumps_over_earlier_ones_are_no_errors(engine: Engine, ranks: int, lifetime: str) -> None:
    """A header that each dump rewrites, and data after it; the second dump is shorter than the first."""
    family_spec = family("posix", lifetime=lifetime)
    contents = [
        content(stream([[1, 96]], pattern="same"), stream([[6 * ranks, 1000]], base=96)),
        content(stream([[1, 96]], pattern="same"), stream([[2 * ranks, 999]], base=50)),
    ]
    dumps = [dump(0, file=0), dump(1, file=0, content=1), dump(2, file=0, content=1, base=3)]
    plan = make_plan(ranks, [family_spec], contents, dumps)
    result = engine(plan, "--keep", "--verify")
    assert result.end["verified"]["errors"] == 0
    assert verify_only(engine, plan, result.data).returncode == 0
    flip(result.path("checkpoint-1.0000.dat"), 5000 * ranks)
    assert "dump 0" in verify_only(engine, plan, result.data).stderr
    flip(result.path("checkpoint-1.0000.dat"), 5000 * ranks)
    flip(result.path("checkpoint-1.0000.dat"), 60)
    assert "dump 2" in verify_only(engine, plan, result.data).stderr


def test_a_short_file_is_found(engine: Engine) -> None:
    plan = make_plan(1, [family()], [content(stream([[4, 1000]]))])
    result = engine(plan, "--keep")
    with result.path("checkpoint-1.0000.dat").open("r+b") as file:
        file.truncate(3500)
    done = verify_only(engine, plan, result.data)
    assert done.returncode == 1
    assert "byte 3500 is missing" in done.stderr
    result.path("checkpoint-1.0000.dat").unlink()
    done = verify_only(engine, plan, result.data)
    assert done.returncode == 1
    assert "No such file" in done.stderr


def lost_write(engine: Engine, plan: dict[str, Any], *args: str, when: int = 5) -> Result:
    """A write that the system only pretends to make: the fifth pwrite does nothing."""
    if shutil.which("strace") is None:
        pytest.skip("no strace")
    tracer = [
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        "trace=pwrite64",
        "-e",
        f"inject=pwrite64:retval=1000:when={when}",
    ]
    return engine(plan, *args, prefix=tracer, check=False)


def test_a_lost_write_is_found_in_the_run(engine: Engine) -> None:
    plan = make_plan(1, [family()], [content(stream([[8, 1000]]))])
    result = lost_write(engine, plan, "--verify")
    assert result.code == 1
    assert (
        "verification failed: checkpoint 1, dump 0, file checkpoint-1.0000.dat: byte 4000 is 0x00"
        in without_id(result.stderr)
    )
    assert result.end["verified"]["errors"] > 900
    assert result.errors[0]["operation"] == "verify"
    assert lost_write(engine, plan).code == 0


def test_kept_files_of_a_rolling_family_are_verified(engine: Engine, ranks: int) -> None:
    family_spec = family("posix", keep=2, sharing=sharing("per-rank"))
    plan = make_plan(ranks, [family_spec], [content(stream([[ranks, 100]]))], [dump(i) for i in range(5)])
    result = engine(plan, "--keep", "--verify")
    assert {name.split(".")[1] for name in result.files()} == {"0003", "0004"}
    assert verify_only(engine, plan, result.data).returncode == 0


def test_compressible_data(engine: Engine, ranks: int) -> None:
    plan = make_plan(
        ranks, [family()], [content(stream([[ranks * 16, 8192]]))], payload={"compressibility": 0.75}
    )
    result = engine(plan, "--keep", "--verify")
    data = result.path("checkpoint-1.0000.dat").read_bytes()
    for at in range(0, len(data), 4096):
        zeros = data[at : at + 4096].count(0)
        assert 0.74 < zeros / 4096 < 0.77
    plain = engine(plan | {"payload": {"compressibility": 0.0}}, "--keep")
    data = plain.path("checkpoint-1.0000.dat").read_bytes()
    assert data.count(0) / len(data) < 0.01


LOADED = {
    "posix": content(stream([[8, 1000]], direction="read", pattern="interleaved")),
    "stdio": content(stream([[8, 1000]], direction="read")),
    "mpiio": content(stream([[8, 1000]], direction="read", pieces=4, collective=True)),
    "hdf5": content(
        arrays=[
            {
                "datasets": 2, "element": 8, "dims": [64, 8], "chunk": None, "extendible": False,
                "access": [{"ranks": "all", "direction": "read", "collective": True, "entries": [[8, [16, 8], [1, 1]]]}],
            }
        ]
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", LOADED)
def test_loads_are_verified(engine: Engine, ranks: int, backend: str) -> None:
    """Two loads, each of a file that the run has prepared: all that they read is what was prepared."""
    plan = make_plan(ranks, [family(backend)], [LOADED[backend]], [dump(i, prepare=True) for i in range(2)])
    result = engine(plan, "--verify")
    assert result.end["verified"].items() >= {"bytes": result.total("BYTES_READ"), "errors": 0}.items()
    assert result.total("BYTES_READ") >= 16000


def test_a_mesh_is_verified_when_loaded(engine: Engine, ranks: int) -> None:
    mesh = {
        "type": "unstructured", "dimensions": 3, "parts": ranks, "nodes": 1000 * ranks, "variables": [[2, "zone", "float64"]],
        "materials": ranks, "mixed": 0.1, "direction": "read", "collective": True,
    }  # fmt: skip
    for backend in ("typhonio", "hdf5", "posix"):
        family_spec = family(backend, level="mpiio", interface=backend)
        plan = make_plan(ranks, [family_spec], [content(mesh=mesh)], [dump(prepare=True)])
        result = engine(plan, "--verify")
        assert result.end["verified"]["errors"] == 0
        assert result.end["verified"]["bytes"] > 2 * 8 * 700 * ranks


def test_a_spoilt_load_is_found(engine: Engine) -> None:
    """The prepared file is wrong: its first kilobyte was never written."""
    plan = make_plan(1, [family()], [content(stream([[8, 1000]], direction="read"))], [dump(prepare=True)])
    result = lost_write(engine, plan, "--verify", when=1)
    assert result.code == 1
    assert "checkpoint 1, dump 0, file checkpoint-1.0000.dat: byte 0 is 0x00" in without_id(result.stderr)
    assert 900 < result.end["verified"]["errors"] <= 1000
    assert result.end["verified"]["bytes"] == 8000


def test_what_nobody_knows_is_not_verified(engine: Engine, ranks: int) -> None:
    """A file that is prepared, read, and written by a later dump: only the writing is."""
    contents = [content(stream([[4, 1000]], direction="read")), content(stream([[4, 1000]]))]
    dumps = [dump(0, file=0, prepare=True), dump(1, file=0, content=1)]
    plan = make_plan(ranks, [family(lifetime="reused")], contents, dumps)
    assert engine(plan, "--verify").end["verified"].items() >= {"bytes": 4000, "errors": 0}.items()
