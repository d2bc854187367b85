"""Reads meet data: plans that read what nobody wrote are refused, and a read that ends early fails the run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import defaultdict
from typing import Any

import pytest

from workalike import _core
from workalike.workload.model import Workload

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id
from .test_core_agrees import random_plan

WRITE, READ = stream([[8, 100]]), stream([[8, 100]], "read")


def two_dumps(first: Any, second: Any, item: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A file that two dumps use."""
    contents = [content(first), content(second)]
    dumps = [dump(0), dump(1, file=0, content=1, **more)]
    return make_plan(4, [item or family()], contents, dumps)


def refusal(plan: dict[str, Any]) -> str:
    with pytest.raises(_core.PlanError) as error:
        _core.Plan(json.dumps(plan))
    return str(error.value)


def test_a_read_beyond_what_was_written_is_refused_by_core_and_engine(engine: Engine) -> None:
    plan = two_dumps(WRITE, stream([[8, 150]], "read"))
    line = refusal(plan)
    assert line.startswith("dumps[1]: stream 0 reads bytes 800 to 1199 of checkpoint-1.0000.")
    assert "which no dump has written" in line
    result = engine(plan, processes=1, check=False)
    assert (result.code, result.lines) == (2, []), result.stderr
    assert result.refusal.endswith(line)
    plan["dumps"][1]["prepare"] = True
    assert engine(plan).dumps[1]["bytes_read"] == 1200


@pytest.mark.parametrize(
    "second",
    [READ, stream([[4, 800]], "read", "replicated"), stream([[1, 300]], "read", base=500)],
    ids=["same", "whole", "end"],
)
def test_what_was_written_may_be_read(second: dict[str, Any]) -> None:
    _core.Plan(json.dumps(two_dumps(WRITE, second)))


def test_a_read_of_a_hole_is_refused_unless_the_family_says_that_its_files_have_holes(engine: Engine) -> None:
    plan = two_dumps(stream([[1, 100]], base=10_000), stream([[100, 101]], "read"))
    line = refusal(plan)
    assert line.startswith("dumps[1]: stream 0 reads bytes 0 to 9999 of checkpoint-1.0000.")
    result = engine(plan, processes=1, check=False)
    assert (result.code, result.lines) == (2, []), result.stderr
    assert result.refusal.endswith(line)
    plan["families"][0]["sparse"] = True
    assert engine(plan).dumps[1]["bytes_read"] == 10_100
    plan["contents"][1] = content(stream([[1, 100], [100, 101]], "read"))
    assert "reads bytes 10100 to 10199" in refusal(plan)
    del plan["families"][0]["sparse"]
    plan["dumps"][1]["prepare"] = True
    assert engine(plan).dumps[1]["bytes_read"] == 10_200


def strided(operations: int, base: int = 0, direction: str = "write") -> Any:
    return stream([[operations, 100]], direction, "strided", stride=200, base=base)


def test_operations_that_leave_holes_are_filled_by_later_ones() -> None:
    """Eight writes of every second block; then the blocks between them, but for the last."""
    plan = two_dumps(strided(8), strided(8, direction="read"))
    _core.Plan(json.dumps(plan))
    plan = two_dumps(strided(8), stream([[15, 100]], "read"))
    assert "reads bytes 100 to 199" in refusal(plan)
    plan = two_dumps(strided(8), strided(8, base=100, direction="read"))
    assert "reads bytes 100 to 199" in refusal(plan)
    plan["contents"][1] = content(strided(6, base=100), stream([[15, 100]], "read"))
    assert "dumps[1]: stream 1 reads bytes 1300 to 1399" in refusal(plan)
    plan["contents"][1] = content(strided(7, base=100), stream([[15, 100]], "read"))
    _core.Plan(json.dumps(plan))


def test_a_file_that_is_emptied_has_what_was_written_since() -> None:
    item = family(sharing=sharing("root", [[0, 0, 1]]), lifetime="reused", truncate=True)
    contents = [content(stream([[8, 100]])), content(stream([[4, 100]])), content(stream([[8, 100]], "read"))]
    dumps = [dump(i, file=0, content=i) for i in range(3)]
    plan = make_plan(4, [item], contents, dumps)
    assert "dumps[2]: stream 0 reads bytes 400 to 799" in refusal(plan)
    plan["contents"][2] = content(stream([[4, 100]], "read"))
    _core.Plan(json.dumps(plan))


