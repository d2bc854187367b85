"""The operation iterator against the contract's rules, listed one by one."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from typing import Any

import pytest

from .conftest import Engine, content, dump, family, make_plan, sharing, stream, without_id
from .reference import Counters, Op, expand_stream, file_of_rank, members_of

Operations = dict[tuple[int, int], list[tuple[str, int, int, str]]]
PATTERNS = ["contiguous", "interleaved", "strided", "random", "shuffled", "same", "replicated"]


def random_ranges(rng: random.Random, members: list[int]) -> Any:
    if rng.random() < 0.5:
        return "all"
    chosen = sorted(rng.sample(members, rng.randint(1, len(members))))
    return [[r, r, 1] for r in chosen]


def random_family(rng: random.Random, ranks: int) -> dict[str, Any]:
    mode = rng.choice(["shared", "per-rank", "groups", "subset", "root"])
    members: Any = "all"
    if mode == "subset":
        step = rng.randint(1, 3)
        members = [[rng.randint(0, ranks // 2), ranks - 1, step]]
    if mode == "root":
        only = rng.randrange(ranks)
        members = [[only, only, 1]]
    shared = sharing(mode, members)
    if mode == "groups":
        shared["files"] = rng.randint(1, ranks)
    return family(rng.choice(["posix", "mpiio"]), sharing=shared)


def random_stream(rng: random.Random, members: list[int]) -> dict[str, Any]:
    pattern = rng.choice(PATTERNS)
    pieces = rng.choice([1, 1, 1, 4]) if pattern in ("contiguous", "interleaved") else 1
    sizes = [pieces * rng.choice([1, 3, 100, 101, 1024, 4096, 5000]) for _ in range(rng.randint(1, 4))]
    return stream(
        [[rng.choice([0, 1, 2, 5, 17, 40]), size] for size in sizes],
        direction=rng.choice(["read", "write"]),
        pattern=pattern,
        ranks=random_ranges(rng, members),
        base=rng.choice([0, 0, 512, 123456]),
        mixed=pieces == 1 and rng.random() < 0.4,
        stride=max(sizes) + rng.choice([0, 7]) if pattern == "strided" else 0,
        pieces=pieces,
    )


def parse_operations(text: str) -> Operations:
    """(dump, rank) -> (direction, offset, size, file) in order."""
    out: Operations = defaultdict(list)
    for line in text.splitlines():
        rank, position, name, operation, offset, size, *_ = line.split("\t")
        if operation in ("read", "write") and offset != "-":
            out[int(position), int(rank)].append((operation, int(offset), int(size), name))
    return out


@pytest.mark.parametrize("seed", range(5))
def test_operations_follow_the_rules(engine: Engine, seed: int) -> None:
    """Twelve random families in one plan, with one dump per family."""
    rng = random.Random(seed)
    ranks = rng.randint(1, 9)
    plan = make_plan(ranks, [], [], [])
    for number in range(12):
        family_spec = random_family(rng, ranks) | {"id": number, "number": number + 1}
        streams = [random_stream(rng, members_of(plan, family_spec)) for _ in range(rng.randint(1, 3))]
        plan["families"].append(family_spec)
        plan["contents"].append(content(*streams))
        base = rng.choice([0, 1000])
        plan["dumps"].append(dump(0, family=number, content=number, base=base, prepare=True))
    operations = engine.tmp / "operations.txt"
    result = engine(
        plan, "--backend", "record", "--operations", str(operations), processes=rng.choice([0, 2])
    )
    found = parse_operations(operations.read_text())
    for number in range(12):
        check_family(plan, number, found, result.dumps[number])
    null = engine(plan, "--backend", "null", processes=0)
    assert [d["counters"] for d in null.dumps] == [d["counters"] for d in result.dumps]
    assert [d["bytes_written"] for d in null.dumps] == [d["bytes_written"] for d in result.dumps]


def check_family(plan: dict[str, Any], number: int, found: Operations, line: dict[str, Any]) -> None:
    family_spec = plan["families"][number]
    streams = plan["contents"][number]["streams"]
    files = file_of_rank(plan, family_spec)
    members = members_of(plan, family_spec)
    expected: dict[int, list[Op]] = defaultdict(list)
    for item in streams:
        for rank, ops in expand_stream(plan, family_spec, item, plan["dumps"][number]["base"]).items():
            expected[rank].extend(ops)
    patterns = {item["pattern"] for item in streams}
    of_files: dict[str, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for rank in members:
        wanted = [(op.direction, op.offset, op.size) for op in expected[rank]]
        seen = [op[:3] for op in found[number, rank]]
        if "shuffled" in patterns:  # the ranks of a file share out its places
            assert sorted((d, size) for d, _, size in seen) == sorted((d, size) for d, _, size in wanted)
            of_files[files[rank]][0].extend(seen)
            of_files[files[rank]][1].extend(wanted)
        elif "random" in patterns:
            assert sorted(seen) == sorted(wanted)
        else:
            assert seen == wanted
        assert all(files[rank] in op[3] for op in found[number, rank])
    for seen, wanted in of_files.values():
        assert sorted(seen) == sorted(wanted)
    counters = Counters()
    for rank in members:
        counters.add_rank([Op(d, o, s, 0) for d, o, s, _ in found[number, rank]])
    for name, value in counters.totals.items():
        assert line["counters"][name] == value, name
    assert line["counters"]["SIZE_READ"] == counters.bins["READ"]
    assert line["counters"]["SIZE_WRITE"] == counters.bins["WRITE"]


def test_random_order_is_a_permutation_and_seeded(engine: Engine) -> None:
    def offsets(seed: int) -> list[int]:
        plan = make_plan(
            1, [family()], [content(stream([[1000, 64], [24, 100]], pattern="random"))], seed=seed
        )
        out = engine.tmp / f"operations{seed}-{engine.runs}.txt"
        engine(plan, "--backend", "record", "--operations", str(out))
        return [op[1] for op in parse_operations(out.read_text())[0, 0]]

    first = offsets(1)
    assert sorted(first) == [64 * k for k in range(1000)] + [64000 + 100 * k for k in range(24)]
    assert first != sorted(first)
    assert offsets(1) == first
    assert offsets(2) != first


def test_shuffled_ranks_share_one_order(engine: Engine) -> None:
    """Each place of the file is used once, by a rank that chance chooses; those of a rank lie all over the file."""

    def offsets(seed: int) -> list[list[int]]:
        spec = [content(stream([[4000, 64], [30, 100]], pattern="shuffled"))]
        plan = make_plan(4, [family()], spec, seed=seed)
        out = engine.tmp / f"operations{seed}-{engine.runs}.txt"
        engine(plan, "--backend", "record", "--operations", str(out))
        found = parse_operations(out.read_text())
        return [[op[1] for op in found[0, rank]] for rank in range(4)]

    first = offsets(1)
    places = [64 * k for k in range(4000)] + [256_000 + 100 * k for k in range(30)]
    assert sorted(itertools.chain(*first)) == places
    for own in first:
        large = own[:1000]
        assert max(large) < 256_000 <= min(own[1000:]), "entry by entry"
        forward = sum(b > a for a, b in itertools.pairwise(large))
        assert 400 < forward < 600
        assert min(large) < 25_600 and max(large) > 230_400
    assert offsets(1) == first
    assert offsets(2) != first


def test_collective_calls_are_joined_by_all_members(engine: Engine) -> None:
    family_spec = family("mpiio")
    streams = [
        stream([[6, 1000]], collective=True),
        stream([[3, 10]], collective=True, ranks=[[1, 1, 1]]),
        stream([[2, 10]], ranks=[[0, 0, 1]]),
    ]
    plan = make_plan(4, [family_spec], [content(*streams)])
    result = engine(plan, "--backend", "null", processes=0)
    counters = result.dumps[0]["counters"]
    assert counters["COLL_WRITES"] == 4 * 2 + 4 * 3
    assert counters["INDEP_WRITES"] == 2
    assert counters["BYTES_WRITTEN"] == 6000 + 30 + 20
    assert counters["SIZE_WRITE"][0] == 2 + 9 + 3 + 2  # zero-byte joins are in the first bin


def test_totals_of_calls_are_split(engine: Engine) -> None:
    family_spec = family("posix")
    plan = make_plan(
        5, [family_spec], [content(stream([[10, 100]]), opens=7, stats=3, seeks=11, fsyncs=6, flushes=4)]
    )
    counters = engine(plan, "--backend", "null", processes=0).dumps[0]["counters"]
    assert (counters["OPENS"], counters["STATS"], counters["SEEKS"]) == (7, 3, 11)
    assert (counters["FSYNCS"], counters["FLUSHES"]) == (6, 4)
    family_spec = family("mpiio")
    plan = make_plan(5, [family_spec], [content(stream([[10, 100]]), opens=7, fsyncs=6)])
    counters = engine(plan, "--backend", "null", processes=0).dumps[0]["counters"]
    assert counters["OPENS"] == 7
    assert counters["FSYNCS"] == 10


@pytest.mark.parametrize(("opens", "found"), [(2, 2), (3, 3), (5, 5)])
def test_ranks_that_streams_name_open_the_file_where_not_all_do(
    engine: Engine, opens: int, found: int
) -> None:
    streams = [stream([[4, 100]], ranks=[[4, 4, 1]]), stream([[4, 100]], ranks=[[2, 4, 2]])]
    plan = make_plan(5, [family("posix")], [content(*streams, opens=opens, stats=2)])
    counters = engine(plan, "--backend", "null", processes=0).dumps[0]["counters"]
    assert (counters["OPENS"], counters["STATS"]) == (found, 2)


def test_stdio_seeks_where_it_must(engine: Engine, ranks: int) -> None:
    streams = [
        stream([[4 * ranks, 100]], pattern="strided", stride=300),
        stream([[4 * ranks, 100]], base=10**6),
    ]
    plan = make_plan(ranks, [family("stdio")], [content(*streams)])
    null = engine(plan, "--backend", "null", processes=0).dumps[0]["counters"]
    real = engine(plan).dumps[0]["counters"]
    assert real == null
    assert null["SEEKS"] == ranks * 4 + ranks - 1  # rank 0 begins at the start of the file


def test_neighbour_reads_what_the_next_rank_wrote(engine: Engine) -> None:
    family_spec = family("posix", sharing=sharing("per-rank"), reader="neighbour")
    contents = [content(stream([[4, 100]])), content(stream([[4, 100]], "read"))]
    plan = make_plan(4, [family_spec], contents, [dump(0), dump(1, file=0, content=1)])
    out = engine.tmp / "operations.txt"
    engine(plan, "--backend", "record", "--operations", str(out), processes=0)
    found = parse_operations(out.read_text())
    for rank in range(4):
        assert without_id(found[0, rank][0][3]) == f"checkpoint-1.0000.r{rank:06d}.dat"
        assert without_id(found[1, rank][0][3]) == f"checkpoint-1.0000.r{(rank + 1) % 4:06d}.dat"
    result = engine(plan)
    assert result.dumps[1]["bytes_read"] == 400
