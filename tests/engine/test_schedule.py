"""When dumps start and what ranks do meanwhile; no rank waits for another without need."""

from __future__ import annotations

import csv
import resource
import time
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream

# Generous: the machine that runs the tests may be busy. Exact figures are measured in benchmarks/.
LATE_S = 0.5


def starts(result: Any) -> list[float]:
    return [d["start_s"] for d in result.dumps]


@pytest.mark.parametrize("backend", ["null", "posix"])
def test_deadline_clock(engine: Engine, ranks: int, backend: str) -> None:
    dumps = [dump(i, start_s=100.0 * i + 50.0) for i in range(5)]
    plan = make_plan(
        ranks,
        [family("posix")],
        [content(stream([[ranks, 1000]]))],
        dumps,
        clock="deadline",
        time_scale=0.002,
    )
    result = engine(plan, "--backend", backend)
    for d, wanted in zip(result.dumps, [0.1, 0.3, 0.5, 0.7, 0.9], strict=True):
        assert d["due_s"] == pytest.approx(wanted)
        assert wanted <= d["start_s"] < wanted + LATE_S
        assert d["late_s"] == pytest.approx(d["start_s"] - d["due_s"], abs=1e-5)


def test_a_late_dump_keeps_the_moment_when_it_was_due(engine: Engine) -> None:
    """A dump is due each 20 us, and 2,000 writes take longer."""
    dumps = [dump(i, start_s=2e-5 * i) for i in range(20)]
    plan = make_plan(
        1,
        [family("posix")],
        [content(stream([[2000, 100]]))],
        dumps,
        clock="deadline",
        time_scale=1.0,
    )
    result = engine(plan)
    assert [d["due_s"] for d in result.dumps] == pytest.approx([2e-5 * i for i in range(20)], abs=2e-6)
    assert result.dumps[-1]["late_s"] == pytest.approx(result.dumps[-1]["start_s"] - 38e-5, abs=1e-5)


@pytest.mark.parametrize("fill", ["sleep", "busy", "memory", "mpi"])
def test_gap_clock_and_its_fillings(engine: Engine, ranks: int, fill: str) -> None:
    dumps = [dump(i, start_s=0.15 * (i + 1)) for i in range(4)]
    plan = make_plan(
        ranks, [family("posix")], [content(stream([[ranks, 1000]]))], dumps, time_scale=1.0, gap_fill=fill
    )
    result = engine(plan)
    at = starts(result)
    # A wait that was too long shortens the next one.
    assert all(start >= due - 0.001 for start, due in zip(at, [0.15, 0.3, 0.45, 0.6], strict=True))
    assert at[-1] < 0.6 + 4 * LATE_S


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, -0.1, 0.3), (0.25, 0.35, 0.8), (1.0, 0.8, 2.3)])
def test_busy_ranks_compute_for_their_share(engine: Engine, share: float, least: float, most: float) -> None:
    """CPU seconds of an engine that waits for 2 s; its start takes some of them."""
    plan = make_plan(
        1, [family("posix")], [content(stream([[1, 1000]]))], [dump(0, start_s=2.0)],
        time_scale=1.0, gap_fill="busy", cpu_share=share,
    )  # fmt: skip
    idle = make_plan(1, [family("posix")], [content(stream([[1, 1000]]))], [dump(0)])
    at_start = max(cpu_seconds(engine, idle))
    free = free_share()
    used = cpu_seconds(engine, plan)
    free = min(free, free_share())
    # A busy machine lets ranks compute less, and makes their start longer.
    assert max(used) - at_start >= least * free
    assert min(used) - at_start <= most


def free_share() -> float:
    """CPU seconds that a process which computes gets in a second."""
    before, began = time.process_time(), time.monotonic()
    while time.monotonic() - began < 1:
        pass
    return min(1.0, time.process_time() - before)


def cpu_seconds(engine: Engine, plan: dict[str, Any]) -> list[float]:
    """CPU time of all processes of a run, for two runs."""

    def total() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    found = []
    for _ in range(2):
        before = total()
        engine(plan)
        found.append(total() - before)
    return found


