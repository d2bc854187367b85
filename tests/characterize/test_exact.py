"""With a complete trace nothing is guessed: the plan has every operation of it, by rules or by a table."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_logs import golden, needs_shared
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike import _core
from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.readings.reopened_in_trace import parts_of
from workalike.characterize.rules import TraceRule
from workalike.darshan import LogBuilder
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Content, Lifetime, Pattern, SharingMode
from workalike.workload.operation_table import OperationTable

KIB, MIB = 2**10, 2**20
Segment = tuple[bool, int, int]
Ops = dict[int, list[Op]]


def ops_of(segments: dict[int, list[Segment]], start: float = 1.0, collective: bool = False) -> Ops:
    """Operations of each rank, (whether it writes, offset, length), one after the other."""
    return {
        rank: [
            Op(WRITE if write else READ, offset, size, start + k + rank / 100, start + k + 0.5, collective)
            for k, (write, offset, size) in enumerate(rows)
        ]
        for rank, rows in segments.items()
    }


def found_in(*files: TrueFile, ranks: int = 4, **options: bool) -> Characterization:
    """The characterization of a job with these files and their traces."""
    builder: LogBuilder = builder_of(ranks, run_time=1000.0)
    for file in files:
        add_file(builder, file, trace=True)
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True, **options))


def shared(segments: dict[int, list[Segment]], module: str = "POSIX", **options: bool) -> Characterization:
    collective = options.pop("collective", False)
    file = TrueFile("/run/out", module, ops_of(segments, collective=collective), 0.5, 900.0)
    return found_in(file, ranks=max(4, max(segments) + 1), **options)


def planned(found: Characterization) -> dict[tuple[int, str], list[Segment]]:
    """The plan's operations of each rank and file, in order."""
    plan = resolve(found.workload, Options())
    core = core_plan(plan)
    transfers = (_core.kinds.index("read"), _core.kinds.index("write"))
    out: dict[tuple[int, str], list[Segment]] = defaultdict(list)
    for rank in range(plan.ranks):
        calls = core.operations(rank, 10_000)
        for kind, file, offset, length in zip(
            calls["kind"], calls["file"], calls["offset"], calls["length"], strict=True
        ):
            if kind in transfers and offset >= 0:
                out[rank, calls["names"][file]].append((bool(kind == transfers[1]), int(offset), int(length)))
    return dict(out)


def of_one_file(found: Characterization) -> dict[int, list[Segment]]:
    operations = planned(found)
    assert len({name for _, name in operations}) == 1
    return {rank: rows for (rank, _), rows in operations.items()}


def content(found: Characterization) -> Content:
    (family,) = found.families
    return family.family.content_of(0)


def rules(found: Characterization) -> set[str]:
    return {
        decision.rule.value for decision in found.families[0].rules if isinstance(decision.rule, TraceRule)
    }


SCATTERED: dict[int, list[Segment]] = {
    r: [(True, (k * 7919 + r * 104729) % 9973, 10 + (k * r) % 5) for k in range(12)] for r in range(4)
}


def test_what_no_rule_gives_is_a_table() -> None:
    found = shared(SCATTERED)
    rows = content(found).table
    assert rows is not None
    assert (rows.writes, rows.reads) == (48, 0)
    assert found.workload.operations is not None
    assert rules(found) == {"table"}
    assert of_one_file(found) == SCATTERED


def test_without_tables_it_is_rules() -> None:
    found = shared(SCATTERED, tables=False)
    assert found.workload.operations is None
    assert content(found).table is None


def test_without_a_trace_it_is_rules() -> None:
    assert shared(SCATTERED, use_trace=False).workload.operations is None


def test_an_incomplete_trace_is_no_truth() -> None:
    builder = builder_of(4, run_time=1000.0)
    file = TrueFile("/run/out", "POSIX", ops_of(SCATTERED), 0.5, 900.0)
    add_file(builder, file)
    for rank, ops in file.ops.items():
        rows = [(op.offset, op.size, op.start, op.end) for op in ops[: -1 if rank == 2 else None]]
        builder.dxt_posix(file.name, rank, writes=rows)
    found = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))
    assert found.workload.operations is None
    assert not rules(found)


def test_regular_operations_are_rules() -> None:
    """Each rank writes a block and reads it back in pieces, twice."""
    once = [[(True, r * 4096, 4096)] + [(False, r * 4096 + k * 512, 512) for k in range(8)] for r in range(4)]
    segments = {r: once[r] * 2 for r in range(4)}
    found = shared(segments)
    assert found.workload.operations is None
    assert content(found).passes == 2
    assert of_one_file(found) == segments


