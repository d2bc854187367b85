"""Families whose files are opened with O_DIRECT."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream

KIB = 1024
O_DIRECT = os.O_DIRECT


def takes_direct(folder: Path) -> bool:
    path = folder / "probe"
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | O_DIRECT))
    except OSError:
        return False
    finally:
        path.unlink(missing_ok=True)
    return True


@pytest.fixture(autouse=True)
def on_a_file_system_with_direct(tmp_path: Path) -> None:
    if not takes_direct(tmp_path):
        pytest.skip("the file system of temporary files takes no O_DIRECT")


def flags_of_open_file(process: int, folder: Path) -> int | None:
    """How a process has opened a file in a folder."""
    for link in Path(f"/proc/{process}/fd").iterdir():
        try:
            if link.readlink().parent == folder and link.readlink().suffix == ".dat":
                info = Path(f"/proc/{process}/fdinfo/{link.name}").read_text()
                return int(info.split("flags:")[1].split()[0], 8)
        except OSError:
            continue
    return None


def cached_pages(path: Path) -> int:
    """Pages of a file in the page cache."""
    size = path.stat().st_size
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), size) as mapped:
        pages = -(-size // mmap.PAGESIZE)
        resident = (ctypes.c_ubyte * pages)()
        address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        assert libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), resident) == 0
        return sum(bits & 1 for bits in resident)


def plan_with(direct: bool, *streams: dict[str, Any], ranks: int = 1, **more: Any) -> dict[str, Any]:
    return make_plan(ranks, [family(direct=direct, **more)], [content(*streams, fsyncs=ranks)])


@pytest.mark.parametrize("direct", [False, True])
def test_the_descriptor_is_direct(engine: Engine, tmp_path: Path, direct: bool) -> None:
    """The file stays open from its first dump to its second one, two seconds later."""
    plan = plan_with(direct, stream([[4, 4 * KIB]]), lifetime="appended")
    plan["dumps"] = [dump(0, file=0), dump(1, file=0, base=16 * KIB, start_s=2)]
    plan |= {"time_scale": 1.0, "clock": "deadline"}
    data = tmp_path / "data"
    data.mkdir()
    command = [*engine.command(0), "--plan", str(engine.write(plan)), "--dir", str(data)]
    command += ["--record", str(tmp_path / "run.jsonl")]
    process = subprocess.Popen(command, env=engine.environment())
    found, until = None, time.monotonic() + 60
    while found is None and process.poll() is None and time.monotonic() < until:
        found = flags_of_open_file(process.pid, data)
        time.sleep(0.01)
    assert process.wait(60) == 0
    assert found is not None and bool(found & O_DIRECT) is direct


@pytest.mark.parametrize("direct", [False, True])
def test_the_page_cache_has_no_part_in_it(engine: Engine, direct: bool) -> None:
    result = engine(plan_with(direct, stream([[16, 64 * KIB]])), "--keep")
    assert (cached_pages(result.path("checkpoint-1.0000.dat")) == 0) is direct
    (line,) = result.dumps
    assert line.get("direct", False) is direct


@pytest.mark.parametrize(
    ("size", "pattern", "more"),
    [
        (512, "contiguous", {}),
        (4096, "interleaved", {}),
        (12288, "strided", {"stride": 65536}),
        (8192, "random", {}),
        (3 * 512, "shuffled", {}),
        (2**20 + 512, "contiguous", {"base": 512}),
        (8192, "interleaved", {"pieces": 4}),
        (6 * 2**20, "contiguous", {}),  # longer than the engine's memory reaches
    ],
)
@pytest.mark.parametrize("mode", ["shared", "per-rank"])
def test_what_is_written_is_read_back(
    engine: Engine, ranks: int, size: int, pattern: str, more: dict[str, Any], mode: str
) -> None:
    written = stream([[8 * ranks, size]], pattern=pattern, **more)
    plan = plan_with(True, written, written | {"direction": "read"}, ranks=ranks, sharing=sharing(mode))
    plan["contents"][0] |= {"seek_each": True, "sync": [2, 1]}
    result = engine(plan, "--verify")
    moved = 8 * ranks * size
    (line,) = result.dumps
    assert line["bytes_written"] == line["bytes_read"] == moved
    assert result.end["verified"]["bytes"] == moved and result.end["verified"]["errors"] == 0
    assert line["counters"]["FSYNCS"] == 4 * ranks + ranks


def test_prepared_files_are_read_from_storage(engine: Engine, ranks: int) -> None:
    plan = plan_with(True, stream([[8 * ranks, 64 * KIB]], "read"), ranks=ranks)
    plan["contents"][0]["fsyncs"] = 0
    plan["dumps"][0]["prepare"] = True
    result = engine(plan, "--verify", "--keep")
    assert result.dumps[0]["bytes_read"] == result.end["verified"]["bytes"] == 8 * ranks * 64 * KIB
    assert result.end["verified"]["errors"] == 0
    plain = engine(plan, "--keep")  # verification reads through the cache
    assert cached_pages(plain.path("checkpoint-1.0000.dat")) == 0


def test_a_data_set_is_read_so(engine: Engine, ranks: int) -> None:
    dataset = {"files": 4, "samples": 2, "bytes": 8 * 8 * KIB, "header": 512, "transfer": 4 * KIB, "deal": 1}
    plan = make_plan(
        ranks,
        [family(direct=True, lifetime="reused", role="input")],
        [content(dataset=dataset)],
        [dump(0, file=0, prepare=True)],
    )
    result = engine(plan, "--verify")
    assert result.dumps[0]["direct"] is True and result.dumps[0]["bytes_read"] >= 64 * KIB


def test_reused_truncated_and_renamed_files(engine: Engine, ranks: int) -> None:
    for more in (
        {"lifetime": "reused", "truncate": True, "sharing": sharing("per-rank")},
        {"rename": True, "keep": 1},
    ):
        plan = plan_with(True, stream([[4 * ranks, 8 * KIB]]), ranks=ranks, **more)
        file = (lambda _: 0) if "truncate" in more else (lambda i: i)
        plan["dumps"] = [dump(i, file=file(i), start_s=i) for i in range(3)]
        assert engine(plan, "--verify").end["verified"]["errors"] == 0


@pytest.mark.parametrize(
    ("plan", "place", "words"),
    [
        (
            plan_with(True, stream([[4, 1000]])),
            "contents[0].streams[0].entries[0]",
            "an operation of 1000 bytes",
        ),
        (
            plan_with(True, stream([[4, 512]]), stream([[1, 512], [1, 100]])),
            "contents[0].streams[1].entries[1]",
            "100",
        ),
        (plan_with(True, stream([[4, 512]], base=1)), "contents[0].streams[0].base", "an offset of 1 bytes"),
        (
            plan_with(True, stream([[4, 512]], pattern="strided", stride=1000)),
            "contents[0].streams[0].stride",
            "a stride of 1000 bytes",
        ),
        (plan_with(True, stream([[4, 1024]], pieces=4)), "contents[0].streams[0].entries[0]", "256"),
    ],
)
def test_sizes_that_are_no_blocks_are_refused(
    engine: Engine, plan: dict[str, Any], place: str, words: str
) -> None:
    result = engine(plan, check=False)
    assert result.code == 2
    assert place in result.refusal and words in result.refusal
    assert "checkpoint 1 is direct" in result.refusal and "no multiple of 512" in result.refusal
    plan["families"][0]["direct"] = False
    assert engine(plan).code == 0


def test_the_base_of_a_dump_is_a_block(engine: Engine) -> None:
    plan = plan_with(True, stream([[4, 512]]), lifetime="appended")
    plan["dumps"] = [dump(0, file=0, base=100)]
    result = engine(plan, check=False)
    assert (
        result.code == 2
        and "dumps[0].base: checkpoint 1 is direct, and an offset of 100 bytes" in result.refusal
    )


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"bytes": 4 * KIB + 1}, "bytes"),
        ({"bytes": 4 * 100}, "bytes"),
        ({"header": 10}, "header"),
        ({"transfer": 1000}, "transfer"),
        ({"deviation": 512}, "deviation"),
    ],
)
def test_samples_that_are_no_blocks_are_refused(engine: Engine, change: dict[str, int], place: str) -> None:
    dataset = {"files": 2, "samples": 2, "bytes": 4 * KIB} | change
    plan = make_plan(
        1, [family(direct=True, lifetime="reused")], [content(dataset=dataset)], [dump(prepare=True)]
    )
    result = engine(plan, check=False)
    assert result.code == 2
    assert f"contents[0].dataset.{place}: checkpoint 1 is direct" in result.refusal


@pytest.mark.parametrize("backend", ["stdio", "mpiio"])
def test_other_interfaces_are_refused(engine: Engine, backend: str) -> None:
    result = engine(make_plan(1, [family(backend, direct=True)], [content(stream([[1, 512]]))]), check=False)
    assert result.code == 2
    assert "families[0].direct: opens files with O_DIRECT, which goes with interface posix" in result.refusal
    performed = engine(plan_with(True, stream([[1, 512]])), "--backend", backend, check=False)
    assert performed.code == 2
    assert f"checkpoint 1: the backend {backend} opens no files with O_DIRECT" in performed.refusal


@pytest.fixture
def no_direct(tmp_path: Path) -> Iterator[Path]:
    """A file system that takes no O_DIRECT."""
    folder = tmp_path / "ramfs"
    folder.mkdir()
    mount = ["mount", "-t", "ramfs", "ramfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("no other file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_file_system_that_refuses_it_is_named(engine: Engine, no_direct: Path) -> None:
    if takes_direct(no_direct):
        pytest.skip("this kernel's ramfs takes O_DIRECT")
    result = engine(plan_with(True, stream([[1, 4096]])), data=no_direct, check=False)
    assert result.code == 1
    assert (
        "ramfs takes no O_DIRECT (Invalid argument): leave out `direct`, or choose another directory"
        in result.stderr
    )
    assert not list(no_direct.iterdir())


@pytest.fixture
def large_blocks(tmp_path: Path) -> Iterator[Path]:
    """A file system on a device with blocks of 4096 bytes."""
    image, folder = tmp_path / "image", tmp_path / "large"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(16 * 2**20)

    def done(*command: str) -> str | None:
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        return run.stdout.strip() if run.returncode == 0 else None

    device = (
        done("losetup", "--find", "--show", "--sector-size", "4096", str(image))
        if os.geteuid() == 0
        else None
    )
    if device is None:
        pytest.skip("no loop device with large blocks can be made here")
    try:
        if done("mkfs.ext4", "-q", device) is None or done("mount", device, str(folder)) is None:
            pytest.skip("a loop device cannot be mounted here")
        (folder / "data").mkdir()
        yield folder / "data"
        done("umount", "-l", str(folder))
    finally:
        done("losetup", "--detach", device)


def test_blocks_that_are_larger_than_the_sizes_are_named(engine: Engine, large_blocks: Path) -> None:
    result = engine(plan_with(True, stream([[4, 512]])), data=large_blocks, check=False)
    assert result.code == 1
    assert "ext4 refuses 512 bytes at byte" in result.stderr and "use multiples of 4096" in result.stderr
    assert engine(plan_with(True, stream([[4, 4096]])), data=large_blocks).code == 0
