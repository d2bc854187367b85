"""Lock contention needs at least two ranks that write in one stripe at the same time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.planted_findings import MIB, T
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.at_once import _meets
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Diagnosis, Finding

RANKS, EACH = 4, 500
SIZE = 3 * MIB // 2
"""Bytes of a block: two of three stripes of 1 MiB are those of two blocks."""
FOUND, SILENT, OPEN = "found", "silent", "open"


def diagnosed(log: LogBuilder, folder: Path) -> Diagnosis:
    log.lustre("/d/x", stripe_size=MIB, osts=range(4))
    return diagnose([open_log(log.write(folder / "x.darshan"))])


def answer(found: Diagnosis) -> str:
    if contention(found):
        return FOUND
    return OPEN if "lock-contention" in {unknown.rule for unknown in found.cannot_tell} else SILENT


def contention(found: Diagnosis) -> Finding | None:
    return next((f for f in found.findings if "lock-contention" in (f.rule, *f.also)), None)


def counters(writes: int, seconds: float, start: float, end: float) -> dict[str, float]:
    return {"WRITES": writes, "BYTES_WRITTEN": writes * SIZE, "MAX_BYTE_WRITTEN": RANKS * EACH * SIZE - 1,
            "F_WRITE_TIME": seconds, "F_WRITE_START_TIMESTAMP": start, "F_WRITE_END_TIMESTAMP": end}  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "spread", "expected"),
    [
        (150.0, 0.0, FOUND),  # in 100 s
        (90.0, 0.0, OPEN),
        (90.0, RANKS - 1, SILENT),  # by the variance of their bytes, one rank has them all
    ],
)
def test_times_that_exceed_their_span_were_at_once(
    tmp_path: Path, seconds: float, spread: float, expected: str
) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    variance = {"F_VARIANCE_RANK_BYTES": spread * (EACH * SIZE) ** 2}
    log.posix("/d/x", OPENS=RANKS, **counters(RANKS * EACH, seconds, 100.0, 200.0), **variance)
    found = diagnosed(log, tmp_path)
    assert answer(found) == expected
    if expected == OPEN:
        assert any("takes a trace" in unknown.reason for unknown in found.cannot_tell)


@pytest.mark.parametrize(("apart", "expected"), [(50.0, FOUND), (100.0, SILENT)])
def test_ranks_that_write_in_turns_do_not_contend(tmp_path: Path, apart: float, expected: str) -> None:
    """Each rank writes for 90 s, and begins so many seconds after the one before."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        begin = 10.0 + apart * rank
        log.posix("/d/x", rank, OPENS=1, **counters(EACH, 90.0, begin, begin + 90.0))
    found = diagnosed(log, tmp_path)
    assert answer(found) == expected
    if expected == FOUND:
        finding = contention(found)
        assert finding is not None and finding.sure == "possible"


@pytest.mark.parametrize(("seconds", "expected"), [(100.0, OPEN), (130.0, FOUND)])
def test_spans_that_overlap_prove_nothing_without_the_time_for_it(
    tmp_path: Path, seconds: float, expected: str
) -> None:
    """A token goes round: each of four ranks writes for `seconds` of a span of 499 s; the spans' union has 499.75 s."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        log.posix("/d/x", rank, OPENS=1, **counters(EACH, seconds, 1 + 0.25 * rank, 500 + 0.25 * rank))
    assert answer(diagnosed(log, tmp_path)) == expected


def test_spans_with_a_gap_have_a_shorter_union(tmp_path: Path) -> None:
    """Two pairs of ranks, at other ends of the run: 90 s of each rank in two times 100 s."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        begin = 10.0 + 800.0 * (rank // 2)
        log.posix("/d/x", rank, OPENS=1, **counters(EACH, 90.0, begin, begin + 100.0))
    assert answer(diagnosed(log, tmp_path)) == FOUND