def test_a_header_of_one_rank_and_data_of_all() -> None:
    segments: dict[int, list[Segment]] = {
        r: [(True, 1000 + (k * 4 + r) * 100, 100) for k in range(5)] for r in range(4)
    }
    segments[0].insert(0, (True, 0, 96))
    found = shared(segments)
    assert found.workload.operations is None
    assert rules(found) == {"read-off"}
    assert of_one_file(found) == segments


def test_a_footer_of_the_last_rank_after_the_data_of_all() -> None:
    segments: dict[int, list[Segment]] = {
        r: [(True, (k * 4 + r) * 100, 100) for k in range(5)] for r in range(4)
    }
    segments[3].append((True, 2000, 96))
    found = shared(segments)
    assert found.workload.operations is None
    assert rules(found) == {"read-off"}
    assert of_one_file(found) == segments


def test_a_plan_of_too_many_calls_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged log may have billions of opens beside a short trace, which is then kept as a table."""
    monkeypatch.setattr("workalike.characterize.traces.exact.MOST_CALLS", 10)
    segments: dict[int, list[Segment]] = {
        r: [(True, (k * 4 + r) * 100, 100) for k in range(5)] for r in range(4)
    }
    found = shared(segments)
    assert rules(found) == {"table"}
    assert of_one_file(found) == segments


@pytest.mark.parametrize(
    ("place", "pattern"),
    [
        (lambda r, k: r * 8000 + k * 1000, Pattern.CONTIGUOUS),
        (lambda r, k: (k * 4 + r) * 1000, Pattern.INTERLEAVED),
        (lambda r, k: k * 1000, Pattern.REPLICATED),
        (lambda r, k: 5000, Pattern.SAME),
        (lambda r, k: 300 + r * 16_000 + k * 2000, Pattern.STRIDED),
    ],
)
def test_patterns_are_read_off(place: object, pattern: Pattern) -> None:
    segments = {r: [(True, place(r, k), 1000) for k in range(8)] for r in range(4)}  # type: ignore[operator]
    found = shared(segments)
    assert found.workload.operations is None
    assert {stream.pattern for stream in content(found).streams} == {pattern}
    assert of_one_file(found) == segments


def test_files_of_ranks() -> None:
    files = [TrueFile(f"/run/out.{r:03d}", "POSIX", ops_of({r: SCATTERED[r]}), 0.5, 900.0) for r in range(4)]
    found = found_in(*files)
    assert content(found).table is not None
    operations = planned(found)
    assert sorted(operations) == [(r, sorted({name for _, name in operations})[r]) for r in range(4)]
    assert {rank: rows for (rank, _), rows in operations.items()} == SCATTERED


def test_equal_dumps_share_their_rows() -> None:
    files = [
        TrueFile(f"/run/out.{d}", "POSIX", ops_of(SCATTERED, 1.0 + 100 * d), 0.5 + 100 * d, 90.0 + 100 * d)
        for d in range(3)
    ]
    found = found_in(*files)
    assert found.workload.operations is not None
    assert found.workload.operations.rows == 48
    assert len(planned(found)) == 12


def test_collective_calls_among_others() -> None:
    """Rank 0 writes a header by itself among the collective calls: the counters say how many, the times which."""
    segments: dict[int, list[Segment]] = {
        r: [(True, (k * 977 + r * 331) % 1009 * 1000, 1000) for k in range(6)] for r in range(4)
    }
    ops = ops_of(segments, collective=True)
    ops[0].insert(3, Op(WRITE, 2_000_000, 96, 3.7, 3.8))
    found = found_in(TrueFile("/run/out", "MPI-IO", ops, 0.5, 900.0))
    assert found.workload.operations is not None
    table = found.workload.operations.table
    assert table is not None
    assert int(np.count_nonzero(table.collective)) == 24
    assert table.lengths[~table.collective].tolist() == [96]
    counts = core_plan(resolve(found.workload, Options())).count()
    assert (int(counts["COLL_WRITES"].sum()), int(counts["INDEP_WRITES"].sum())) == (24, 1)


def test_a_rank_with_fewer_collective_calls_joins() -> None:
    segments: dict[int, list[Segment]] = {
        r: [(True, r * 10 + k * 977, 10) for k in range(3)] for r in range(3)
    }
    segments[3] = [(True, 40, 7)]
    ops = ops_of(segments, collective=True)
    found = found_in(TrueFile("/run/out", "MPI-IO", ops, 0.5, 900.0))
    assert content(found).table is not None
    counts = core_plan(resolve(found.workload, Options())).count()
    assert int(counts["COLL_WRITES"].sum()) == 12  # two of them without data


ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 40).map(lambda n: n * 100), st.sampled_from([50, 100, 300])),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 3), ROWS, min_size=1), st.sampled_from(["shared", "own"]))
def test_every_operation_is_in_the_plan(segments: dict[int, list[Segment]], how: str) -> None:
    if how == "shared":
        found = shared(segments)
        merged: dict[int, list[Segment]] = defaultdict(list)
        for (rank, _), rows in planned(found).items():
            merged[rank] += rows
        assert dict(merged) == segments
        return
    files = [
        TrueFile(f"/run/o.{r:03d}", "POSIX", ops_of({r: rows}), 0.5, 900.0) for r, rows in segments.items()
    ]
    merged = defaultdict(list)
    for (rank, _), rows in planned(found_in(*files)).items():
        merged[rank] += rows
    assert dict(merged) == segments


def table_of(segments: dict[int, list[Segment]]) -> OperationTable:
    rows = sorted((k, r, row) for r, rows in segments.items() for k, row in enumerate(rows))
    return OperationTable(
        np.array([r for _, r, _ in rows]),
        np.array([write for _, _, (write, _, _) in rows]),
        np.array([offset for _, _, (_, offset, _) in rows]),
        np.array([size for _, _, (_, _, size) in rows]),
        np.zeros(len(rows), dtype=bool),
    )


def test_parts_are_runs_of_one_direction() -> None:
    rank: list[Segment] = [
        (True, 0, 1),
        (True, 1, 1),
        (False, 0, 2),
        (True, 0, 1),
        (True, 1, 1),
        (False, 0, 2),
    ]
    rows = table_of({0: rank, 2: rank})
    parts = parts_of(rows, 4)
    assert parts is not None
    assert parts[rows.ranks == 2].tolist() == [0, 0, 1, 2, 2, 3]
    assert parts_of(rows, 3) is None
    assert parts_of(table_of({0: rank, 2: rank[:4]}), 4) is None


def test_parts_of_one_direction_are_passes() -> None:
    rows = table_of({r: [(True, k % 3, 1) for k in range(6)] for r in range(2)})
    parts = parts_of(rows, 2)
    assert parts is not None
    assert parts[rows.ranks == 1].tolist() == [0, 0, 0, 1, 1, 1]
    assert parts_of(rows, 4) is None


@needs_shared
def test_a_file_that_is_opened_for_each_part() -> None:
    """IOR, four passes: each is written under one open and read under another, so that counting begins anew."""
    (facts,) = golden("ior-rewritten-shared-8").families
    family = facts.family
    assert (family.lifetime, family.schedule.dumps, family.use) == (Lifetime.REUSED, 8, [0, 1] * 4)
    assert [content.opens for content in family.contents] == [8, 8]
    assert [(dump.bytes_written, dump.bytes_read) for dump in facts.dumps] == [
        (16 * MIB, 0),
        (0, 16 * MIB),
    ] * 4
    assert family.schedule.starts() == sorted(family.schedule.starts())


def test_files_of_any_ranks_are_dumps() -> None:
    """Ranks 0 and 2 share a file, 1 and 3 another: no blocks of ranks, so each file is a dump."""
    files = [
        TrueFile(f"/run/part.{name}", "POSIX", ops_of({r: SCATTERED[r] for r in ranks}), 0.5, 900.0)
        for name, ranks in (("1", (0, 2)), ("2", (1, 3)))
    ]
    found = found_in(*files)
    (facts,) = found.families
    assert (facts.family.schedule.dumps, facts.family.sharing.mode) == (2, SharingMode.SHARED)
    operations = planned(found)
    assert {rank: rows for (rank, _), rows in operations.items()} == SCATTERED
    by_file: dict[str, set[int]] = defaultdict(set)
    for rank, name in operations:
        by_file[name].add(rank)
    assert sorted(map(sorted, by_file.values())) == [[0, 2], [1, 3]]


def test_ranks_with_rows_open_the_file() -> None:
    files = [
        TrueFile(f"/run/part.{name}", "POSIX", ops_of({r: SCATTERED[r] for r in ranks}), 0.5, 900.0)
        for name, ranks in (("1", (0, 3)), ("2", (1, 2)))
    ]
    plan = resolve(found_in(*files).workload, Options())
    core = core_plan(plan)
    opens = _core.kinds.index("open")
    made = [np.count_nonzero(core.operations(rank, 1000)["kind"] == opens) for rank in range(4)]
    assert made == [1, 1, 1, 1]
