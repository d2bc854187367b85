"""The system calls of the posix and stdio backends, one by one, by strace."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
CALL = re.compile(r"^(\w+)\((.*)\)\s+=\s+(-?\d+)")


def trace(engine: Engine, plan: dict[str, Any], *args: str) -> tuple[list[tuple[int, str, str, int]], Any]:
    """(process, call, arguments, result) on data files, in each process's order."""
    folder = engine.tmp / f"trace{engine.runs}"
    folder.mkdir()
    tracer = ["strace", "-ff", "-y", "-s", "0", "-o", str(folder / "t"), "-e",
              "trace=openat,pwrite64,pread64,lseek,fsync,close,newfstatat,write,read"]  # fmt: skip
    result = engine(plan, *args, prefix=tracer)
    calls = []
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            match = CALL.match(line)
            if match is not None and "checkpoint-1." in line:
                calls.append((int(path.suffix[1:]), match[1], without_id(match[2]), int(match[3])))
    return calls, result


def count(calls: list[tuple[int, str, str, int]]) -> Counter[str]:
    return Counter(name for _, name, _, result in calls if result >= 0 or name == "newfstatat")


def test_posix_calls_equal_the_plan(engine: Engine, ranks: int) -> None:
    streams = [
        stream([[5 * ranks, 1000], [3 * ranks, 77]], mixed=True),
        stream([[2 * ranks, 500]], "read", "random"),
    ]
    plan = make_plan(
        ranks,
        [family("posix")],
        [
            content(
                *streams, opens=2 * ranks, stats=3 * ranks, seeks=4 * ranks, fsyncs=ranks, flushes=2 * ranks
            )
        ],
        [dump(0), dump(1)],
    )
    calls, result = trace(engine, plan)
    for d in result.dumps:
        name = f"checkpoint-1.{d['file']:04d}.dat"
        of_file = count([c for c in calls if name in c[2]])
        c = d["counters"]
        assert of_file["openat"] == c["OPENS"] == 2 * ranks
        assert of_file["close"] == c["OPENS"]
        # Process 0 checks size and blocks at the end, and the size again before it removes the file.
        assert of_file["newfstatat"] == c["STATS"] + 3 == 3 * ranks + 3
        assert of_file["lseek"] == c["SEEKS"] == 4 * ranks
        assert of_file["pwrite64"] == c["WRITES"] == 8 * ranks
        assert of_file["pread64"] == c["READS"]
        assert of_file["fsync"] == c["FSYNCS"] + c["FLUSHES"] == 3 * ranks


def test_posix_offsets_and_order(engine: Engine, ranks: int) -> None:
    """The sequence of each rank on the wire is the sequence that the record backend writes."""
    streams = [
        stream([[4 * ranks, 1000]], pattern="interleaved"),
        stream([[3 * ranks, 128]], pattern="random", base=10**6),
    ]
    plan = make_plan(ranks, [family("posix")], [content(*streams)])
    calls, _ = trace(engine, plan)
    by_process: dict[int, list[tuple[int, int]]] = {}
    for process, name, arguments, _ in calls:
        if name == "pwrite64":
            size, offset = arguments.split(", ")[-2:]
            by_process.setdefault(process, []).append((int(offset), int(size)))
    out = engine.tmp / "operations.txt"
    engine(plan, "--backend", "record", "--operations", str(out), processes=0)
    by_rank: dict[str, list[tuple[int, int]]] = {}
    for line in out.read_text().splitlines():
        rank, _, _, operation, offset, size, _ = line.split("\t")
        if operation == "write":
            by_rank.setdefault(rank, []).append((int(offset), int(size)))
    assert sorted(by_process.values()) == sorted(by_rank.values())


def test_stdio_reaches_the_system_in_order(engine: Engine) -> None:
    plan = make_plan(1, [family("stdio")], [content(stream([[300, 100]]), flushes=2, fsyncs=1)])
    calls, result = trace(engine, plan)
    written = sum(r for _, name, _, r in calls if name == "write")
    assert written == 30000
    assert result.dumps[0]["counters"]["WRITES"] == 300
    assert result.dumps[0]["counters"]["FLUSHES"] == 2
    assert count(calls)["fsync"] == 1


def test_a_new_file_is_made_exclusively(engine: Engine) -> None:
    plan = make_plan(1, [family("posix", sharing=sharing("per-rank"))], [content(stream([[1, 10]]))])
    calls, _ = trace(engine, plan)
    (opening,) = [c for c in calls if c[1] == "openat"]
    assert "O_EXCL" in opening[2]
    assert "O_TRUNC" not in opening[2]


def test_descriptors_and_memory_do_not_grow(engine: Engine) -> None:
    """The same plan with 20 and with 2000 dumps: open descriptors and memory at the end are the same."""

    def peak(dumps: int) -> tuple[int, int]:
        plan = make_plan(
            1,
            [family("posix", sharing=sharing("per-rank"))],
            [content(stream([[4, 65536]]))],
            [dump(i) for i in range(dumps)],
        )
        out = engine.tmp / f"usage{dumps}"
        engine(
            plan,
            prefix=["/usr/bin/time", "-f", "%M", "-o", str(out)] if Path("/usr/bin/time").exists() else None,
        )
        calls, _ = trace(engine, plan) if dumps <= 200 else ([], None)
        highest = max((int(m) for _, _, a, _ in calls for m in re.findall(r"^(\d+)<", a)), default=0)
        return (int(out.read_text()) if out.exists() else 0), highest

    few, many = peak(20), peak(200)
    assert few[1] == many[1]
    large = peak(2000)
    assert large[0] - few[0] < 4096, "memory grows with the number of dumps"


@pytest.mark.parametrize(("size", "syncs"), [(1 << 20, 1), ((1 << 20) - 1, 0)])
@pytest.mark.parametrize("backend", ["posix", "hdf5"])
def test_a_large_input_is_on_storage_before_the_run(
    engine: Engine, backend: str, size: int, syncs: int
) -> None:
    """One sync by the engine, which no counter has; a small input has none."""
    if backend == "hdf5":
        size += syncs * 4096 - (1 - syncs) * 65536  # what the library adds
    plan = make_plan(1, [family(backend)], [content(stream([[4, size // 4]], "read"))], [dump(prepare=True)])
    calls, result = trace(engine, plan)
    assert count(calls)["fsync"] == syncs
    assert result.dumps[0]["counters"]["FSYNCS"] == 0
