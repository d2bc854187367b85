"""A failing call ends all ranks: one line names rank, place and reason; the record keeps what was done."""

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

from workalike import _core

from .conftest import Engine, Result, content, dump, family, make_plan, sharing, stream


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def failure_lines(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("workalike-engine: rank ")]


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio", "hdf5"])
@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_disk_full(engine: Engine, ranks: int, small_disk: Path, backend: str, mode: str) -> None:
    family_spec = family(backend, sharing=sharing(mode))
    # Dumps of 2 MiB, so far apart that all ranks finish one before the next.
    dumps = [dump(i, start_s=0.3 * (i + 1)) for i in range(4)]
    plan = make_plan(
        ranks, [family_spec], [content(stream([[8 * ranks, 262144 // ranks]]))], dumps, time_scale=1.0
    )
    result = engine(plan, data=small_disk, check=False, timeout=60)
    assert result.code not in (0, 2)
    lines = failure_lines(result)
    assert lines
    assert "checkpoint 1, dump " in lines[0]
    # Libraries lose the reason, and a rank that fails later may find space that another rank has freed.
    assert (all if backend in ("posix", "stdio") else any)(
        "No space left on device" in line for line in lines
    ), lines
    assert [d["index"] for d in result.dumps][:1] == [0]
    assert len(result.dumps) < 3
    assert result.errors
    assert result.errors[0]["role"] == "checkpoint"
    assert result.errors[0]["index"] in (1, 2)
    assert result.lines[-1]["type"] == "error"
    if ranks == 1:  # others may still be writing when the failing rank cleans up; the launcher does it again
        assert not list(small_disk.iterdir())


@pytest.mark.parametrize("kept", [{}, {"keep": 1}], ids=["left", "removed"])
def test_bytes_that_a_full_disk_lost_are_missed(
    engine: Engine, small_disk: Path, kept: dict[str, Any]
) -> None:
    """OMPIO of Open MPI 4.1 reports success of collective writes of four ranks whatever became of them."""
    spec = family("mpiio", sharing=sharing("shared"), **kept)
    plan = make_plan(
        4, [spec], [content(stream([[16, 196608]], collective=True))], [dump(i) for i in range(5)]
    )
    result = engine(plan, data=small_disk, check=False, timeout=60)
    assert result.code not in (0, 2)
    (line,) = failure_lines(result)[:1]
    assert "bytes after its last close, 3145728 were written" in line
    assert "No space left on device" in line
    assert result.errors[0]["role"] == "checkpoint"
    assert result.lines[-1]["type"] == "error"


@pytest.mark.parametrize("collective", [True, False])
def test_a_library_s_file_that_a_full_disk_cut_is_missed(
    engine: Engine, small_disk: Path, collective: bool
) -> None:
    """HDF5 above OMPIO: whatever the calls report, no file is left that HDF5 cannot open."""
    array = {
        "datasets": 1, "element": 8, "dims": [4 * 24576 * 4], "chunk": None, "extendible": False, "fill_values": False,
        "access": [{"ranks": "all", "direction": "write", "collective": collective,
                    "entries": [[4, [24576], [1]]]}],
    }  # fmt: skip
    spec = family("hdf5", sharing=sharing("shared"), level="h5d")
    plan = make_plan(4, [spec], [{**content(), "arrays": [array]}], [dump(i) for i in range(6)])
    result = engine(plan, data=small_disk, check=False, timeout=60)
    assert result.code not in (0, 2)
    assert failure_lines(result)
    assert result.errors[0]["role"] == "checkpoint"


def test_a_file_that_somebody_removed_is_missed(engine: Engine, tmp_path: Path) -> None:
    spec = family("posix")
    plan = make_plan(
        1, [spec], [content(stream([[2, 1000]]))], [dump(0), dump(1, start_s=2.0)], time_scale=1.0
    )
    data = tmp_path / "gone"
    process = start(engine, plan, data, 0)
    wait_for_dumps(engine, 1)
    (file,) = [path for path in data.iterdir() if "checkpoint-1.0000" in path.name]
    file.unlink()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "is not there after its last close, 2000 were written" in err


def test_read_only_directory(engine: Engine, ranks: int, tmp_path: Path) -> None:
    folder = tmp_path / "readonly"
    folder.mkdir()
    if os.geteuid() == 0:
        command = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("root ignores permissions, and a read-only file system cannot be mounted here")
    else:
        folder.chmod(0o500)
    try:
        plan = make_plan(ranks, [family("posix")], [content(stream([[ranks, 100]]))])
        result = engine(plan, data=folder, check=False, timeout=60)
        assert result.code not in (0, 2)
        assert "open failed: " in failure_lines(result)[0]
        assert result.errors[0]["operation"] == "open"
        assert result.errors[0]["reason"] in ("Read-only file system", "Permission denied")
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def start(engine: Engine, plan: dict[str, Any], data: Path, processes: int) -> subprocess.Popen[str]:
    path = engine.write(plan)
    data.mkdir()
    command = [
        *engine.command(processes), "--plan", str(path), "--dir", str(data), "--record", str(engine.tmp / "run.jsonl"),
    ]  # fmt: skip
    return subprocess.Popen(
        command,
        env=engine.environment(processes),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def wait_for_dumps(engine: Engine, count: int) -> None:
    record = engine.tmp / "run.jsonl"
    for _ in range(600):
        if record.exists() and record.read_text().count('"type":"dump"') >= count:
            return
        time.sleep(0.05)
    raise AssertionError("the run does not get on")


def long_plan(ranks: int, backend: str = "posix") -> dict[str, Any]:
    dumps = [dump(i, start_s=0.1 * (i + 1)) for i in range(600)]
    family_spec = family(backend, sharing=sharing("per-rank"))
    return make_plan(ranks, [family_spec], [content(stream([[ranks, 100]]))], dumps, time_scale=1.0)


def test_vanished_directory(engine: Engine, ranks: int, tmp_path: Path) -> None:
    data = tmp_path / "data"
    process = start(engine, long_plan(ranks), data, ranks if ranks > 1 else 0)
    wait_for_dumps(engine, 2)
    data.rename(tmp_path / "elsewhere")
    _, stderr = process.communicate(timeout=30)
    assert process.returncode not in (0, 2)
    assert "open failed: No such file or directory" in stderr
    lines = [json.loads(line) for line in (engine.tmp / "run.jsonl").read_text().splitlines()]
    assert lines[-1]["type"] == "error"
    assert lines[-1]["reason"] == "No such file or directory"
    assert sum(line["type"] == "dump" for line in lines) >= 2


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(engine: Engine, ranks: int, tmp_path: Path, signum: signal.Signals) -> None:
    data = tmp_path / "data"
    plan = long_plan(ranks)
    process = start(engine, plan, data, ranks if ranks > 1 else 0)
    wait_for_dumps(engine, 2)
    process.send_signal(signum)
    process.communicate(timeout=300)
    assert process.returncode != 0
    # It ends at once, not at the end of the schedule.
    lines = [json.loads(line) for line in (engine.tmp / "run.jsonl").read_text().splitlines()]
    assert 2 <= sum(line["type"] == "dump" for line in lines) < len(plan["dumps"])


def test_interrupted_while_computing(engine: Engine, ranks: int, tmp_path: Path) -> None:
    """Ranks that exchange data between two loads, for an hour."""
    content_spec = content(stream([[ranks, 100]], direction="read"))
    dumps = [dump(i, prepare=True) for i in range(2)]
    plan = make_plan(ranks, [family()], [content_spec], dumps, compute={"level": 3, "units": 65536})
    data = tmp_path / "data"
    process = start(engine, plan, data, ranks if ranks > 1 else 0)
    wait_for_dumps(engine, 1)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert "end" not in [
        json.loads(line)["type"] for line in (engine.tmp / "run.jsonl").read_text().splitlines()
    ]


def child_engines(parent: int, engine: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(stat[1]) == parent and (entry / "exe").resolve() == engine.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_killed_rank_ends_all(engine: Engine, tmp_path: Path, backend: str) -> None:
    plan = long_plan(4, backend)
    plan["families"][0]["sharing"] = sharing()
    process = start(engine, plan, tmp_path / "data", 4)
    wait_for_dumps(engine, 2)
    children = child_engines(process.pid, engine.path)
    assert len(children) == 4
    os.kill(sorted(children)[2], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert not child_engines(process.pid, engine.path)
    lines = (engine.tmp / "run.jsonl").read_text().splitlines()
    assert sum('"type":"dump"' in line for line in lines) >= 2
    assert all(json.loads(line) for line in lines)


def test_nothing_of_others_is_overwritten(engine: Engine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    plan = make_plan(1, [family()], [content(stream([[1, 100]]))])
    (name,) = _core.Plan(json.dumps(plan)).operations(rank=0, most=10)["names"]
    (data / name).write_text("precious")
    (data / "unrelated.dat").write_text("mine")
    result = engine(plan, data=data, check=False)
    assert result.code == 2
    assert f"{name}: exists already" in result.stderr
    assert (data / name).read_text() == "precious"
    (data / name).unlink()
    engine(plan, data=data)
    assert [p.name for p in data.iterdir()] == ["unrelated.dat"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: ["--dir", "/nonexistent/folder"], "--dir must name a directory"),
        (lambda a: ["--backend", "tape"], "unknown backend"),
        (lambda a: ["--frobnicate"], "--frobnicate"),
        (lambda a: ["--backend", "record"], "--operations"),
    ],
)
def test_bad_usage(engine: Engine, change: Any, words: str) -> None:
    plan = make_plan(1, [family()], [content(stream([[1, 100]]))])
    path = engine.write(plan)
    command = [str(engine.path), "--plan", str(path), *change(None)]
    done = subprocess.run(
        command, env=engine.environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_wrong_number_of_processes(engine: Engine) -> None:
    plan = make_plan(3, [family()], [content(stream([[3, 100]]))])
    result = engine(plan, processes=2, check=False)
    assert result.code == 2
    assert "3 ranks" in result.stderr


@pytest.mark.parametrize("option", ["--per-rank", "--operations"])
def test_a_side_file_that_cannot_be_made_is_named(
    engine: Engine, ranks: int, tmp_path: Path, option: str
) -> None:
    plan = make_plan(ranks, [family()], [content(stream([[ranks, 100]]))])
    path = str(tmp_path / "none" / "side")
    backend = ["--backend", "record"] if option == "--operations" else []
    result = engine(plan, option, path, *backend, check=False)
    assert result.code == 2
    assert f"{path}: No such file or directory" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_operations_that_find_no_room(engine: Engine) -> None:
    plan = make_plan(1, [family()], [content(stream([[1, 100]]))])
    result = engine(plan, "--backend", "record", "--operations", "/dev/full", check=False)
    assert result.code == 1
    assert "--operations failed: No space left on device" in result.stderr


def test_operations_of_another_run_are_not_added_to(engine: Engine, tmp_path: Path) -> None:
    plan = make_plan(1, [family()], [content(stream([[1, 100]]))])
    (tmp_path / "operations").write_text("of another run\n")
    path = str(tmp_path / "operations")
    result = engine(plan, "--backend", "record", "--operations", path, check=False)
    assert result.code == 2
    assert "operations: exists already" in result.stderr


def test_a_run_that_does_not_get_the_lock_leaves_kept_files_alone(engine: Engine, tmp_path: Path) -> None:
    plan = make_plan(1, [family()], [content(stream([[1, 100]]))])
    kept = engine(plan, "--keep")
    (name,) = kept.files()
    lock = f"workalike-{_core.Plan(json.dumps(plan)).id}.lock"
    (kept.data / lock).symlink_to(tmp_path / "elsewhere")
    refused = engine(plan, data=kept.data, check=False)
    assert refused.code == 1
    assert kept.path(name).stat().st_size == 100
    assert not (tmp_path / "elsewhere").exists()
