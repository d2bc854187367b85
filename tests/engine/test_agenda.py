"""The agenda of a rank: the calls of all its dumps in the order of time."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from workalike import _core
from workalike.darshan import layouts

from .conftest import Engine, Result, content, dump, family, make_plan, stream, without_id
from .random_agendas import RANKS, random_overlaps

MOST = 100_000
EXPLORED = int(os.environ.get("WORKALIKE_AGENDAS", "5000"))
PARTS = 20
"""So that several processes of tests share the runs."""


def core(plan: dict[str, Any]) -> _core.Plan:
    return _core.Plan(json.dumps(plan))


def random_plans(count: int, *backends: str) -> Iterator[tuple[int, dict[str, Any], _core.Plan]]:
    """Random plans that the core does not refuse, most of them, with their seeds."""
    accepted = 0
    for seed in range(count):
        plan = random_overlaps(random.Random(seed), *([backends] if backends else []))
        try:
            found = core(plan)
        except _core.PlanError:
            continue
        accepted += 1
        yield seed, plan, found
    assert accepted > 0.7 * count


def transfers(timeline: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The moments of reads and writes."""
    moves = [_core.kinds.index(word) for word in ("read", "write")]
    return np.asarray(timeline["start_s"][np.isin(timeline["kind"], moves)])


def test_files_that_are_written_together() -> None:
    """Eight files, one operation of each in every round of 0.2 s."""
    families = [family(id=i, number=i + 1) for i in range(8)]
    dumps = [dump(family=i, start_s=0.001 * i, end_s=3.9, writes=[0, 3.8, 0], file=0) for i in range(8)]
    plan = make_plan(1, families, [content(stream([[20, 65536]]))], dumps)
    at = transfers(core(plan).timeline(0, MOST))
    rounds = [0.2 * k + 0.001 * i for k in range(20) for i in range(8)]
    assert at.tolist() == pytest.approx(rounds)


def test_compute_time_lies_between_the_operations() -> None:
    """Without windows of the log: each of five operations takes 0.2 s, with 0.5 s between them."""
    plan = make_plan(
        1, [family()], [content(stream([[5, 1000]]))], [dump(start_s=1.0, end_s=4.0, compute_s=2.0)]
    )
    found = core(plan).timeline(0, MOST)
    assert transfers(found).tolist() == pytest.approx([1.0, 1.7, 2.4, 3.1, 3.8])
    write = _core.kinds.index("write")
    assert found["busy_s"][found["kind"] == write].tolist() == pytest.approx([0.2] * 5)


def test_ranks_that_are_late() -> None:
    """Rank 1 writes two seconds later than the others, and reads half a second later."""
    skew = {
        name: [{"ranks": [[1, 1, 1]], "delay_s": delay}] for name, delay in (("writes", 2), ("reads", 0.5))
    }
    moves = content(stream([[6, 1000]]), stream([[6, 1000]], direction="read"))
    times = {"end_s": 10.0, "writes": [0.0, 4.0, 0.0], "reads": [6.0, 8.0, 0.0]}
    own_files = family(sharing={"mode": "per-rank"}, skew=skew)
    plan = make_plan(3, [own_files], [moves], [dump(**times)])
    for rank, moments in ((0, [0, 4, 6, 8]), (1, [2, 6, 6.5, 8.5]), (2, [0, 4, 6, 8])):
        assert transfers(core(plan).timeline(rank, MOST)).tolist() == pytest.approx(moments)


def test_late_ranks_end_with_their_dump() -> None:
    skew = {"writes": [{"ranks": "all", "delay_s": 7.0}]}
    times = {"end_s": 10.0, "writes": [0.0, 4.0, 0.0]}
    plan = make_plan(1, [family(skew=skew)], [content(stream([[2, 1000]]))], [dump(**times)])
    assert transfers(core(plan).timeline(0, MOST)).tolist() == pytest.approx([7.0, 10.0])


def test_ranks_that_are_late_in_one_dump() -> None:
    """Rank 1 is two seconds late in each dump but the second: there it is half a second late, and rank 0 a second."""
    groups: list[dict[str, Any]] = [
        {"ranks": [[1, 1, 1]], "delay_s": 2.0},
        {"ranks": [[1, 1, 1]], "delay_s": 0.5, "dump": 1},
        {"ranks": [[0, 0, 1]], "delay_s": 1.0, "dump": 1},
    ]
    own_files = family(sharing={"mode": "per-rank"}, lifetime="reused", skew={"writes": groups})
    dumps = [
        dump(index, file=0, start_s=10.0 * index, end_s=10.0 * index + 8, writes=[0.0, 4.0, 0.0])
        for index in range(3)
    ]
    plan = make_plan(2, [own_files], [content(stream([[4, 1000]]))], dumps)
    assert transfers(core(plan).timeline(0, MOST)).tolist() == pytest.approx([0, 4, 11, 15, 20, 24])
    assert transfers(core(plan).timeline(1, MOST)).tolist() == pytest.approx([2, 6, 10.5, 14.5, 22, 26])


