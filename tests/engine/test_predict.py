"""Predicted counters against definitions written a second time, over the operations of random plans."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from workalike import _core
from workalike.darshan import layouts
from workalike.darshan.bins import SIZE_BINS

from .conftest import content, dump, family, make_plan, sharing, stream
from .test_core_agrees import random_plan

BOUNDS = (100, 1024, 10240, 102400, 2**20, 4 * 2**20, 10 * 2**20, 100 * 2**20, 2**30)
ALIGNMENT = 4096
DISTINCT = 32
"""Values that a record counts at most."""

Access = tuple[str, int, int]
"""read or write, offset, bytes."""


def bin_name(size: int) -> str:
    return SIZE_BINS[sum(size > bound for bound in BOUNDS)]


def best_four(values: Counter[int]) -> Counter[int]:
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], -pair[0]))
    return Counter(dict(ranked[:4]))


def first_distinct(values: list[int]) -> Counter[int]:
    known = list(dict.fromkeys(values))[:DISTINCT]
    return Counter(value for value in values if value in known)


def posix_counters(calls: list[tuple[str, Access]]) -> tuple[Counter[str], list[int], list[int]]:
    """(counters, sizes, strides) of a rank's calls on a file, by the definitions of docs/reference/darshan-meaning.md."""
    out: Counter[str] = Counter()
    sizes, strides = [], []
    last = {"read": 0, "write": 0}
    before = ""
    for kind, (direction, offset, size) in calls:
        if kind == "open":
            out["OPENS"] += 1
            last = {"read": 0, "write": 0}
        elif kind in ("stat", "seek", "fsync", "flush", "map"):
            counter = {"stat": "STATS", "seek": "SEEKS", "fsync": "FSYNCS", "flush": "FSYNCS", "map": "MMAPS"}
            out[counter[kind]] += 1
        elif kind in ("read", "write"):
            upper = "READ" if kind == "read" else "WRITE"
            out[f"{upper}S"] += 1
            out["BYTES_READ" if kind == "read" else "BYTES_WRITTEN"] += size
            out[f"SIZE_{upper}_{bin_name(size)}"] += 1
            out[f"SEQ_{upper}S"] += offset > last[direction]
            out[f"CONSEC_{upper}S"] += offset == last[direction] + 1
            if offset > last[direction] + 1 and last[direction]:
                strides.append(offset - last[direction] - 1)
            out["FILE_NOT_ALIGNED"] += offset % ALIGNMENT != 0
            out["RW_SWITCHES"] += before not in ("", kind)
            before = kind
            if size:
                sizes.append(size)
                last[direction] = offset + size - 1
                name = "MAX_BYTE_READ" if kind == "read" else "MAX_BYTE_WRITTEN"
                out[name] = max(out[name], last[direction])
    return out, sizes, strides


def calls_by_file(plan: _core.Plan, rank: int) -> dict[str, list[tuple[str, Access]]]:
    columns = plan.operations(rank=rank, most=10**6)
    out = defaultdict(list)
    for file, number, offset, length in zip(
        *(columns[name].tolist() for name in ("file", "kind", "offset", "length")), strict=True
    ):
        kind = _core.kinds[number]
        out[columns["names"][file]].append((kind, (kind, offset, length)))
    return out


def reference(plan: _core.Plan, files: list[str]) -> dict[str, dict[str, int]]:
    """The reduced POSIX record of each file."""
    sums: dict[str, Counter[str]] = {name: Counter() for name in files}
    common = {name: {"ACCESS": Counter[int](), "STRIDE": Counter[int]()} for name in files}
    for rank in range(plan.ranks):
        for name, calls in calls_by_file(plan, rank).items():
            if name not in sums:
                continue
            counters, sizes, strides = posix_counters(calls)
            for counter, value in counters.items():
                if counter.startswith("MAX_"):
                    sums[name][counter] = max(sums[name][counter], value)
                else:
                    sums[name][counter] += value
            for table, values in (("ACCESS", sizes), ("STRIDE", strides)):
                common[name][table] = best_four(common[name][table] + best_four(first_distinct(values)))
    out: dict[str, dict[str, int]] = {}
    for name in files:
        record: dict[str, int] = {n: v for n, v in sums[name].items() if v}
        for table, found in common[name].items():
            ranked = sorted(found.items(), key=lambda pair: (-pair[1], -pair[0]))
            for place, (value, count) in enumerate(ranked, start=1):
                record[f"{table}{place}_{table}"], record[f"{table}{place}_COUNT"] = value, count
        out[name] = record
    return out


def predicted(plan: _core.Plan, module: str, families: int) -> dict[str, dict[str, int]]:
    records = plan.predict([ALIGNMENT] * families, 10**7).get(module)
    if records is None:
        return {}
    names = layouts.FIXED[module].current.counters
    return {
        file: {
            name: value for name, value in zip(names, row, strict=True) if value and name != "FILE_ALIGNMENT"
        }
        for file, row in zip(records["file"], records["counters"].tolist(), strict=True)
    }


