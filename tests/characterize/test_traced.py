"""What a complete trace shows exactly: patterns, sizes and shares of ranks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.traces.exact import exact
from workalike.characterize.traces.traced_rows import traced_family
from workalike.compare.lines import families_with_traces, model_against_log
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder
from workalike.facts.gather import facts_of
from workalike.facts.jobs import job_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.traces import (
    Trace,
    Traces,
    contiguous_runs,
    covered,
    overlaps,
    placed_by,
    placement_in_trace,
)
from workalike.workload.model import Assumption, Direction, Level, Pattern, Stream

KIB, MIB = 2**10, 2**20


def trace_of(*ops: tuple[int, int, int]) -> Trace:
    """A trace of operations (rank, offset, length), in order of time."""
    ranks, offsets, lengths = (np.array(column, dtype=np.int64) for column in zip(*ops, strict=True))
    times = np.arange(len(ops), dtype=float)
    return Trace(ranks, offsets, lengths, times, times + 0.5)


def pattern(*ops: tuple[int, int, int]) -> Pattern:
    placement = placement_in_trace(trace_of(*ops))
    assert placement is not None
    return placement.pattern


def test_patterns() -> None:
    n = range(8)
    assert pattern(*[(r, r * 80 + k * 10, 10) for k in n for r in range(3)]) is Pattern.CONTIGUOUS
    assert pattern(*[(r, (k * 3 + r) * 10, 10) for k in n for r in range(3)]) is Pattern.INTERLEAVED
    assert pattern(*[(r, k * 10, 10) for k in n for r in range(3)]) is Pattern.REPLICATED
    assert pattern(*[(r, 64, 10) for k in n for r in range(3)]) is Pattern.SAME
    assert pattern(*[(0, k * 100, 10) for k in n]) is Pattern.STRIDED
    assert pattern(*[(0, k * 10, 10) for k in n]) is Pattern.CONTIGUOUS
    assert pattern(*[(0, k * 10, 10) for k in (5, 2, 7, 0, 3, 6, 1, 4)]) is Pattern.RANDOM


def test_stride_is_the_usual_step() -> None:
    placement = placement_in_trace(trace_of(*[(0, k * 100 + (k > 5) * 7, 10) for k in range(9)]))
    assert placement is not None and placement.stride == 100


def test_pieces_of_a_rank() -> None:
    """Two variables, with a piece of four operations of every rank in each."""
    ops = [(r, v * 1000 + r * 40 + k * 10, 10) for v in range(2) for k in range(4) for r in range(3)]
    placement = placement_in_trace(trace_of(*ops))
    assert placement is not None
    assert (placement.pattern, placement.pieces_per_rank) == (Pattern.INTERLEAVED, 2)


def test_covered_bytes() -> None:
    trace = trace_of((0, 0, 10), (1, 5, 10), (0, 100, 1), (1, 2, 3))
    assert covered(trace.offsets, trace.lengths) == 16
    assert overlaps(trace)
    assert not overlaps(trace_of((0, 0, 10), (1, 10, 10)))


def test_runs_of_one_rank_keep_their_places() -> None:
    trace = trace_of((0, 500, 10), (0, 510, 10), (0, 0, 20), (0, 20, 10))
    assert contiguous_runs(trace) == [(500, [(2, 10)]), (0, [(1, 10), (1, 20)])]
    assert contiguous_runs(trace_of((0, 0, 1), (1, 1, 1))) is None


def characterized(builder: LogBuilder, **options: object) -> Characterization:
    return characterize(
        [log_of(builder)], CharacterizeOptions(include_program_start=True, **{"tables": False, **options})
    )  # type: ignore[arg-type]


def streams(found: Characterization) -> list[Stream]:
    (family,) = found.families
    return family.family.content_of(0).streams


def uneven_job(complete: bool = True) -> LogBuilder:
    """Rank r of 4 writes r + 1 blocks. The record is reduced, so counters do not show which rank wrote what."""
    builder = builder_of(4)
    ops = {r: [Op(WRITE, (r * 10 + k) * MIB, MIB, 1.0 + k, 2.0 + k) for k in range(r + 1)] for r in range(4)}
    file = TrueFile("/run/out", "POSIX", ops, 0.5, 9.0)
    add_file(builder, file)
    for rank, rank_ops in ops.items():
        writes = [(o.offset, o.size, o.start, o.end) for o in rank_ops]
        builder.dxt_posix(
            file.name, rank, writes=writes if complete or rank else writes[1:], hostname=f"n{rank // 2}"
        )
    return builder


def shares(found: Characterization) -> dict[int, int]:
    out: dict[int, int] = {}
    for stream in streams(found):
        ranks = [r for a, b, step in stream.ranks or [(0, 3, 1)] for r in range(a, b + 1, step)]
        for rank in ranks:
            moved = sum(e.total(len(ranks)) * e.size for e in stream.sizes) // len(ranks)
            out[rank] = out.get(rank, 0) + moved
    return out


def test_shares_of_ranks_in_a_reduced_record() -> None:
    found = characterized(uneven_job())
    assert shares(found) == {r: (r + 1) * MIB for r in range(4)}
    assert not {Assumption.PLACEMENT, Assumption.RANK_SHARES} & set(found.families[0].family.assumed)
    assert found.workload.nodes == 2
    without = characterized(uneven_job(), use_trace=False)
    assert shares(without) == dict.fromkeys(range(4), 10 * MIB // 4)
    assert without.workload.nodes is None


def test_an_incomplete_trace_is_not_used() -> None:
    found = characterized(uneven_job(complete=False))
    assert Assumption.PLACEMENT in found.families[0].family.assumed


@pytest.mark.parametrize(
    "segment", [(0, -5, 1.0, 2.0), (0, MIB, float("nan"), 2.0), (0, MIB, 1e12, 1e12), (0, MIB, -9.0, 2.0)]
)
def test_a_trace_that_cannot_be_true(segment: tuple[int, int, float, float]) -> None:
    builder = builder_of(1)
    add_file(builder, TrueFile("/run/out", "POSIX", {0: [Op(WRITE, 0, MIB)]}))
    builder.dxt_posix("/run/out", 0, writes=[segment])
    log = log_of(builder)
    (file,) = facts_of([log]).files()
    assert Traces(job_of([log])).of_file(file, Level.POSIX, WRITE) is None
    assert characterized(builder).workload.families


def test_collective_calls_of_a_traced_file() -> None:
    builder = builder_of(4)
    ops = {r: [Op(WRITE, (k * 4 + r) * MIB, MIB, 1.0 + k, 2.0 + k, True) for k in range(5)] for r in range(4)}
    ops[0].append(Op(WRITE, 0, 96, 8.0, 8.1))
    add_file(builder, TrueFile("/run/out", "MPI-IO", ops, 0.5, 9.0), trace=True)
    found = streams(characterized(builder))
    assert [(s.collective, [(e.count, e.size) for e in s.sizes]) for s in found] == [
        (False, [(1, 96)]),
        (True, [(20, MIB)]),
    ]


def test_offsets_below_a_file_view_are_not_used() -> None:
    """Through a view the trace has only the offset of the first piece, so operations of ranks seem to overlap."""
    builder = builder_of(4)
    ops = {r: [Op(WRITE, r * 8, MIB, 1.0, 2.0, True)] for r in range(4)}
    add_file(builder, TrueFile("/run/out", "MPI-IO", ops), trace=True)
    found = characterized(builder)
    assert Assumption.PLACEMENT in found.families[0].family.assumed
    assert sum(s.sizes[0].count for s in streams(found)) == 4


def test_a_traced_file_of_many_sizes_stays_small() -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 2**20, 3000).tolist()
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist()
    ops = [
        Op(READ, at, size, 1.0 + i / 1000, 1.0005 + i / 1000)
        for i, (at, size) in enumerate(zip(offsets, sizes, strict=True))
    ]
    builder = builder_of(1)
    add_file(builder, TrueFile("/run/in", "POSIX", {0: ops}, 0.5, 9.0), trace=True)
    (stream,) = streams(characterized(builder))
    assert len(stream.sizes) <= 24
    assert sum(e.count * e.size for e in stream.sizes) == sum(sizes)
    assert stream.direction is Direction.READ


def test_a_rank_that_covers_nearly_all_is_contiguous() -> None:
    """Runs of equal operations with a hole between them: up to a fifth of the span is missing."""
    dense = [(0, k * 10, 10) for k in range(4)] + [(0, 60 + k * 10, 10) for k in range(4)]
    assert THRESHOLDS.trace_dense == 0.8
    assert pattern(*dense) is Pattern.CONTIGUOUS
    assert pattern(*dense[:-1], (0, 91, 10)) is Pattern.STRIDED


def test_stride_is_never_shorter_than_an_operation() -> None:
    placement = placement_in_trace(trace_of((0, 0, 10), (0, 50, 40), (0, 200, 10)))
    assert placement is not None
    assert (placement.pattern, placement.stride) == (Pattern.STRIDED, 50)
    mixed = placement_in_trace(trace_of((0, 0, 10), (0, 20, 90), (0, 200, 10), (0, 220, 10)))
    assert mixed is not None and mixed.stride == 90


def test_forward_bytes_decide_what_is_random() -> None:
    back = [(0, 1000 - k * 100, 10) for k in range(10)]
    assert pattern(*back) is Pattern.RANDOM
    assert pattern((0, 100, 10), (0, 0, 10)) is Pattern.RANDOM


def test_one_place_written_again_and_again() -> None:
    assert pattern((0, 64, 10), (0, 64, 10)) is Pattern.SAME
    assert pattern((0, 64, 10)) is Pattern.CONTIGUOUS


@pytest.mark.parametrize(("nprocs", "ranks"), [(1, None), (2, [(0, 0, 1)])])
def test_runs_name_their_rank_where_there_are_others(
    nprocs: int, ranks: list[tuple[int, int, int]] | None
) -> None:
    builder = builder_of(nprocs)
    ops = {r: [Op(WRITE, 500, 10), Op(WRITE, 0, 20)] if r == 0 else [] for r in range(nprocs)}
    add_file(builder, TrueFile("/run/x", "POSIX", ops), reduce=False, trace=True)
    found = streams(characterized(builder))
    assert [(s.ranks, s.base, s.pattern) for s in found] == [
        (ranks, 500, Pattern.CONTIGUOUS),
        (ranks, 0, Pattern.CONTIGUOUS),
    ]


def test_a_trace_that_covers_half_the_files_leaves_the_others_to_their_counters() -> None:
    """Two of four dumps are traced: all operations and bytes stay, and no order is excused by chance."""
    log = builder_of(1)
    for dump in range(4):
        offsets = range(0, 8 * MIB, MIB)
        ops = [
            Op(WRITE, at, MIB, 1 + 10 * dump + k / 10, 1.05 + 10 * dump + k / 10)
            for k, at in enumerate(offsets)
        ]
        file = TrueFile(f"/run/dump.{dump}", "POSIX", {0: ops}, opened=0.9 + 10 * dump, closed=2 + 10 * dump)
        add_file(log, file, trace=dump < 2)
    found = characterize([log_of(log)])
    (facts,) = found.families
    contents = [facts.family.content_of(dump) for dump in range(4)]
    assert [content.moved(1, Direction.WRITE) for content in contents] == [8 * MIB] * 4
    assert found.uses_traces
    assert families_with_traces(found) == {(facts.family.role, facts.family.number)}
    rows = model_against_log(pair_up(found, None))
    assert rows and all(row.is_equal for row in rows)


def viewed_job(below: tuple[int, ...] = (2104, 6200, 96)) -> LogBuilder:
    """Two collective calls through a file view, then an independent one of a header: the trace has 0 for the first two."""
    builder = builder_of(1)
    ops = [Op(WRITE, 0, 800, 1.0, 1.1, True), Op(WRITE, 0, 800, 2.0, 2.1, True), Op(WRITE, 96, 40, 3.0, 3.1)]
    add_file(builder, TrueFile("/run/out", "MPI-IO", {0: ops}, 0.5, 9.0, extra={"VIEWS": 4}), trace=True)
    posix = [Op(WRITE, at, op.size, op.start, op.end) for at, op in zip(below, ops, strict=True)]
    add_file(builder, TrueFile("/run/out", "POSIX", {0: posix}, 0.5, 9.0), trace=True)
    return builder


def test_calls_of_posix_say_where_calls_through_a_view_are() -> None:
    log = log_of(viewed_job())
    (file,) = facts_of([log]).files()
    trace = Traces(job_of([log])).of_file(file, Level.MPIIO, WRITE)
    assert trace is not None and trace.offsets_known and trace.viewed is not None
    assert trace.offsets.tolist() == [2104, 6200, 96]
    assert trace.viewed.tolist() == [True, True, False]
    (family,) = characterized(viewed_job(), tables=True).families
    content = family.family.content_of(0)
    rows = content.table
    assert rows is not None and (rows.writes, rows.collective) == (3, True)


def test_other_calls_of_posix_do_not_place_those_of_mpi_io() -> None:
    log = log_of(viewed_job())
    (file,) = facts_of([log]).files()
    above = Traces(job_of([log])).of_file(file, Level.MPIIO, WRITE)
    assert above is not None
    assert not placed_by(
        replace(above, offsets_known=False), trace_of((0, 0, 1600), (0, 96, 40))
    ).offsets_known
    assert not placed_by(
        replace(above, offsets_known=False), trace_of((0, 0, 800), (0, 800, 800), (0, 96, 40), (1, 0, 1))
    ).offsets_known


def test_counters_did_not_choose_what_a_trace_has() -> None:
    builder = builder_of(1)
    reads = [Op(READ, 1000 * k, 1000, 1.0 + k, 1.5 + k) for k in range(20)]
    add_file(builder, TrueFile("/run/in", "POSIX", {0: reads}, 0.5, 60.0), trace=True)
    log = log_of(builder)
    job = job_of([log])
    (facts,) = characterize([log], CharacterizeOptions(refine=False)).families
    traced = traced_family(facts, 1, Traces(job, True))
    assert traced is not None
    found = exact(replace(facts, fitted=True), traced, job, None)
    assert found is not None
    assert not found.fitted