def test_uneven_waiting_with_mpi_filling(engine: Engine) -> None:
    """Ranks that take part in different dumps wait for different times; nothing hangs."""
    families = [
        family("posix"),
        family("posix", id=1, number=2, sharing=sharing("root", [[2, 2, 1]])),
        family("posix", id=2, number=3, sharing=sharing("subset", [[0, 1, 1]])),
    ]
    dumps = [dump(i // 3, family=i % 3, start_s=0.05 * (i + 1)) for i in range(9)]
    plan = make_plan(3, families, [content(stream([[6, 1000]]))], dumps, time_scale=1.0, gap_fill="mpi")
    assert len(engine(plan, timeout=60).dumps) == 9


def test_time_scale_zero_never_waits(engine: Engine) -> None:
    dumps = [dump(i, start_s=1e6 * i) for i in range(3)]
    for clock in ("gap", "deadline"):
        plan = make_plan(1, [family("posix")], [content(stream([[1, 1000]]))], dumps, clock=clock)
        result = engine(plan, timeout=20)
        assert all(d["late_s"] == 0 for d in result.dumps)


def test_a_passed_dump_takes_its_gap(engine: Engine) -> None:
    """Rank 1 has no part in the first two dumps, but its third starts no earlier for that."""
    families = [family("posix", sharing=sharing("root", [[0, 0, 1]])), family("posix", id=1, number=2)]
    dumps = [dump(0, start_s=0.3), dump(1, start_s=0.6), dump(0, family=1, start_s=0.9)]
    plan = make_plan(2, families, [content(stream([[2, 1000]]))], dumps, time_scale=1.0)
    table = engine.tmp / "ranks.csv"
    engine(plan, "--per-rank", str(table))
    rows = [r for r in csv.DictReader(table.open()) if r["family"] == "1"]
    assert len(rows) == 2
    assert all(float(r["start_s"]) >= 0.89 for r in rows)


def overlapping(first: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A dump of rank 0 that computes for long, and one of all ranks that the original began and ended in it."""
    families = [first, family("posix", id=1, number=2, sharing=sharing("per-rank"))]
    contents = [content(stream([[20, 1000]], ranks=[[0, 0, 1]])), content(stream([[8, 500]]))]
    dumps = [
        dump(0, start_s=0.1, end_s=1.1, compute_s=1.0),
        dump(0, family=1, content=1, start_s=0.4, end_s=0.5),
    ]
    return make_plan(2, families, contents, dumps, time_scale=1.0, **more)


@pytest.mark.parametrize("clock", ["gap", "deadline"])
@pytest.mark.parametrize("fill", ["sleep", "busy", "memory", "mpi"])
def test_dumps_that_overlapped_overlap(engine: Engine, clock: str, fill: str) -> None:
    """While rank 0 computes in its long dump it performs the short one: no rank waits, and both files are right."""
    root = family("posix", sharing=sharing("root", [[0, 0, 1]]))
    table = engine.tmp / "ranks.csv"
    plan = overlapping(root, clock=clock, gap_fill=fill)
    result = engine(plan, "--verify", "--keep", "--per-rank", str(table))
    rows = {(r["family"], r["rank"]): r for r in csv.DictReader(table.open())}
    long, short = rows["0", "0"], rows["1", "0"]
    assert float(long["start_s"]) < float(short["start_s"])
    assert float(short["end_s"]) < float(long["end_s"])
    assert float(short["start_s"]) >= 0.399
    assert float(rows["1", "1"]["start_s"]) >= 0.399  # rank 1 has no part in the long one
    assert (long["write_count"], short["write_count"]) == ("20", "4")
    assert result.end["verified"].items() >= {"bytes": 24000, "errors": 0}.items()


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("fill", ["sleep", "busy"])
def test_ranks_have_a_barrier_before_a_dump_where_the_plan_says_so(
    engine: Engine, together: bool, fill: str
) -> None:
    """Rank 0 comes late from a dump of its own: rank 1 waits for it, or not; both files are right either way."""
    late = family("posix", sharing=sharing("root", [[0, 0, 1]]))
    plan = overlapping(late, gap_fill=fill)
    plan["dumps"][1] |= {"start_s": 1.1, "end_s": 1.2, "barrier": together}
    plan["clock"] = "deadline"
    plan["dumps"][0] |= {"compute_s": 2.0}  # longer than planned: rank 0 is 0.9 s late
    table = engine.tmp / "ranks.csv"
    result = engine(plan, "--verify", "--keep", "--per-rank", str(table))
    rows = {(r["family"], r["rank"]): r for r in csv.DictReader(table.open())}
    begins = [float(rows["1", rank]["start_s"]) for rank in ("0", "1")]
    if together:
        assert begins[1] >= float(rows["0", "0"]["end_s"]) >= 2.0
    else:
        assert begins[1] < 2.0 <= begins[0]
    assert result.end["verified"].items() >= {"bytes": 24000, "errors": 0}.items()


@pytest.mark.parametrize("interface", ["posix", "mpiio"])
def test_dumps_of_shared_files_overlap_too(engine: Engine, interface: str) -> None:
    """Both ranks write the long dump's file, together or each for itself, and another one meanwhile."""
    plan = overlapping(family(interface))
    plan["contents"][0]["streams"][0] |= {"ranks": "all", "collective": interface == "mpiio"}
    result = engine(plan, "--verify", "--keep")
    long, short = (next(d for d in result.dumps if d["family"] == number) for number in (0, 1))
    assert long["start_s"] < 0.399 <= short["start_s"]
    assert short["end_s"] < long["end_s"]
    assert result.end["verified"].items() >= {"bytes": 24000, "errors": 0}.items()


def test_dumps_of_one_file_never_overlap(engine: Engine) -> None:
    """A second dump into the same file waits for the first, whatever their times say."""
    plan = overlapping(family("posix", sharing=sharing("root", [[0, 0, 1]]), lifetime="appended"))
    plan["dumps"][1] = {
        **plan["dumps"][0],
        "index": 1,
        "base": 20000,
        "start_s": 0.4,
        "end_s": 1.4,
    }
    plan["families"] = plan["families"][:1]
    first, second = engine(plan, "--verify", "--keep").dumps
    assert first["end_s"] <= second["start_s"]


def test_no_barrier_between_dumps(engine: Engine) -> None:
    """Rank 0 has 200 MB to write that others have no part in: files of their own let them go on."""
    families = [
        family("posix", sharing=sharing("per-rank")),
        family("posix", id=1, number=2, sharing=sharing("root", [[0, 0, 1]])),
    ]
    contents = [content(stream([[4, 1000]])), content(stream([[50, 4_000_000]]))]
    dumps = [dump(0, family=1, content=1)] + [dump(i) for i in range(3)]
    plan = make_plan(4, families, contents, dumps)
    table = engine.tmp / "ranks.csv"
    result = engine(plan, "--per-rank", str(table))
    rows = {(r["family"], r["index"], r["rank"]): float(r["end_s"]) for r in csv.DictReader(table.open())}
    slow = rows["1", "0", "0"]
    assert sum(rows["0", "2", str(rank)] < slow for rank in (1, 2, 3)) >= 2
    assert len(result.dumps) == 4


def test_null_multiplexes_ranks(engine: Engine) -> None:
    """The result does not depend on how many processes count."""
    families = [
        family("mpiio", sharing=sharing("groups", files=7)),
        family("posix", id=1, number=2, sharing=sharing("subset", [[3, 63, 5]]), lifetime="appended"),
    ]
    contents = [
        content(stream([[1000, 999]], collective=True), opens=100, stats=3),
        content(stream([[77, 10], [5, 3]], mixed=True), seeks=40),
    ]
    dumps = [dump(i // 2, family=i % 2, content=i % 2, file=0 if i % 2 else i // 2) for i in range(8)]
    plan = make_plan(64, families, contents, dumps)
    results = [engine(plan, "--backend", "null", processes=p) for p in (0, 2, 3)]
    keys = ("ranks", "bytes_written", "counters", "payload_bytes", "levels")
    lines = [[{k: d[k] for k in keys} for d in r.dumps] for r in results]
    assert lines[0] == lines[1] == lines[2]
    counts = [[{k: v["count"] for k, v in d["kinds"].items()} for d in r.dumps] for r in results]
    assert counts[0] == counts[1] == counts[2]


def test_per_rank_table(engine: Engine, ranks: int) -> None:
    table = engine.tmp / "ranks.csv"
    plan = make_plan(
        ranks, [family("posix")], [content(stream([[2 * ranks + 1, 1000]]), stats=1)], [dump(0), dump(1)]
    )
    engine(plan, "--per-rank", str(table))
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == 2 * ranks
    assert sum(int(r["bytes_written"]) for r in rows) == 2 * 1000 * (2 * ranks + 1)
    first = next(r for r in rows if r["rank"] == "0" and r["index"] == "0")
    assert first["write_count"] == "3"
    assert first["stat_count"] == "1"
    assert first["role"] == "checkpoint"


def test_record_head_and_times(engine: Engine, ranks: int) -> None:
    plan = make_plan(
        ranks, [family("posix")], [content(stream([[4 * ranks, 100000]]), fsyncs=ranks)], [dump(0)]
    )
    result = engine(plan)
    head = result.head
    assert (head["plan_ranks"], head["processes"], head["backend"]) == (ranks, ranks, "posix")
    environment = head["environment"]
    assert environment["host_count"] == 1
    assert environment["memory_bytes"] > 2**28
    assert environment["mpi"]
    assert environment["file_system"]
    (d,) = result.dumps
    assert 0 <= d["start_s"] <= d["end_s"] <= result.end["wall_s"]
    assert 0 < d["transfer_s"] <= d["io_s"] <= d["end_s"] - d["start_s"] + 1e-6
    write = d["kinds"]["write"]
    assert write["count"] == 4 * ranks
    assert 0 < write["min_s"] <= write["mean_s"] <= write["max_s"] <= write["total_s"]
    assert write["mean_s"] == pytest.approx(write["total_s"] / write["count"], rel=0.01, abs=2e-7)
    assert 0 <= write["slowest_rank"] < ranks
    assert d["kinds"]["read"] == {
        "count": 0, "min_s": 0.0, "mean_s": 0.0, "max_s": 0.0, "total_s": 0.0, "slowest_rank": -1
    }  # fmt: skip


def test_progress(engine: Engine, ranks: int) -> None:
    plan = make_plan(
        ranks, [family("posix")], [content(stream([[ranks, 1000]]))], [dump(i) for i in range(3)]
    )
    assert engine(plan).stderr == ""
    shown = engine(plan, "--progress").stderr.splitlines()
    assert shown[-1].startswith("dump 3 of 3: checkpoint 1, ")
    assert engine(plan, "--progress", "--quiet").stderr == ""
    assert "\x1b[Kdump 3 of 3" in engine(plan, "--terminal").stderr  # in place, through a launcher's pipe