@pytest.mark.parametrize("seed", range(60))
def test_posix_counters_follow_the_definitions(seed: int) -> None:
    document = random_plan(random.Random(2000 + seed), 8, maps=True)
    for item in document["families"]:
        item["backend"] = item["level"] = item["interface"] = "posix"
    plan = _core.Plan(json.dumps(document))
    found = predicted(plan, "POSIX", 8)
    assert found
    assert found == reference(plan, list(found))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_what_is_counted_for_the_record_is_predicted_too(seed: int, backend: str) -> None:
    document = random_plan(random.Random(3000 + seed), 8)
    for item in document["families"]:
        item["backend"] = item["level"] = item["interface"] = backend
    plan = _core.Plan(json.dumps(document))
    counted = plan.count()
    records = plan.predict([ALIGNMENT] * 8, 10**7)[
        {"posix": "POSIX", "stdio": "STDIO", "mpiio": "MPI-IO"}[backend]
    ]
    names = layouts.FIXED[{"posix": "POSIX", "stdio": "STDIO", "mpiio": "MPI-IO"}[backend]].current.counters
    total = dict(zip(names, records["counters"].sum(axis=0).tolist(), strict=True))
    for name in ("READS", "WRITES"):
        parts = [
            value for counter, value in total.items() if counter in (name, f"INDEP_{name}", f"COLL_{name}")
        ]
        assert sum(parts) == counted[name].sum()
    assert total["BYTES_READ"] == counted["BYTES_READ"].sum()
    assert total["BYTES_WRITTEN"] == counted["BYTES_WRITTEN"].sum()


def simple(streams: list[Any], backend: str = "mpiio", **more: Any) -> _core.Plan:
    item = family(backend, level=backend, sharing=sharing())
    return _core.Plan(json.dumps(make_plan(4, [item], [content(*streams, **more)], [dump(0)])))


def test_posted_calls_are_counted_as_nonblocking() -> None:
    posted = {"nonblocking": True}
    plan = simple(
        [stream([[8, 100]], **posted), stream([[6, 100]], "read", **posted), stream([[2, 100]], base=800)]
    )
    names = layouts.FIXED["MPI-IO"].current.counters
    counters = dict(zip(names, plan.predict([0], 1000)["MPI-IO"]["counters"].sum(axis=0), strict=True))
    kinds = [counters[kind] for kind in ("NB_WRITES", "NB_READS", "INDEP_WRITES", "INDEP_READS")]
    assert kinds == [8, 6, 2, 0]


def test_posix_below_independent_contiguous_mpiio() -> None:
    """Each call is one of POSIX, with the same place and size."""
    streams = [stream([[8, 1000], [4, 3000]], pattern="interleaved")]
    above = predicted(simple(streams, "posix"), "POSIX", 1)
    below = predicted(simple(streams), "POSIX", 1)
    strip = {"OPENS", "STATS", "SEEKS", "FSYNCS"}
    assert list(below.values()) == [
        {name: value for name, value in record.items() if name not in strip} for record in above.values()
    ]


@pytest.mark.parametrize("lifetime", ["reused", "appended"])
def test_places_below_mpiio_are_forgotten_where_the_file_is_opened(lifetime: str) -> None:
    """As the ranks open it at POSIX, too. An appended file stays open."""
    found = []
    for backend in ("posix", "mpiio"):
        item = family(backend, sharing=sharing(), lifetime=lifetime)
        dumps = [dump(i, file=0, base=i * 4000 if lifetime == "appended" else 0) for i in range(3)]
        plan = make_plan(4, [item], [content(stream([[4, 1000]]))], dumps)
        records = _core.Plan(json.dumps(plan)).predict([ALIGNMENT], 1000)["POSIX"]["counters"]
        names = layouts.FIXED["POSIX"].current.counters
        found.append([int(records[0][names.index(name)]) for name in ("SEQ_WRITES", "CONSEC_WRITES")])
    assert found[0] == found[1]


def test_nothing_is_said_of_posix_below_collective_calls() -> None:
    streams = [stream([[8, 1000]]), stream([[8, 1000]], collective=True)]
    assert set(simple(streams).predict([0], 1000)) == {"MPI-IO"}


def test_a_plan_with_too_many_calls() -> None:
    with pytest.raises(_core.PlanError, match="too many calls"):
        simple([stream([[100, 8]])]).predict([0], 10)


def test_without_an_alignment_nothing_is_unaligned() -> None:
    plan = simple([stream([[8, 1001]])], "posix")
    assert predicted(plan, "POSIX", 1) and plan.predict([0], 100)["POSIX"]["counters"][:, 25].sum() == 0
    assert layouts.FIXED["POSIX"].current.counters[25] == "FILE_NOT_ALIGNED"


def test_records_of_single_ranks_are_predicted_apart() -> None:
    """Five ranks write sizes of their own: a reduced record keeps four of them, records of ranks keep all."""
    streams = [stream([[3 + r, 100 + r]], ranks=[[r, r, 1]], base=1000 * r) for r in range(5)]
    plan = _core.Plan(json.dumps(make_plan(5, [family()], [content(*streams)])))
    names = layouts.FIXED["POSIX"].current.counters
    sizes = [names.index(f"ACCESS{i}_ACCESS") for i in range(1, 5)]
    (reduced,) = plan.predict([0], 1000)["POSIX"]["counters"]
    assert sorted(reduced[sizes].tolist()) == [101, 102, 103, 104]
    apart = plan.predict([0], 1000, [True])["POSIX"]
    assert apart["ranks"].tolist() == [1] * 5
    assert sorted(record[sizes[0]] for record in apart["counters"].tolist()) == [100, 101, 102, 103, 104]
    assert apart["counters"].sum(axis=0)[names.index("WRITES")] == reduced[names.index("WRITES")] == 25