def test_very_many_holes_are_looked_at_only_as_far_as_the_bound_says() -> None:
    """Within it the hole is found; beyond it the end of the file is."""
    many = 900_000
    plan = two_dumps(strided(many), stream([[2 * many - 1, 100]], "read"))
    begun = time.process_time()
    assert "reads bytes 100 to 199" in refusal(plan)
    assert time.process_time() - begun < 5
    many = 90_000_000
    plan = two_dumps(strided(many), stream([[2 * many - 1, 100]], "read"))
    begun = time.process_time()
    _core.Plan(json.dumps(plan))
    plan = two_dumps(strided(many), strided(many + 1, direction="read"))
    assert f"reads bytes {200 * many} to {200 * many + 99}" in refusal(plan)
    assert time.process_time() - begun < 5


def test_holes_that_a_dump_fills_are_not_walked_again_by_each_stream() -> None:
    """Each of 300 streams reads over the 900,000 blocks of an earlier dump."""
    many = 900_000
    whole, reads = stream([[2 * many, 100]]), [stream([[2 * many, 100]], "read")] * 300
    plan = two_dumps(strided(many), whole)
    plan["contents"][1] = content(whole, *reads)
    begun = time.process_time()
    _core.Plan(json.dumps(plan))
    plan["contents"][1] = content(whole, *reads, stream([[2 * many + 1, 100]], "read"))
    assert f"stream 301 reads bytes {200 * many} to {200 * many + 99}" in refusal(plan)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(("contents", "entries"), [(1000, 1), (1, 200), (2, 5000)])
def test_rules_of_very_many_files_are_looked_at_only_as_far_as_the_bound_says(
    contents: int, entries: int
) -> None:
    """A file of each rank: all files of all dumps would take minutes. What every file misses is found all the same."""
    ranks = 1_000_000
    moves = [[[ranks, 100 + i + e] for e in range(entries)] for i in range(contents)]
    found = [content(stream(entries), stream(entries, "read")) for entries in moves]
    found[-1]["streams"][1]["entries"] = [*moves[-1], [ranks, 1]]
    item = family(sharing=sharing("per-rank"))
    plan = make_plan(ranks, [item], found, [dump(i, content=i, file=i) for i in range(contents)])
    begun = time.process_time()
    assert _core.unwritten_dumps(json.dumps(plan)) == [(contents - 1, False)]
    assert time.process_time() - begun < 20


def test_very_many_streams_are_compared_with_each_other_once() -> None:
    """Each reads what no single one of the earlier streams has written, in each of several dumps."""
    streams = [strided(2 + k) for k in range(4000)]
    streams += [strided(k, direction="read") for k in range(5000, 7000)]
    plan = make_plan(4, [family()], [content(*streams)], [dump(i, file=0, prepare=True) for i in range(20)])
    begun = time.process_time()
    _core.Plan(json.dumps(plan))
    assert time.process_time() - begun < 10


INTERRUPTED = """
import os, signal, sys, threading, time
from workalike import _core
text = sys.stdin.read()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
begun = time.monotonic()
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    _core.Plan(text)
except KeyboardInterrupt:
    print(time.monotonic() - begun)
"""