def test_bytes_that_a_rank_reads_make_it_no_writer(tmp_path: Path) -> None:
    """All ranks write alike, and rank 0 reads ten times the file."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    size = RANKS * EACH * SIZE
    mean = 11 * size / RANKS
    variance = ((10.25 * size - mean) ** 2 + 3 * (0.25 * size - mean) ** 2) / RANKS
    log.posix("/d/x", OPENS=RANKS, READS=4000, BYTES_READ=10 * size, F_VARIANCE_RANK_BYTES=variance,
              **counters(RANKS * EACH, 90.0, 100.0, 200.0))  # fmt: skip
    assert answer(diagnosed(log, tmp_path)) == OPEN


@pytest.mark.parametrize(("less", "expected"), [(400, OPEN), (10, SILENT)])
def test_two_writers_are_not_one_because_one_writes_more(tmp_path: Path, less: int, expected: str) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank, writes in enumerate((2000, less)):
        log.posix("/d/x", rank, OPENS=1, **counters(writes, 100.0, 0.0, 0.0))
    assert answer(diagnosed(log, tmp_path)) == expected


def test_one_writer_has_no_rival(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        wrote = counters(RANKS * EACH, 90.0, 10.0, 100.0) if rank == 1 else {"READS": 1, "BYTES_READ": 1}
        log.posix("/d/x", rank, OPENS=1, **wrote)
    assert answer(diagnosed(log, tmp_path)) == SILENT


def traced(starts_s: float, step: int) -> LogBuilder:
    """Four ranks write in turns through the file; the n-th write of a rank begins at n + rank x `starts_s` seconds."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        log.posix("/d/x", rank, OPENS=1, **counters(EACH, 100.0, 1.0, 600.0))
        writes = [
            (
                (number * RANKS + rank) * step,
                SIZE,
                1.0 + number + rank * starts_s,
                1.2 + number + rank * starts_s,
            )
            for number in range(EACH)
        ]
        log.dxt_posix("/d/x", rank, writes=writes, hostname=f"n{rank}")
    return log


@pytest.mark.parametrize(
    ("starts_s", "step", "expected"),
    [
        (0.01, SIZE, FOUND),
        (0.21, SIZE, SILENT),  # one after the other, though the spans of the ranks overlap
        (0.01, 8 * MIB, SILENT),  # at once, and each in stripes of its own
    ],
)
def test_a_trace_tells_who_wrote_in_a_stripe_and_when(
    tmp_path: Path, starts_s: float, step: int, expected: str
) -> None:
    found = diagnosed(traced(starts_s, step), tmp_path)
    assert answer(found) == expected
    if expected == FOUND:
        finding = contention(found)
        assert finding is not None and finding.sure == "likely"
        # Blocks of 1.5 MiB: the half stripe between an even block and the next one is that of both.
        assert finding.evidence["contended_writes"] == RANKS * EACH


def partly(
    contended: int, traced_writes: int = EACH, ranks: int = RANKS, *, second: float = 1.0
) -> LogBuilder:
    """Of each rank's writes, the first `contended` are at once with the others'; a trace has the first `traced_writes` of some ranks."""
    log = LogBuilder(nprocs=RANKS, run_time=T)
    for rank in range(RANKS):
        log.posix("/d/x", rank, OPENS=1, **counters(EACH, 400.0, 1.0, 600.0))
        writes = []
        for number in range(traced_writes if rank < ranks else 0):
            start = 1.0 + number + rank * (0.01 if number < contended else 0.21)
            taken = 0.2 * second if number < contended else 0.2
            writes.append(((number * RANKS + rank) * SIZE, SIZE, start, start + taken))
        if writes:
            log.dxt_posix("/d/x", rank, writes=writes, hostname=f"n{rank}")
    return log


