"""The core in Python counts the same as the engine, for each backend and for random plans."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from workload_strategies import workloads

from workalike import _core
from workalike.errors import WorkalikeError
from workalike.plan.plan_file import plan_text
from workalike.plan.plan_schema import Plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload

from .conftest import Engine, Result, content, dump, family, make_plan, sharing, stream
from .test_expand import members_of, random_family, random_stream
from .test_mesh import mesh

SCALARS = (
    *(
        "OPENS",
        "STATS",
        "SEEKS",
        "FSYNCS",
        "FLUSHES",
        "MMAPS",
        "READS",
        "WRITES",
        "COLL_READS",
        "COLL_WRITES",
    ),
    *("INDEP_READS", "INDEP_WRITES", "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"),
    *("SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES"),
)
BINS = ("SIZE_READ", "SIZE_WRITE")
ARRAY = {
    "datasets": 3, "element": 8, "dims": [40, 16], "chunk": None, "extendible": False,
    "access": [
        {"ranks": "all", "direction": "write", "collective": True, "entries": [[11, [4, 8], [1, 1]]]},
        {"ranks": [[0, 0, 1]], "direction": "write", "collective": False, "entries": [[2, [1, 3], [1, 1]]]},
    ],
}  # fmt: skip


def random_plan(
    rng: random.Random, families: int, most_ranks: int = 40, *, maps: bool = False
) -> dict[str, Any]:
    """Families of posix, stdio and mpiio. With `maps`, files of the first two are mapped into memory, too."""
    ranks = rng.randint(1, most_ranks)
    plan = make_plan(ranks, [], [], [])
    for number in range(families):
        lifetime = rng.choice(["per-dump", "per-dump", "appended", "reused"])
        item = random_family(rng, ranks) | {"id": number, "number": number + 1, "lifetime": lifetime}
        item["backend"] = rng.choice(["posix", "stdio", "mpiio"])
        item["level"] = item["interface"] = item["backend"]
        plan["families"].append(item)
        for index in range(rng.randint(1, 3)):
            streams = [random_stream(rng, members_of(plan, item)) for _ in range(rng.randint(1, 3))]
            calls = {
                name: rng.choice([0, 0, 1, ranks, 2 * ranks + 3]) for name in ("opens", "stats", "seeks")
            }
            calls |= {name: rng.choice([0, 0, 1, ranks + 1]) for name in ("flushes", "fsyncs")}
            if maps and item["backend"] != "mpiio":
                calls["maps"] = rng.choice([0, 0, 1, ranks + 1])
            calls |= {name: rng.choice([None, None, [1, 1], [1, 2], [3, 1]]) for name in ("flush", "sync")}
            if rng.random() < 0.2:
                calls |= {"seeks": 0, "seek_each": True}
            if lifetime != "appended" and rng.random() < 0.3:
                calls |= {"reopen": True}
            plan["contents"].append(content(*streams, **calls))
            file = 0 if lifetime != "per-dump" else index
            place = {"family": number, "content": len(plan["contents"]) - 1, "file": file}
            reads = any(part["direction"] == "read" for part in streams)
            base = rng.choice([0, 0, 1000, 7777])
            plan["dumps"].append(dump(index, base=base, prepare=reads, **place))
    return plan


def by_dump(plan: dict[str, Any], result: Result) -> list[dict[str, Any]]:
    """The engine's dumps in the plan's order."""
    place = {(d["family"], d["index"]): d for d in result.dumps}
    return [place[d["family"], d["index"]] for d in plan["dumps"]]


def assert_equal(counts: dict[str, Any], dumps: list[dict[str, Any]]) -> None:
    for name in SCALARS:
        assert counts[name].tolist() == [d["counters"][name] for d in dumps], name
    for name in BINS:
        assert counts[name].tolist() == [d["counters"][name] for d in dumps], name
    assert_equal_calls(counts, dumps)


def assert_equal_calls(counts: dict[str, Any], dumps: list[dict[str, Any]]) -> None:
    """What the engine itself calls and moves, without the counters of the family's level."""
    assert counts["ranks"].tolist() == [d["ranks"] for d in dumps]
    payload = counts["payload_written"] + counts["payload_read"]
    assert payload.tolist() == [d["payload_bytes"] for d in dumps]
    for kind in _core.kinds:
        assert counts[f"calls_{kind}"].tolist() == [d["kinds"][kind]["count"] for d in dumps], kind


@pytest.mark.parametrize("seed", range(12))
def test_random_plans_count_alike_in_core_and_engine(engine: Engine, seed: int) -> None:
    rng = random.Random(seed)
    plan = random_plan(rng, 12, maps=True)
    counts = _core.Plan(json.dumps(plan)).count()
    result = engine(plan, "--backend", "null", processes=rng.choice([0, 2]))
    assert_equal(counts, by_dump(plan, result))


