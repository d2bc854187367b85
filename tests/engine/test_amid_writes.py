"""Syncs, flushes and seeks that go with the operations of a rank: where they are, and how many."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from workalike import _core

from .conftest import Engine, content, dump, family, make_plan, sharing, stream
from .reference import Op, expand_stream, file_of_rank, members_of, ranks_of
from .test_calls import pytestmark as needs_strace
from .test_calls import trace
from .test_core_agrees import random_plan

Amid = list[int] | None


def kinds_of(plan: _core.Plan, rank: int) -> dict[int, list[str]]:
    """The calls of a rank in each dump."""
    columns = plan.operations(rank=rank, most=10**6)
    out = defaultdict(list)
    for position, kind in zip(columns["dump"].tolist(), columns["kind"].tolist(), strict=True):
        out[position].append(_core.kinds[kind])
    return out


def with_calls_amid(kinds: list[str], flush: Amid, sync: Amid) -> list[str]:
    """The reads and writes of a rank with the calls that go between them."""
    out = []
    writes = 0
    for kind in kinds:
        out.append(kind)
        if kind == "write":
            writes += 1
            for amid, call in ((flush, "flush"), (sync, "fsync")):
                out += [call] * amid[1] if amid and writes % amid[0] == 0 else []
    return out


def share_of(spec: dict[str, Any], name: str, members: list[int], rank: int) -> int:
    """A rank's share of calls; if not all members open the file, those do all calls that streams name."""
    ranks = members
    named = [part["ranks"] for part in spec["streams"]]
    if 0 < spec["opens"] < len(members) and "all" not in named:
        ranks = sorted({r for ranges in named for r in ranks_of(ranges, members)})
    if rank not in ranks:
        return 0
    return int(spec[name] // len(ranks) + (ranks.index(rank) < spec[name] % len(ranks)))


def without_end(kinds: list[str], spec: dict[str, Any], members: list[int], rank: int) -> list[str]:
    """The calls without opens, seeks and the like, and without the flushes and fsyncs of the dump's end."""
    at_end = sum(share_of(spec, name, members, rank) for name in ("flushes", "fsyncs"))
    kept = [kind for kind in kinds if kind in ("read", "write", "flush", "fsync")]
    return kept[: len(kept) - at_end]


@pytest.mark.parametrize("seed", range(40))
def test_calls_of_a_rank_come_after_its_writes(seed: int) -> None:
    document = random_plan(random.Random(7000 + seed), 8)
    for item in document["families"]:
        item["backend"] = item["level"] = item["interface"] = "posix"
    plan = _core.Plan(json.dumps(document))
    seen = 0
    for rank in range(document["ranks"]):
        for position, kinds in kinds_of(plan, rank).items():
            place = document["dumps"][position]
            spec = document["contents"][place["content"]]
            if any(part["pieces"] > 1 for part in spec["streams"]):
                continue  # one call for each piece, and one sync for all
            members = members_of(document, document["families"][place["family"]])
            found = without_end(kinds, spec, members, rank)
            moved = [kind for kind in found if kind in ("read", "write")]
            assert found == with_calls_amid(moved, spec["flush"], spec["sync"])
            seen += len(found) - len(moved)
            if spec.get("seek_each"):
                assert kinds.count("seek") == len(moved)
    assert seen


def most_writes(operations: dict[int, list[Op]], ranks: list[int], by_entry: bool) -> int:
    """Of the busiest rank; streams of several pieces have a file view for each entry, which all leave together."""
    counts = [Counter(op.entry if by_entry else 0 for op in operations.get(rank, [])) for rank in ranks]
    return sum(max(count[entry] for count in counts) for entry in set().union(*counts))


@pytest.mark.parametrize("seed", range(40))
def test_ranks_that_share_a_file_sync_it_equally_often(seed: int) -> None:
    """Through MPI-IO all members sync together: after the writes of the busiest, stream by stream."""
    document = random_plan(random.Random(8000 + seed), 8)
    for item in document["families"]:
        item["backend"] = item["level"] = item["interface"] = "mpiio"
    plan = _core.Plan(json.dumps(document))
    calls = {rank: kinds_of(plan, rank) for rank in range(document["ranks"])}
    for position, place in enumerate(document["dumps"]):
        item = document["families"][place["family"]]
        spec = document["contents"][place["content"]]
        files = file_of_rank(document, item)
        moves = any(operations for part in spec["streams"] for operations, _ in part["entries"])
        for file in set(files.values()):
            ranks = [rank for rank, name in files.items() if name == file]
            busiest = sum(
                most_writes(expand_stream(document, item, part, 0), ranks, by_entry=part["pieces"] > 1)
                for part in spec["streams"]
                if part["direction"] == "write"
            )
            for name, call in (("flush", "flush"), ("sync", "fsync")):
                amid = spec[name]
                expected = busiest // amid[0] * amid[1] if amid and moves else 0
                at_end = spec["flushes" if name == "flush" else "fsyncs"]
                for rank in ranks:
                    found = calls[rank].get(position, []).count(call)
                    n = len(files)
                    own_file = item["sharing"]["mode"] in ("per-rank", "root")
                    of_end = "flushes" if name == "flush" else "fsyncs"
                    share = share_of(spec, of_end, members_of(document, item), rank)
                    assert found - expected == (share if own_file else -(-at_end // n)), (name, rank)


def uneven(backend: str, **more: Any) -> dict[str, Any]:
    """Ranks with 3, 3, 2 and 2 writes of one stream, of which one has more in another."""
    streams = [stream([[10, 1000]]), stream([[5, 200]], ranks=[[1, 1, 1]], base=10000)]
    return make_plan(4, [family(backend)], [content(*streams, **more)], [dump(0), dump(1)])


@pytest.mark.mpi
@pytest.mark.parametrize("collective", [False, True])
@pytest.mark.parametrize("sync", [[1, 1], [2, 1], [3, 2]])
def test_uneven_ranks_do_not_wait_for_each_other_forever(
    engine: Engine, sync: list[int], collective: bool
) -> None:
    plan = uneven("mpiio", sync=sync)
    for part in plan["contents"][0]["streams"]:
        part["collective"] = collective
    counts = _core.Plan(json.dumps(plan)).count()
    result = engine(plan, "--verify", "--keep")
    assert [d["counters"]["FSYNCS"] for d in result.dumps] == counts["FSYNCS"].tolist()
    assert counts["FSYNCS"].tolist() == [4 * (8 // sync[0] * sync[1])] * 2
    assert result.end["verified"]["errors"] == 0


@needs_strace
def test_posix_syncs_after_every_write(engine: Engine) -> None:
    plan = make_plan(1, [family("posix")], [content(stream([[7, 1000]]), sync=[2, 1], fsyncs=1)])
    calls, _ = trace(engine, plan)
    names = [name for _, name, _, _ in calls if name in ("pwrite64", "fsync")]
    assert names == [*["pwrite64", "pwrite64", "fsync"] * 3, "pwrite64", "fsync"]


@needs_strace
def test_a_stream_is_flushed_before_it_is_synced(engine: Engine) -> None:
    """What the stream holds is written to the file first; a flush at the same place is not made twice."""
    streams = content(stream([[4, 100]]), sync=[2, 1], flush=[2, 1])
    calls, result = trace(engine, make_plan(1, [family("stdio")], [streams]))
    names = [name for _, name, _, _ in calls if name in ("write", "fsync")]
    assert names == ["write", "fsync", "write", "fsync"]
    assert (result.total("FLUSHES"), result.total("FSYNCS")) == (2, 2)


@pytest.mark.parametrize("shift", [1, 2, 3, 6])
def test_a_reader_some_places_further(engine: Engine, shift: int) -> None:
    item = family("posix", sharing=sharing("per-rank"), reader="neighbour", shift=shift)
    contents = [content(stream([[4, 100]])), content(stream([[4, 100]], "read"))]
    plan = make_plan(4, [item], contents, [dump(0), dump(1, file=0, content=1)])
    core = _core.Plan(json.dumps(plan))
    for rank in range(4):
        columns = core.operations(rank=rank, most=100)
        files = [columns["names"][file] for file in columns["file"]]
        read = {
            name for name, kind in zip(files, columns["kind"], strict=True) if _core.kinds[kind] == "read"
        }
        (name,) = read
        assert f".r{(rank + shift) % 4:06d}." in name
    assert engine(plan).dumps[1]["bytes_read"] == 400
