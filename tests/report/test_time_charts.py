"""Ranks over time and dumps in progress: what is drawn is what the records of a log say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.fidelity_schema import OverlapFidelity
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.report import lanes, time_charts
from workalike.report.lanes import Bars, Lanes, lanes_of, parts_of
from workalike.workload.model import Role

MIB = 2**20


def found_in(builder: LogBuilder, folder: Path) -> Characterization:
    return characterize([open_log(builder.write(folder / "app.darshan"))])


def written(builder: LogBuilder, name: str, rank: int, start: float, end: float, inside: float) -> None:
    """A file that is open from `start` to `end` and written in the second half of that, `inside` seconds in calls."""
    builder.posix(
        name,
        rank=rank,
        OPENS=1,
        WRITES=4,
        BYTES_WRITTEN=4 * MIB,
        MAX_BYTE_WRITTEN=4 * MIB - 1,
        SIZE_WRITE_100K_1M=4,
        ACCESS1_ACCESS=MIB,
        ACCESS1_COUNT=4,
        F_OPEN_START_TIMESTAMP=start,
        F_WRITE_START_TIMESTAMP=(start + end) / 2,
        F_WRITE_END_TIMESTAMP=end,
        F_CLOSE_END_TIMESTAMP=end,
        F_WRITE_TIME=inside,
    )


def two_ranks() -> LogBuilder:
    builder = LogBuilder(nprocs=2, run_time=100.0)
    written(builder, "/scratch/chk.0000", 0, 10.0, 20.0, 1.25)
    written(builder, "/scratch/chk.0001", 1, 30.0, 34.0, 2.0)
    return builder


def only(bars: dict[tuple[Role, int], Bars]) -> Bars:
    (found,) = bars.values()
    return found


def test_windows_of_ranks(tmp_path: Path) -> None:
    found = lanes_of(found_in(two_ranks(), tmp_path))
    assert found is not None
    assert (found.ranks, found.total, found.end_s) == ([0, 1], 2, 34.0)
    opened, moving = only(found.open), only(found.moving)
    assert list(zip(opened.row, opened.start, opened.end, strict=True)) == [(0, 10.0, 20.0), (1, 30.0, 34.0)]
    assert list(zip(moving.row, moving.start, moving.end, strict=True)) == [(0, 15.0, 20.0), (1, 32.0, 34.0)]
    assert moving.inside.tolist() == [0.25, 1.0]  # of the time from first to last write


def test_times_of_a_replica_are_moved_and_scaled(tmp_path: Path) -> None:
    found = lanes_of(found_in(two_ranks(), tmp_path), moved_s=2.0, time_scale=0.5)
    assert found is not None
    assert only(found.open).start.tolist() == [16.0, 56.0]


def test_a_log_without_ranks_has_no_lanes(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=4, run_time=100.0)
    written(builder, "/scratch/shared", -1, 10.0, 20.0, 1.0)
    log = found_in(builder, tmp_path)
    assert lanes_of(log) is None
    assert lanes_of(None) is None
    assert time_charts.ranks_over_time(pair_up(log, None)) is None


def test_a_reduced_record_is_a_window_of_every_rank(tmp_path: Path) -> None:
    builder = two_ranks()
    written(builder, "/scratch/other.h5", -1, 50.0, 54.0, 2.0)
    found = lanes_of(found_in(builder, tmp_path))
    assert found is not None
    shared = next(bars for bars in found.moving.values() if 52.0 in bars.start)
    assert shared.row.tolist() == [0, 1]
    assert shared.inside.tolist() == [0.5, 0.5]  # 2 s of both ranks together, in 2 s


def test_the_only_rank_s_records_are_its_own(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=1, run_time=100.0)
    written(builder, "/scratch/out", -1, 10.0, 20.0, 1.0)
    found = lanes_of(found_in(builder, tmp_path))
    assert found is not None
    assert found.ranks == [0]


def test_backward_and_impossible_windows_are_not_drawn(tmp_path: Path) -> None:
    builder = two_ranks()
    written(builder, "/scratch/chk.0002", 1, 60.0, 55.0, 1.0)
    written(builder, "/scratch/chk.0003", 1, 60.0, 1e12, 1.0)
    found = lanes_of(found_in(builder, tmp_path))
    assert found is not None
    assert found.end_s == 34.0


def bars(*rows: tuple[int, float, float, float]) -> Bars:
    row, start, end, inside = zip(*rows, strict=True)
    return Bars(np.array(row), np.array(start), np.array(end), np.array(inside))


def test_bars_next_to_each_other_are_one() -> None:
    close = lanes._close_ones(
        bars((1, 0.0, 1.0, 0.5), (0, 5.0, 6.0, 1.0), (0, 0.0, 2.0, 1.0), (0, 1.0, 4.0, 1.0)), 0.5
    )
    assert list(zip(close.row, close.start, close.end, close.inside, strict=True)) == [
        (0, 0.0, 4.0, 0.5),
        (0, 5.0, 6.0, 1.0),
        (1, 0.0, 1.0, 0.5),
    ]


def test_families_share_a_part_of_a_lane_unless_they_overlap() -> None:
    first, second, third = (Role.CHECKPOINT, 1), (Role.INPUT, 1), (Role.LOG, 1)
    opened = {
        first: bars((0, 0.0, 5.0, 0.0)),
        second: bars((0, 4.0, 6.0, 0.0)),
        third: bars((0, 7.0, 8.0, 0.0), (1, 0.0, 9.0, 0.0)),
    }
    side = Lanes([0, 1], 2, opened, {}, 9.0)
    assert parts_of([side], [first, second, third]) == {first: 0, second: 1, third: 0}
    elsewhere = Lanes([0, 1], 2, {third: bars((0, 1.0, 2.0, 0.0)), first: opened[first]}, {}, 9.0)
    assert parts_of([side, elsewhere], [first, second, third])[third] == 1


def test_families_that_are_not_named_are_one() -> None:
    first, second, third, others = (Role.CHECKPOINT, 1), (Role.INPUT, 1), (Role.LOG, 1), (Role.OTHER, 0)
    nothing = lanes._of_rows(bars((0, 0.0, 5.0, 0.0)), np.array([], dtype=np.int64))
    opened = {
        first: bars((0, 0.0, 5.0, 0.0)),
        second: bars((1, 4.0, 6.0, 0.0)),
        third: bars((0, 7.0, 8.0, 0.0)),
    }
    found = Lanes([0, 1], 2, opened, {second: nothing}, 8.0).with_others({first}, others)
    assert list(found.open) == [first, others]
    assert (found.open[others].row.tolist(), found.open[others].start.tolist()) == ([0, 1], [7.0, 4.0])
    assert found.moving == {}


def test_marks_are_few_however_many_ranks_and_files_there_are(tmp_path: Path) -> None:
    builder = LogBuilder(nprocs=400, run_time=1000.0)
    for rank in range(400):
        for i in range(10):
            start = 100.0 * i + 0.1 * rank
            written(builder, f"/scratch/chk.{rank:04d}.{i}", rank, start + 1.0, start + 1.5, 0.1)
    log = found_in(builder, tmp_path)
    found = lanes_of(log)
    assert found is not None
    assert (len(found.ranks), found.ranks[0], found.ranks[-1]) == (lanes.MOST_RANKS, 0, 399)
    assert sum(len(b) for b in found.open.values()) <= lanes.MOST_BARS
    svg = time_charts.ranks_over_time(pair_up(log, None))
    assert svg is not None
    assert len(svg) < 200_000
    assert svg.count("<path") < 100


def test_original_above_replica_on_one_axis(tmp_path: Path) -> None:
    log = found_in(two_ranks(), tmp_path)
    pairing = pair_up(log, log)
    svg = time_charts.ranks_over_time(pairing)
    assert svg is not None
    shown = re.findall(r">([^<>]*last call after[^<>]*)<", svg)
    assert shown == ["original, 2 ranks, last call after 34 s", "replica, 2 ranks, last call after 34 s"]
    assert svg.index(shown[0]) < svg.index(shown[1])
    assert svg.count("time since the start of the run (s)") == 1


@pytest.mark.parametrize(
    ("original", "replica", "legend"),
    [
        ([0.0, 1.0], [0.5, 0.25, 0.25], ["0", "1", "2"]),
        ([0.0] * 20 + [1.0], [1.0], [*map(str, range(8)), "8 and more"]),
    ],
)
def test_dumps_in_progress(original: list[float], replica: list[float], legend: list[str]) -> None:
    svg = time_charts.in_progress(OverlapFidelity(original=original, replica=replica, distance=0.5))
    assert svg is not None
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert [word for word in shown if word in legend][-len(legend) :] == legend
    assert "100 %" in shown


def test_without_shares_of_both_there_is_no_figure() -> None:
    assert time_charts.in_progress(OverlapFidelity(original=[0.0, 1.0])) is None


def test_idle_times_of_processes_are_drawn(tmp_path: Path) -> None:
    """The second process begins after 30 s and ends after 70 s of a job of 100 s."""
    logs = []
    for number, (start, run) in enumerate([(0.0, 100.0), (30.0, 40.0)]):
        builder = LogBuilder(nprocs=1, run_time=run, start_time=1_700_000_000.0 + start)
        written(builder, f"/scratch/part.{number}", 0, 10.0, 20.0, 1.25)
        logs.append(open_log(builder.write(tmp_path / f"{number}.darshan")))
    log = characterize(logs)
    pairing = pair_up(log, None)
    side = lanes_of(log)
    assert side is not None
    idle = side.with_lives(time_charts._processes(pairing, 2)).idle
    found = list(zip(idle.row.tolist(), idle.start.tolist(), idle.end.tolist(), strict=True))
    assert found == [(1, 0.0, 30.0), (1, 70.0, np.inf)]
    picture = time_charts.ranks_over_time(pairing)
    assert picture is not None
    assert "no process: idle" in picture
    assert "no process" not in time_charts.ranks_over_time(pair_up(found_in(two_ranks(), tmp_path), None))