def test_what_contended_by_the_trace_is_charged_by_its_time(tmp_path: Path) -> None:
    whole = contention(diagnosed(partly(EACH), tmp_path))
    part = contention(diagnosed(partly(EACH // 50), tmp_path))
    longer = contention(diagnosed(partly(EACH // 50, second=4.0), tmp_path))
    assert whole is not None and part is not None and longer is not None
    assert whole.cost.rank_seconds == pytest.approx(RANKS * 400.0)
    assert part.cost.rank_seconds == pytest.approx(RANKS * 400.0 / 50)
    assert longer.cost.rank_seconds == pytest.approx(RANKS * 400.0 * 4 / 53)


@pytest.mark.parametrize(("traced_writes", "ranks"), [(1, RANKS), (EACH // 2, RANKS), (EACH, 1)])
def test_a_trace_without_most_writes_leaves_the_proof_by_spans(
    tmp_path: Path, traced_writes: int, ranks: int
) -> None:
    """The ranks wrote for 400 s each, within 599 s; what was traced of it did not contend."""
    finding = contention(diagnosed(partly(0, traced_writes, ranks), tmp_path))
    assert finding is not None and finding.sure == "possible"
    assert finding.cost.rank_seconds == pytest.approx(RANKS * 400.0)


@pytest.mark.parametrize("bad", [float("inf"), float("nan"), 1e300, -1e300, 1e17])
def test_a_segment_that_cannot_be_true_is_left_out(tmp_path: Path, bad: float) -> None:
    log = partly(EACH)
    log.dxt_posix("/d/x", 3, writes=[(10**9, SIZE, bad, bad), (0, SIZE, 0.0, bad)], hostname="n3")
    finding = contention(diagnosed(log, tmp_path))
    assert finding is not None and finding.evidence["contended_writes"] == RANKS * EACH


@pytest.mark.parametrize("place", [(2**62, 2**62), (-(2**63), 1), (2**63 - 1, 2**63 - 1)])
def test_bytes_that_no_file_has_are_left_out(tmp_path: Path, place: tuple[int, int]) -> None:
    log = partly(EACH)
    log.dxt_posix("/d/x", 3, writes=[(*place, 1.0, 2.0)], hostname="n3")
    finding = contention(diagnosed(log, tmp_path))
    assert finding is not None and finding.evidence["contended_writes"] == RANKS * EACH


def test_close_times_of_many_places_stay_apart() -> None:
    """At each place the first span outlasts the second by 1 ns; the third begins in between."""
    count = 100_000
    place = np.repeat(np.arange(count), 3)
    start = np.tile([0.0, 1.0, 1000.0 + 5e-10], count)
    end = np.tile([1000.0 + 1e-9, 1000.0, 1001.0], count)
    rank = np.tile([0, 1, 2], count)
    assert _meets(np.zeros(3 * count, dtype=np.int64), place, rank, start, end).all()


def test_a_part_of_a_trace_is_no_source_of_what_the_spans_prove(tmp_path: Path) -> None:
    assert contention(diagnosed(partly(0).partial("DXT_POSIX"), tmp_path)).partial == []  # type: ignore[union-attr]


def brute(
    file: list[int], place: list[int], rank: list[int], start: list[float], end: list[float]
) -> list[bool]:
    rows = range(len(file))
    return [
        any(
            (file[a], place[a]) == (file[b], place[b])
            and rank[a] != rank[b]
            and start[a] < end[b]
            and start[b] < end[a]
            for b in rows
        )
        for a in rows
    ]


def test_meetings_are_those_of_all_pairs() -> None:
    """Random spans, those of one rank one after the other; a pair is found if there is one at its file and place."""
    noise = np.random.default_rng(3)
    for _ in range(300):
        count = 12
        rank = noise.integers(0, 3, count)
        file, place = noise.integers(0, 2, count), noise.integers(0, 2, count)
        start = np.arange(count) + noise.random(count)
        end = start + noise.random(count) * 4
        for writer in range(3):  # no rank writes twice at once
            own = np.flatnonzero(rank == writer)
            end[own[:-1]] = np.minimum(end[own[:-1]], start[own[1:]])
        found = _meets(file, place, rank, start, end)
        truth = np.array(brute(*(column.tolist() for column in (file, place, rank, start, end))), dtype=bool)
        assert not (found & ~truth).any()
        for key in {(f, p) for f, p in zip(file.tolist(), place.tolist(), strict=True)}:
            here = (file == key[0]) & (place == key[1])
            assert found[here].any() == truth[here].any()