def test_ranks_that_others_wait_for_are_not_late() -> None:
    skew = {"writes": [{"ranks": [[1, 1, 1]], "delay_s": 2.0}]}
    times = {"end_s": 10.0, "writes": [0.0, 4.0, 0.0]}
    shared = family("mpiio", sharing={"mode": "shared"}, skew=skew)
    plan = make_plan(2, [shared], [content(stream([[4, 1000]], collective=True))], [dump(**times)])
    assert transfers(core(plan).timeline(1, MOST)).tolist() == pytest.approx([0.0, 4.0])


def test_a_late_rank_whose_windows_meet_begins_late_all_the_same() -> None:
    """Its writes are later than its reads begin: both share a window, which begins with the writes."""
    skew = {"writes": [{"ranks": "all", "delay_s": 5.0}]}
    moves = content(stream([[2, 1000]]), stream([[2, 1000]], direction="read"))
    times = {"end_s": 10.0, "writes": [0.0, 2.0, 0.0], "reads": [3.0, 8.0, 0.0]}
    plan = make_plan(1, [family(sharing={"mode": "per-rank"}, skew=skew)], [moves], [dump(**times)])
    assert transfers(core(plan).timeline(0, MOST)).tolist() == pytest.approx([5.0, 6.0, 7.0, 8.0])


@pytest.mark.parametrize(
    ("skew", "message"),
    [
        (
            {"writes": [{"ranks": [[0, 1, 1]], "delay_s": 1}, {"ranks": [[1, 1, 1]], "delay_s": 2}]},
            "rank 1 is in another",
        ),
        (
            {"reads": [{"ranks": "all", "delay_s": 1, "dump": 2}, {"ranks": "all", "delay_s": 2, "dump": 2}]},
            "rank 0 is in another",
        ),
        ({"writes": [{"ranks": "all", "delay_s": 1, "dump": -1}]}, "dump"),
        ({"writes": [{"ranks": [[0, 0, 1]], "delay_s": -1}]}, "delay_s"),
        ({"writes": [{"ranks": [[2, 2, 1]], "delay_s": 1}]}, "ranks"),
        ({"opens": []}, "opens"),
        ({"reads": [{"ranks": [[0, 0, 1]], "delay_s": 1}] * 65}, "more than 64 groups"),
    ],
)
def test_contradictory_skew_is_refused(skew: dict[str, Any], message: str) -> None:
    plan = make_plan(2, [family(skew=skew)], [content(stream([[4, 1000]]))], [dump()])
    with pytest.raises(_core.PlanError, match=message):
        core(plan)


def test_small_operations_take_the_less_time() -> None:
    """A header of a hundredth of the data takes a sixty-fourth of a write of data, wherever it is."""
    data, header = stream([[4, 6400]]), stream([[1, 64]])
    times = {"end_s": 10.0, "writes": [0.0, 8.0, 0.0]}
    first = transfers(
        core(make_plan(1, [family()], [content(header, data)], [dump(**times)])).timeline(0, MOST)
    )
    step = 8.0 / (3 + 1 / 64)
    assert first.tolist() == pytest.approx([0, step / 64, *(step / 64 + step * k for k in (1, 2, 3))])
    last = transfers(
        core(make_plan(1, [family()], [content(data, header)], [dump(**times)])).timeline(0, MOST)
    )
    assert last.tolist() == pytest.approx([0, 2, 4, 6, 8])


def test_windows_of_both_directions() -> None:
    streams = content(stream([[4, 100]]), stream([[4, 100]], direction="read"))
    times = {"start_s": 10.0, "end_s": 20.0, "writes": [1.0, 4.0, 0.0], "reads": [6.0, 9.0, 3.0]}
    plan = make_plan(1, [family()], [streams], [dump(**times)])
    found = core(plan).timeline(0, MOST)
    assert transfers(found).tolist() == pytest.approx([11, 12, 13, 14, 16, 16.75, 17.5, 18.25])
    opened, closed = (found["start_s"][found["kind"] == _core.kinds.index(k)] for k in ("open", "close"))
    assert (opened.tolist(), closed.tolist()) == ([10.0], [20.0])


