"""Maps of files into memory: how often, of what, and what cannot be mapped."""

from __future__ import annotations

import json
import mmap
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id

traced = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
MAPPED = re.compile(r"mmap\(NULL, (\d+), (\S+), MAP_SHARED, \d+<.*/([^/]+)>, 0\) += (\S+)")


def plan_with(backend: str, direction: str = "write", maps: int = 3, **more: Any) -> dict[str, Any]:
    of_content = content(stream([[4, 100]], direction), maps=maps, **more)
    return make_plan(2, [family(backend, sharing=sharing("per-rank"))], [of_content], [dump(0)])


@traced
@pytest.mark.parametrize("backend", ["posix", "stdio"])
@pytest.mark.parametrize("direction", ["write", "read"])
def test_files_are_mapped_as_they_are_opened_and_unmapped_before_the_close(
    engine: Engine, backend: str, direction: str
) -> None:
    """Two ranks share three maps: one rank makes two, of which the second takes the place of the first."""
    tracer = ["strace", "-ff", "-y", "-o", str(engine.tmp / "t"), "-e", "trace=mmap,munmap,close"]
    result = engine(plan_with(backend, direction), prefix=tracer)
    found, order = [], []
    for path in engine.tmp.glob("t.*"):
        at = None
        for line in path.read_text().splitlines():
            match = MAPPED.match(line)
            if match is not None and "checkpoint-1." in line:
                found.append((without_id(match[3]), int(match[1]), match[2]))
                order.append("map")
                at = match[4]
            elif at is not None and line.startswith(f"munmap({at},"):
                order.append("unmap")
                at = None
            elif line.startswith("close") and "checkpoint-1." in line and order:
                order.append("close")
    mode = "PROT_READ|PROT_WRITE" if direction == "write" else "PROT_READ"
    name = "checkpoint-1.0000.r00000{}.dat"
    assert sorted(found) == [(name.format(rank), mmap.PAGESIZE, mode) for rank in (0, 0, 1)]
    text = " ".join(order)
    assert text.count("unmap close") == 2 and text.count("unmap") == 3
    (made,) = result.dumps
    assert (made["counters"]["MMAPS"], made["kinds"]["map"]["count"]) == (3, 3)


@pytest.mark.parametrize("backend", ["posix", "stdio"])
def test_a_file_that_is_only_mapped_is_opened(engine: Engine, backend: str) -> None:
    plan = make_plan(2, [family(backend)], [content(maps=1)], [dump(0)])
    (made,) = engine(plan).dumps
    assert (made["counters"]["MMAPS"], made["counters"]["OPENS"]) == (1, 1)
    assert engine(plan, "--backend", "null").dumps[0]["counters"]["MMAPS"] == 1


def test_a_file_has_one_map_at_a_time(engine: Engine) -> None:
    """More maps than a process may have (65,530 by default)."""
    (made,) = engine(plan_with("posix", maps=140_000)).dumps
    assert made["counters"]["MMAPS"] == 140_000


@traced
@pytest.mark.parametrize(
    ("error", "said"),
    [("ENODEV", "the file system maps no files into memory"), ("ENOMEM", "Cannot allocate")],
)
def test_a_file_system_that_refuses_is_named(engine: Engine, error: str, said: str) -> None:
    """Calls of mmap on the data file fail, as some file systems of user space let them."""
    plan = make_plan(1, [family("posix", sharing=sharing("per-rank"))], [content(stream([[1, 9]]), maps=1)])
    columns = _core.Plan(json.dumps(plan)).operations(rank=0, most=9)
    (name,) = set(columns["names"])
    data = engine.tmp / "data"
    data.mkdir()
    tracer = [
        "strace",
        "-f",
        "-P",
        str(data / name),
        "-o",
        str(engine.tmp / "t"),
        "-e",
        f"inject=mmap:error={error}",
    ]
    result = engine(plan, prefix=tracer, data=data, check=False)
    assert result.code == 1
    (found,) = result.errors
    assert found["operation"] == "mmap" and said in found["reason"]


@pytest.mark.parametrize("backend", ["mpiio", "hdf5"])
def test_only_posix_and_stdio_map(engine: Engine, backend: str) -> None:
    result = engine(plan_with(backend), check=False)
    assert (result.code, "contents[0].maps: need the descriptor of a file" in result.refusal) == (2, True)
    other = engine(plan_with("posix"), "--backend", "mpiio", check=False)
    assert (other.code, "mpiio maps no files into memory" in other.refusal) == (2, True)


def test_maps_have_lines_among_the_operations(engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "operations.txt"
    engine(plan_with("posix"), "--backend", "record", "--operations", str(out), processes=0)
    words = [line.split("\t")[3] for line in out.read_text().splitlines() if line.startswith("0\t")]
    assert words == ["open", "map", "map", "write", "write", "close"]