def test_a_check_of_reads_ends_with_a_signal() -> None:
    """Two million files with a stream each are looked at, in each of thousands of dumps: longer than until the signal."""
    ranks = 1_000_000
    item = family(sharing=sharing("per-rank"))
    contents = [content(stream([[ranks, 100]])), content(stream([[ranks, 100]], "read"))]
    dumps = [dump(i, file=i // 2, content=i % 2) for i in range(5000)]
    plan = make_plan(4, [item], contents, dumps) | {"ranks": ranks}
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert 0.2 < float(done.stdout) < 20, done.stderr


def test_a_prepared_file_has_the_place_of_an_entry_that_only_other_files_have(engine: Engine) -> None:
    """All files have the same places: the second entry is after the first, which one rank alone reads."""
    item = family(sharing=sharing("per-rank"))
    reads = content(stream([[1, 1024], [4, 100]], "read", "same"))
    plan = make_plan(2, [item], [reads], [dump(0, prepare=True)])
    assert engine(plan).dumps[0]["bytes_read"] == 1024 + 400


def test_each_file_is_looked_at() -> None:
    """Of four files, the last two are shorter than what is read of them."""
    item = family(sharing=sharing("per-rank"))
    plan = two_dumps(stream([[6, 100]]), stream([[8, 100]], "read"), item)
    assert "bytes 100 to 199 of checkpoint-1.0000.r000002." in refusal(plan)
    plan = two_dumps(stream([[1, 100]], ranks=[[3, 3, 1]]), stream([[4, 100]], "read"), item)
    assert "bytes 0 to 99 of checkpoint-1.0000.r000000." in refusal(plan)


def test_the_last_of_very_many_files_is_looked_at() -> None:
    ranks = 2**22
    item = family(sharing=sharing("per-rank"))
    plan = two_dumps(stream([[2 * ranks - 3, 100]]), stream([[2 * ranks, 100]], "read"), item)
    plan["ranks"] = ranks
    assert f"bytes 100 to 199 of checkpoint-1.0000.r{ranks - 3:06d}." in refusal(plan)
    plan = two_dumps(
        stream([[ranks - 1, 100]], ranks=[[0, ranks - 2, 1]]), stream([[ranks, 100]], "read"), item
    )
    plan["ranks"] = ranks
    assert f"of checkpoint-1.0000.r{ranks - 1:06d}." in refusal(plan)


def test_in_one_dump_what_comes_before_counts() -> None:
    good = make_plan(4, [family()], [content(WRITE, READ)])
    _core.Plan(json.dumps(good))
    bad = make_plan(4, [family()], [content(READ, WRITE)])
    assert refusal(bad).startswith("dumps[0]: stream 0 reads bytes 0 to 799")


BATON = sharing("groups", files=2, turns="baton")


@pytest.mark.parametrize("write", ["contiguous", "interleaved", "random"])
def test_ranks_that_take_turns_may_read_what_they_and_earlier_ranks_wrote(engine: Engine, write: str) -> None:
    """Two files of two ranks, with 8 operations each; the first half is that of the rank with the first turn."""
    streams = [stream([[16, 100]], pattern=write), stream([[16, 100]], "read", pattern=write)]
    if write == "contiguous":
        streams.append(stream([[4, 400]], "read", "same"))
    plan = make_plan(4, [family(sharing=BATON)], [content(*streams)], [dump(i) for i in range(3)])
    assert engine(plan, "--verify").end["verified"]["errors"] == 0


@pytest.mark.mpi
def test_what_a_later_rank_writes_cannot_be_read_by_ranks_that_take_turns(engine: Engine) -> None:
    """The run would fail midway: nothing can make the first rank wait for the second one's turn."""
    plan = make_plan(
        4,
        [family(sharing=BATON)],
        [content(WRITE), content(stream([[16, 100]]), stream([[4, 800]], "read", "same"))],
        [dump(0), dump(1, content=1)],
    )
    line = refusal(plan)
    assert line.startswith("dumps[1]: stream 1 reads bytes 400 to 799 of checkpoint-1.0001.g0000.")
    assert "a rank with a later turn writes" in line
    result = engine(plan, check=False)
    assert (result.code, result.lines) == (2, []), result.stderr
    assert result.refusal.endswith(line)
    assert _core.unwritten_dumps(json.dumps(plan)) == [(1, False)]
    plan["dumps"][1]["prepare"] = True
    assert engine(plan).dumps[1]["bytes_read"] == 4 * 800
    plan["dumps"][1]["prepare"] = False
    plan["families"][0]["sharing"] = BATON | {"turns": "concurrent"}
    assert engine(plan).dumps[1]["bytes_read"] == 4 * 800


@pytest.mark.parametrize("pattern", ["shuffled", "interleaved"])
def test_places_that_a_later_rank_writes_are_read_only_as_holes(engine: Engine, pattern: str) -> None:
    write, read = stream([[16, 100]]), stream([[16, 100]], "read", pattern)
    plan = make_plan(4, [family(sharing=BATON, sparse=True)], [content(write, read)], [dump(0)])
    assert "with a later turn" in refusal(plan)
    # A byte further on, written by the first rank of each file, makes holes of them.
    far = stream([[2, 1]], ranks=[[0, 2, 2]], base=5000)
    plan["contents"] = [content(far, write, read)]
    assert engine(plan).dumps[0]["bytes_read"] == 1600
    del plan["families"][0]["sparse"]
    assert "with a later turn" in refusal(plan)


def missing_of(plan: dict[str, Any], core: _core.Plan) -> dict[int, tuple[str, bool]]:
    """The first file, by name, of which each dump reads bytes that nobody wrote, if possible beyond its end; and whether
    all of these are holes.

    Found byte by byte from operations of all ranks: only for dumps with one stream, in which the order of ranks does
    not matter.
    """
    written: dict[str, bytearray] = defaultdict(bytearray)
    calls: dict[int, list[tuple[str, str, int, int]]] = defaultdict(list)
    for rank in range(plan["ranks"]):
        columns = core.operations(rank=rank, most=10**6)
        rows = (columns[name].tolist() for name in ("dump", "file", "kind", "offset", "length"))
        for position, file, kind, offset, length in zip(*rows, strict=True):
            if _core.kinds[kind] in ("read", "write") and length:
                name = columns["names"][file]
                calls[position].append((name, _core.kinds[kind], offset, offset + length))
    out: dict[int, tuple[str, bool]] = {}
    for position in range(len(plan["dumps"])):
        for name, kind, start, end in sorted(calls[position]):
            held = written[name]
            if kind == "write":
                held.extend(bytes(max(0, end - len(held))))
                held[start:end] = b"\1" * (end - start)
            elif end > len(held) or 0 in held[start:end]:
                first, only_holes = out.get(position, (name, True))
                beyond = end > len(held)
                out[position] = (name if beyond and only_holes else first, only_holes and not beyond)
    return out


@pytest.mark.parametrize("seed", range(60))
def test_reads_of_nothing_are_those_of_a_reference(seed: int) -> None:
    """Random plans whose dumps have one stream each; nothing is prepared."""
    rng = random.Random(seed)
    plan = random_plan(rng, 8)
    for item in plan["families"]:
        item["backend"] = item["level"] = item["interface"] = "posix"
        item["lifetime"] = "reused"
    for spec in plan["contents"]:
        spec["streams"] = spec["streams"][:1]
    first = {}
    for position, place in enumerate(plan["dumps"]):
        place.update(file=0, prepare=False)
        first.setdefault(place["family"], position)
    for position in first.values():  # a file that is read first is made before the run
        plan["contents"][plan["dumps"][position]["content"]]["streams"][0]["direction"] = "write"
    for place in plan["dumps"]:
        place["prepare"] = True  # so that the core takes the plan
    core = _core.Plan(json.dumps(plan))
    for place in plan["dumps"]:
        place["prepare"] = False
    expected = missing_of(plan, core)
    assert _core.unwritten_dumps(json.dumps(plan)) == [(d, expected[d][1]) for d in sorted(expected)]
    if expected:
        line = refusal(plan)
        position = min(expected)
        found = line.split(" of ")[1].split(",")[0]
        assert line.startswith(f"dumps[{position}]: stream 0 reads bytes ")
        assert without_id(found) == without_id(expected[position][0])


@pytest.mark.mpi
@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_ranks_wait_for_what_others_write_in_the_same_dump(engine: Engine, backend: str) -> None:
    """Rank 3 alone writes the end of the file, slowly; all ranks read the whole. A rank without work waits, too."""
    streams = [
        stream([[4, 1000]], ranks=[[0, 1, 1]]),
        stream([[3000, 1000]], ranks=[[3, 3, 1]], base=4000),
        stream([[3, 3_004_000]], "read", "replicated", ranks=[[0, 1, 1], [3, 3, 1]]),
        stream([[1, 1000]], ranks=[[3, 3, 1]], base=3_004_000),
        stream([[2, 1000]], "read", "same", ranks=[[0, 1, 1]], base=3_004_000),
    ]
    plan = make_plan(4, [family(backend)], [content(*streams)], [dump(i) for i in range(5)])
    result = engine(plan)
    assert [d["bytes_read"] for d in result.dumps] == [3 * 3_004_000 + 2000] * 5
    assert [d["counters"]["FLUSHES"] for d in result.dumps] == [0] * 5


@pytest.mark.mpi
@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_ranks_wait_for_shuffled_places_that_others_wrote(engine: Engine, backend: str) -> None:
    """The places of a shuffled stream are dealt anew: a rank reads what others wrote, of the same stream otherwise."""
    streams = [
        stream([[1, 1000]], ranks=[[0, 0, 1]]),
        stream([[4000, 1000]], pattern="shuffled", base=1000),
        stream([[4000, 1000]], "read", "shuffled", base=1000),
    ]
    plan = make_plan(4, [family(backend)], [content(*streams)], [dump(i) for i in range(5)])
    result = engine(plan, "--verify")
    assert [d["bytes_read"] for d in result.dumps] == [4_000_000] * 5
    assert result.end["verified"]["errors"] == 0


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_a_read_that_ends_early_fails_the_run(engine: Engine, backend: str) -> None:
    """The file is cut from outside between the dumps."""
    plan = two_dumps(WRITE, READ, family(backend), start_s=3.0, end_s=3.0) | {
        "ranks": 1,
        "time_scale": 1.0,
    }
    path = engine.write(plan)
    data, record = engine.tmp / "data", engine.tmp / "run.jsonl"
    data.mkdir()
    command = [*engine.command(0), "--plan", str(path), "--dir", str(data), "--record", str(record), "--keep"]
    with subprocess.Popen(command, env=engine.environment(), stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 60
        while not record.exists() or '"dump"' not in record.read_text():
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.02)
        (file,) = data.glob("*.dat")
        with file.open("r+b") as opened:
            opened.truncate(730)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    (error,) = [json.loads(line) for line in record.read_text().splitlines() if '"error"' in line]
    assert (error["rank"], error["operation"], error["index"]) == (0, "read", 1)
    # A stream reads its buffer full, but gives what each call asked for.
    assert error["reason"] == f"{file.name} ends early: asked for 100 bytes at byte 700, got 30"
    assert "rank 0: checkpoint 1, dump 1: read failed" in stderr


def test_a_workload_that_reads_more_than_it_writes_has_its_file_made() -> None:
    from workalike.plan.resolve import Options, resolve

    text = {
        "workalike": 2,
        "ranks": 4,
        "families": [
            {
                "role": "scratch",
                "interface": "posix",
                "sharing": "per-rank",
                "lifetime": "reused",
                "schedule": {"count": 3, "every": "1 s"},
                "contents": [
                    {"streams": [{"direction": "write", "sizes": ["6 x 1 kB"]}]},
                    {"streams": [{"direction": "read", "sizes": ["4 x 1 kB"]}]},
                    {"streams": [{"direction": "read", "sizes": ["8 x 1 kB"]}]},
                ],
            }
        ],
    }
    plan = resolve(Workload.model_validate(text), Options())
    assert [place.prepare for place in plan.dumps] == [False, False, True]


SIZES_OF_RANKS = [[1, 87], [1, 88], [1, 89], [1, 916], [1, 918], [5, 8192]]


def test_ranks_that_write_sizes_of_their_own_reach_as_far_as_the_longest(engine: Engine) -> None:
    """None of two ranks has all of the sizes: each write of a size that is dealt once is of one of them."""
    plan = make_plan(
        2, [family("posix")], [content(stream(SIZES_OF_RANKS, pattern="replicated"), opens=2)], [dump(0)]
    )
    result = engine(plan, "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": 88 + 916 + 3 * 8192}


def test_very_many_sizes_of_ranks_are_written(engine: Engine) -> None:
    """Of so many the end is not known rank by rank, and the file is not taken for cut short."""
    sizes = [[1, 1000 + n] for n in range(101)]
    plan = make_plan(2, [family("posix")], [content(stream(sizes, pattern="replicated"), opens=2)], [dump(0)])
    result = engine(plan, "--keep", "--verify")
    assert result.files() == {"checkpoint-1.0000.dat": sum(1000 + n for n in range(0, 101, 2))}