@pytest.mark.parametrize("seed", range(6))
def test_random_plans_are_performed_as_the_core_counts(engine: Engine, seed: int) -> None:
    """Families of posix, stdio and mpiio, each on its own backend, with a process for each rank."""
    plan = random_plan(random.Random(2000 + seed), 6, most_ranks=4, maps=True)
    for part in plan["contents"]:
        writes = [item["entries"] for item in part["streams"] if item["direction"] == "write"]
        if not any(count for entries in writes for count, _ in entries):
            part |= {
                "fsyncs": 0,
                "flushes": 0,
                "sync": None,
                "flush": None,
            }  # MPI refuses to sync a file that is only read
    assert_equal(_core.Plan(json.dumps(plan)).count(), by_dump(plan, engine(plan)))


@pytest.mark.parametrize("seed", range(100))
def test_ranks_that_do_alike_are_counted_as_if_each_was_looked_at(seed: int) -> None:
    plan = _core.Plan(json.dumps(random_plan(random.Random(1000 + seed), 12, maps=True)))
    assert_same(plan)


def assert_same(plan: _core.Plan) -> None:
    alike, each = plan.count(), plan.count(each_rank=True)
    for name, column in each.items():
        assert np.array_equal(alike[name], column), name


@given(workload=workloads(), ranks=st.integers(1, 70), denominator=st.sampled_from([1, 2, 7, 100]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_workload_at_any_ranks_counts_alike(workload: Workload, ranks: int, denominator: int) -> None:
    try:
        plan = resolve(workload, Options(ranks=ranks, bytes_scale=Fraction(1, denominator)))
    except WorkalikeError:
        return  # a scale that is impossible for this workload
    assume(steps(plan) * ranks < 100_000)  # each rank is counted
    assert_same(_core.Plan(plan_text(plan)))


def steps(plan: Plan) -> int:
    """Operations of all dumps, at most; and what every rank does at each dataset."""
    total = 0
    for place in plan.dumps:
        part = plan.contents[place.content]
        total += sum(count for stream in part.streams for count, _ in stream.entries)
        total += part.opens + part.stats + part.seeks + part.fsyncs + part.flushes + (part.maps or 0)
        for array in part.arrays:
            total += array.datasets + sum(entry[0] for access in array.access for entry in access.entries)
        total += part.fit.datasets + (part.fit.ops or 0) if part.fit else 0
        total += part.mesh.parts * (20 + sum(count for count, *_ in part.mesh.variables)) if part.mesh else 0
    return total


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio", "hdf5", "pnetcdf", "adios2"])
@pytest.mark.parametrize("mode", ["shared", "per-rank", "groups"])
def test_every_backend_performs_what_the_core_counts(
    engine: Engine, ranks: int, backend: str, mode: str
) -> None:
    shared = {"mode": mode, "files": min(2, ranks) if mode == "groups" else 1, "turns": "concurrent",
            "ranks": "all", "gather": False}  # fmt: skip
    level = {"hdf5": "h5d"}.get(backend, backend)
    item = family(backend, sharing=shared, level=level if backend != "adios2" else "mpiio")
    collective = backend in ("mpiio", "hdf5", "pnetcdf") and mode != "per-rank"
    contents = [
        content(
            stream([[9, 1000], [3, 7]], pattern="interleaved", collective=collective),
            stream([[5, 64]], base=10000),
            opens=7,
            stats=3,
        ),
    ]
    # In each file, PnetCDF's variables are cut to whole elements; the record has only their sum.
    if backend != "pnetcdf" or mode == "shared":
        contents.append(
            content(fit={"bytes": 100_003, "datasets": 3, "element": 8, "collective": collective})
        )
    if backend == "hdf5":
        contents.append(content(arrays=[ARRAY]))
    plan = make_plan(ranks, [item], contents, [dump(i, content=i) for i in range(len(contents))])
    result = engine(plan, check=False)
    if result.code == 2 and "was not built in" in result.stderr:
        pytest.skip(f"the engine has no {backend} backend")
    assert result.code == 0, result.stderr
    dumps = by_dump(plan, result)
    # The core needs what a library adds, which the engine recorded.
    sized = [
        d["payload_bytes"] if contents[i]["fit"] and mode == "shared" else None for i, d in enumerate(dumps)
    ]
    given_to_library = sized if backend in ("hdf5", "pnetcdf", "adios2") else []
    assert_equal(_core.Plan(json.dumps(plan)).count(given_to_library), dumps)


@pytest.mark.parametrize("pattern", ["faithful", "optimised"])
@pytest.mark.parametrize(("mode", "level"), [("shared", "mpiio"), ("shared", "h5d"), ("groups", "h5d")])
def test_typhonio_performs_what_the_core_counts(
    engine: Engine, ranks: int, mode: str, level: str, pattern: str
) -> None:
    """Meshes of a number of nodes, and of a stated size: at the level of MPI-IO, the library takes its part of it."""
    item = family("typhonio", sharing=sharing(mode, files=min(2, ranks)), level=level, typhonio=pattern)
    contents = [content(mesh=mesh(), opens=7, flushes=3), content(mesh=mesh(nodes=0, bytes=400_000))]
    plan = make_plan(ranks, [item], contents, [dump(i, content=i) for i in range(2)])
    result = engine(plan, check=False)
    if result.code == 2 and "was not built in" in result.stderr:
        pytest.skip("the engine has no typhonio backend")
    assert result.code == 0, result.stderr
    dumps = by_dump(plan, result)
    core = _core.Plan(json.dumps(plan))
    if level == "h5d":
        assert_equal(core.count(), dumps)
    else:  # the library's own calls are in the counters; what it leaves of the stated size was recorded
        assert 0 < dumps[1]["payload_bytes"] < dumps[1]["bytes_written"]
        assert_equal_calls(core.count([None, dumps[1]["payload_bytes"]]), dumps)


def test_operations_of_a_rank_are_those_that_the_engine_writes_down(engine: Engine) -> None:
    plan = random_plan(random.Random(5), 6)
    out = engine.tmp / "operations.txt"
    engine(plan, "--backend", "record", "--operations", str(out), processes=0)
    core = _core.Plan(json.dumps(plan))
    core.write_operations(str(engine.tmp / "core.txt"))
    theirs = sorted(out.read_text().splitlines())
    assert sorted((engine.tmp / "core.txt").read_text().splitlines()) == theirs
    columns = core.operations(rank=0, most=10**6)
    lines = [line.split("\t") for line in out.read_text().splitlines() if line.startswith("0\t")]
    assert [_core.kinds[k] for k in columns["kind"]] == [line[3] for line in lines]
    assert [columns["names"][f] for f in columns["file"]] == [line[2] for line in lines]
    assert [str(o) if o >= 0 else "-" for o in columns["offset"]] == [line[4] for line in lines]


def test_a_bad_plan_is_one_line() -> None:
    with pytest.raises(_core.PlanError, match=r"^ranks: "):
        _core.Plan(json.dumps(make_plan(0, [], [], [])))
    with pytest.raises(_core.PlanError, match="unknown backend"):
        _core.Plan(json.dumps(make_plan(1, [], [], [])), backend="none such")
    plan = _core.Plan(json.dumps(make_plan(1, [family()], [content(stream([[100, 8]]))])))
    with pytest.raises(_core.PlanError, match="more than 10 operations"):
        plan.operations(rank=0, most=10)


def counts_of_runs(backend: str, each: int, pattern: str = "contiguous", size: int = 8, **calls: int) -> Any:
    """Every counter of two ranks with `each` operations and calls of each kind a rank, as many as `calls` say."""
    streams = [stream([[2 * each, size]], pattern=pattern, stride=24)]
    plan = make_plan(2, [family(backend)], [content(*streams, **{name: 2 * n for name, n in calls.items()})])
    counts = _core.Plan(json.dumps(plan)).count()
    kinds = [f"calls_{kind}" for kind in _core.kinds]
    return {name: int(counts[name][0]) for name in (*SCALARS, *kinds, "payload_written")}


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("contiguous", 8),
        ("contiguous", 0),
        ("strided", 8),
        ("interleaved", 8),
        ("same", 8),
        ("replicated", 8),
    ],
)
@pytest.mark.parametrize("seeks", [0, 1, 3])
def test_a_long_run_is_counted_without_making_its_operations(
    backend: str, pattern: str, size: int, seeks: int
) -> None:
    """A damaged log may have billions of operations: to make each takes minutes, and hours where there are 2**40."""
    each = 2**36
    few, more = (counts_of_runs(backend, n, pattern, size, seeks=n * seeks) for n in (3, 4))
    many = counts_of_runs(backend, each, pattern, size, seeks=each * seeks)
    assert many == {name: few[name] + (each - 3) * (more[name] - few[name]) for name in few}
    assert many["WRITES"] == 2 * each


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_seeks_are_spread_over_a_long_run(backend: str) -> None:
    each = 2**36
    assert counts_of_runs(backend, each, seeks=5)["calls_seek"] == 2 * 5
    # A file position must be moved before each strided operation: these seeks are already more than five.
    needed = counts_of_runs(backend, each, "strided")["calls_seek"]
    assert counts_of_runs(backend, each, "strided", seeks=5)["calls_seek"] == max(needed, 2 * 5)


@pytest.mark.parametrize(
    ("backend", "calls"),
    [
        (backend, calls)
        for backend in ("posix", "stdio", "mpiio")
        for calls in ("opens", "stats", "seeks", "flushes", "fsyncs", "maps")
        if (backend, calls) != ("mpiio", "maps")
    ],
)
def test_many_calls_that_are_alike_are_counted_without_making_them(backend: str, calls: str) -> None:
    times = 2**36
    few, more, many = (counts_of_runs(backend, 3, **{calls: n}) for n in (30, 31, times))
    assert many == {name: few[name] + (times - 30) * (more[name] - few[name]) for name in few}
    assert max(many.values()) >= 2 * times