def test_reads_and_writes_that_alternate_share_one_span() -> None:
    rounds = [stream([[1, 100]], direction=d) for d in ("write", "read") * 2]
    times = {"end_s": 9.0, "writes": [0.0, 7.0, 0.0], "reads": [1.0, 9.0, 0.0]}
    plan = make_plan(1, [family()], [content(*rounds)], [dump(**times)])
    assert transfers(core(plan).timeline(0, MOST)).tolist() == pytest.approx([0, 3, 6, 9])


def test_windows_that_overlap_are_one() -> None:
    """Reads follow writes in the dump, though some ranks read while others wrote."""
    streams = content(stream([[4, 100]]), stream([[4, 100]], direction="read"))
    times = {"end_s": 9.0, "writes": [0.0, 6.0, 0.0], "reads": [1.0, 7.0, 0.0]}
    plan = make_plan(1, [family()], [streams], [dump(**times)])
    assert transfers(core(plan).timeline(0, MOST)).tolist() == pytest.approx(list(range(8)))


def test_compute_time_that_does_not_fit_delays_what_follows() -> None:
    """Dumps without a length: each computes for 1 s. Another family's dump between them is delayed as well."""
    families = [family(), family(id=1, number=2)]
    dumps = [
        dump(0, start_s=1.0, compute_s=1.0),
        dump(0, family=1, start_s=1.5),
        dump(1, start_s=2.0, compute_s=1.0),
    ]
    times = core(make_plan(1, families, [content(stream([[1, 1]]))], dumps)).times()
    assert times["start_s"].tolist() == [1.0, 2.5, 3.0]
    assert times["end_s"].tolist() == [2.0, 2.5, 4.0]


def test_epochs_of_a_data_set_never_overlap() -> None:
    data = {
        "files": 2, "samples": 4, "bytes": 8000, "deviation": 0, "header": 0, "transfer": 0, "batch": 2,
        "file_order": "sequential", "sample_order": "sequential", "deal": 1, "readers": 0, "prefetch": 0,
        "opens": 1, "stats": 0, "seeks": 0,
    }  # fmt: skip
    epochs = [dump(i, end_s=4.0, compute_s=4.0, prepare=True) for i in range(2)]
    plan = make_plan(1, [family(role="input", lifetime="reused")], [content(dataset=data)], epochs)
    at = transfers(core(plan).timeline(0, MOST))
    # A batch is computed after its two samples have been read.
    assert at.tolist() == pytest.approx([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7])


def calls_by_dump(columns: dict[str, Any]) -> dict[int, list[tuple[int, ...]]]:
    out = defaultdict(list)
    for dump_, *call in zip(
        *(columns[k].tolist() for k in ("dump", "kind", "offset", "length")), strict=True
    ):
        out[dump_].append(tuple(call))
    return out


def test_random_agendas_have_all_calls_in_their_order() -> None:
    """Each dump has the calls that it has without others; time never goes back, and no call is later than its dump.

    A call that is later, even by rounding, comes after the next dump's begin, for which others may wait.
    """
    for seed, _, found in random_plans(150):
        end_s = found.times()["end_s"]
        for rank in range(RANKS):
            timeline = found.timeline(rank, MOST)
            assert calls_by_dump(timeline) == calls_by_dump(found.operations(rank, MOST)), seed
            assert (np.diff(timeline["start_s"]) >= 0).all(), seed
            assert (timeline["start_s"] <= end_s[timeline["dump"]]).all(), seed


def shared_calls(
    plan: dict[str, Any], timeline: dict[str, Any], together: set[str]
) -> list[tuple[str, int, str]]:
    """The calls that all ranks of an MPI-IO file make together, of those files: (file, dump, kind)."""
    moves = ("read", "write")
    out = []
    for file, dump_, kind in zip(*(timeline[k].tolist() for k in ("file", "dump", "kind")), strict=True):
        name, word = timeline["names"][file], _core.kinds[kind]
        streams = plan["contents"][plan["dumps"][dump_]["content"]]["streams"]
        collective = all(s["collective"] for s in streams)
        if name in together and (word in ("open", "close", "fsync") or (word in moves and collective)):
            out.append((name, dump_, word))
    return out


def test_ranks_meet_collective_calls_in_one_order() -> None:
    """Else each waits for the other in another call, for ever."""
    compared = 0
    for seed, plan, found in random_plans(400, "mpiio", "mpiio", "posix"):
        timelines = [found.timeline(rank, MOST) for rank in range(RANKS)]
        shared = {
            f"{f['role']}-{f['number']}." for f in plan["families"]
            if f["backend"] == "mpiio" and f["sharing"]["turns"] != "baton" and f["sharing"]["mode"] != "per-rank"
        }  # fmt: skip
        names = [{n for n in t["names"] if any(n.startswith(s) for s in shared)} for t in timelines]
        for a in range(RANKS):
            for b in range(a):
                both = names[a] & names[b]
                first, other = (shared_calls(plan, timelines[rank], both) for rank in (a, b))
                assert first == other, f"seed {seed}, ranks {a} and {b}"
                compared += len(first)
    assert compared > 10_000


def files_left(plan: dict[str, Any]) -> set[str]:
    """The files that a run opens and does not delete."""
    found = core(plan)
    gone = {
        (place["family"], deleted)
        for place, (_, deleted) in zip(plan["dumps"], found.names_lost(), strict=True)
        if deleted is not None
    }
    names = set()
    for module, records in found.predict([0] * len(plan["families"]), MOST).items():
        opens = ["OPENS" in counter for counter in layouts.FIXED[module].current.counters]
        opened = records["counters"][:, opens].any(axis=1)
        names |= {name for name, is_opened in zip(records["file"], opened, strict=True) if is_opened}
    numbers = {f["number"]: f["id"] for f in plan["families"]}
    parts = {name: _core.parse_name(name) for name in names}
    return {
        without_id(name)
        for name, part in parts.items()
        if part is not None and (numbers[part[1]], part[2]) not in gone
    }


def check_random_run(engine: Engine, seed: int) -> str:
    """Performs a random plan; it ends, has all bytes, and they are right."""
    rng = random.Random(f"run {seed}")
    plan = random_overlaps(rng)
    plan |= {"clock": rng.choice(["gap", "deadline"]), "time_scale": rng.choice([0.0, 0.0, 0.02])}
    try:
        result = engine(plan, "--verify", "--keep", timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    if result.code == 2:
        return "refused"
    assert result.code == 0, f"seed {seed}: {result.stderr}"
    assert result.end["verified"]["errors"] == 0, seed
    assert set(result.files()) == files_left(plan), seed
    counted = core(plan).count()
    by_dump = {(d["family"], d["index"]): d for d in result.dumps}
    for name in ("WRITES", "READS", "BYTES_WRITTEN", "BYTES_READ", "OPENS", "FSYNCS"):
        counts = [by_dump[d["family"], d["index"]]["counters"][name] for d in plan["dumps"]]
        assert counts == counted[name].tolist(), f"seed {seed}: {name}"
    return "done"


def check_random_runs(engine: Engine, seeds: range) -> None:
    outcomes = Counter[str]()
    for seed in seeds:
        if seed % 250 == 0:
            print(seed, dict(outcomes), flush=True)
        outcomes[outcome := check_random_run(engine, seed)] += 1
        assert outcome != "hangs", f"seed {seed}"
    print(dict(outcomes))
    assert outcomes["done"] > 0.7 * len(seeds)


def test_random_runs(engine: Engine) -> None:
    check_random_runs(engine, range(12))


def test_a_last_turn_that_rounding_made_too_long(engine: Engine) -> None:
    """The rank that has it went on to the barrier of the next dump, and the others waited for its end of this one."""
    assert check_random_run(engine, 1109) == "done"


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_many_random_runs(engine: Engine, part: int) -> None:
    check_random_runs(engine, range(12 + part, EXPLORED, PARTS))


FILES = 2000


def files_in_progress(engine: Engine, *limits: str, check: bool = True) -> Result:
    """Files that are opened before any of them is written, by a process with a limit of descriptors."""
    dumps = [dump(i, end_s=1.0, writes=[0.5, 1.0, 0.0]) for i in range(FILES)]
    plan = make_plan(1, [family()], [content(stream([[3, 100]]))], dumps)
    limited = ["sh", "-c", f'{"; ".join(limits)}; exec "$@"', "sh"]
    return engine(plan, "--verify", prefix=limited, check=check)


def test_many_dumps_in_progress(engine: Engine) -> None:
    result = files_in_progress(engine, f"ulimit -H -n {FILES + 100}", "ulimit -S -n 256")
    assert result.end["verified"].items() >= {"bytes": 300 * FILES, "errors": 0}.items()
    # Each begins before any has ended.
    assert max(d["start_s"] for d in result.dumps) < min(d["end_s"] for d in result.dumps)


def test_too_many_dumps_in_progress_are_refused(engine: Engine) -> None:
    result = files_in_progress(engine, "ulimit -n 256", check=False)
    assert result.code == 2
    assert "files open at once" in result.refusal and "ulimit -n" in result.refusal
    assert not result.files()
