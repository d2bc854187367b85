"""When the dumps of a file are that is opened anew for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from workalike.characterize import characterize
from workalike.characterize.readings.dumps_of_one_file import shares
from workalike.characterize.result import FamilyFacts
from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.workload.amid import AmidWrites
from workalike.workload.model import Content, Direction, Entry, Lifetime, Pattern, Schedule, Stream

MIB, DUMPS, WRITES = 2**20, 4, 16


def found_in(
    folder: Path, first: float, first_close: float, last_open: float, end: float, bins: Sequence[int] = ()
) -> FamilyFacts:
    """A file of a MiB that is written four times, each time from its beginning; `bins` are a heatmap's, of a second."""
    log = LogBuilder(nprocs=1, run_time=40.0)
    calls = DUMPS * WRITES
    log.posix(
        "/run/state.dat", 0, OPENS=DUMPS, WRITES=calls, BYTES_WRITTEN=DUMPS * MIB, MAX_BYTE_WRITTEN=MIB - 1,
        CONSEC_WRITES=DUMPS * (WRITES - 1), SEQ_WRITES=DUMPS * (WRITES - 1), SIZE_WRITE_10K_100K=calls,
        ACCESS1_ACCESS=MIB // WRITES, ACCESS1_COUNT=calls, MODE=0o644, F_WRITE_TIME=0.4,
        F_OPEN_START_TIMESTAMP=first, F_OPEN_END_TIMESTAMP=last_open, F_WRITE_START_TIMESTAMP=first,
        F_WRITE_END_TIMESTAMP=end, F_CLOSE_START_TIMESTAMP=first_close, F_CLOSE_END_TIMESTAMP=end,
    )  # fmt: skip
    if bins:
        log.heatmap("POSIX", 0, 1.0, bins)
    (found,) = characterize([open_log(log.write(folder / "x.darshan"))]).families
    return found


def schedule_of(folder: Path, first_close: float, last_open: float, end: float) -> Schedule:
    """Of such a file, from 1 s on."""
    found = found_in(folder, 1.0, first_close, last_open, end)
    assert found.family.lifetime in (Lifetime.REUSED, Lifetime.OVERWRITTEN)
    schedule = found.family.schedule
    assert schedule.dumps == DUMPS
    return schedule


def with_heatmap(folder: Path, seconds: Sequence[int]) -> FamilyFacts:
    """Of such a file, opened first at 1.3 s and closed last at 31.8 s, written in these seconds."""
    bins = [MIB if second in seconds else 0 for second in range(40)]
    return found_in(folder, 1.3, 1.5, 31.65, 31.8, bins)


def test_times_of_dumps_are_no_edges_of_bins(tmp_path: Path) -> None:
    """A heatmap has each dump within a second; where the file was opened and closed says more."""
    found = with_heatmap(tmp_path, (1, 11, 21, 31))
    starts = [dump.start_s for dump in found.dumps]
    assert starts == pytest.approx(found.family.schedule.starts(), abs=0.1)
    assert starts == pytest.approx([1.3, 11.5, 21.5, 31.7], abs=0.15)


def test_dumps_at_uneven_times_stay_in_their_bins(tmp_path: Path) -> None:
    """The second and third come later than at even distances: the workload has them there, too."""
    found = with_heatmap(tmp_path, (1, 14, 25, 31))
    starts = [dump.start_s for dump in found.dumps]
    assert starts == pytest.approx(found.family.schedule.starts())
    assert starts == pytest.approx([1.3, 14, 25, 31.6], abs=0.1)


def durations(schedule: Schedule) -> list[float]:
    return [end - start for start, end in zip(schedule.starts(), schedule.ends(), strict=True)]


def test_dumps_that_last_alike_are_even(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, 2.0, 31.0, 32.0)
    assert schedule.starts() == pytest.approx([1, 11, 21, 31])
    assert durations(schedule) == pytest.approx([1, 1, 1, 1])


def test_a_first_dump_that_took_long(tmp_path: Path) -> None:
    """It lasts 4 s, and the last one 1 s: the pauses between are equal, 9 s each."""
    schedule = schedule_of(tmp_path, 5.0, 34.0, 35.0)
    assert schedule.starts() == pytest.approx([1, 14, 24, 34])
    assert durations(schedule) == pytest.approx([4, 1, 1, 1])


def test_a_last_dump_that_took_long(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, 2.0, 31.0, 36.0)
    assert schedule.starts() == pytest.approx([1, 11, 21, 31])
    assert durations(schedule) == pytest.approx([1, 1, 1, 5])


def test_dumps_without_a_pause(tmp_path: Path) -> None:
    schedule = schedule_of(tmp_path, 11.0, 17.0, 27.0)
    assert schedule.starts() == pytest.approx([1, 11, 14, 17])
    assert durations(schedule) == pytest.approx([10, 3, 3, 10])


def test_one_write_of_a_file_has_no_order(tmp_path: Path) -> None:
    """Each write lands at the beginning, so none follows another: that is not a random order."""
    log = LogBuilder(nprocs=2, run_time=40.0)
    for rank in range(2):
        log.posix(
            f"/run/part.{rank}", rank, OPENS=DUMPS, WRITES=DUMPS, BYTES_WRITTEN=DUMPS * MIB, SEEKS=DUMPS,
            MAX_BYTE_WRITTEN=MIB - 1, SIZE_WRITE_100K_1M=DUMPS, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=DUMPS, MODE=0o644,
            F_WRITE_TIME=0.4, F_OPEN_START_TIMESTAMP=1.0, F_OPEN_END_TIMESTAMP=31.0, F_WRITE_START_TIMESTAMP=1.0,
            F_WRITE_END_TIMESTAMP=32.0, F_CLOSE_START_TIMESTAMP=2.0, F_CLOSE_END_TIMESTAMP=32.0,
        )  # fmt: skip
    (found,) = characterize([open_log(log.write(tmp_path / "x.darshan"))]).families
    assert found.family.schedule.dumps == DUMPS
    (stream,) = found.family.content_of(0).streams
    assert stream.pattern is Pattern.CONTIGUOUS


def test_a_part_without_writes_has_no_calls_amid_them() -> None:
    """Three opens of a file with two synced writes: the third has none to sync."""
    stream = Stream(direction=Direction.WRITE, sizes=[Entry(count=2, size=100)])
    content = Content(opens=3, streams=[stream], sync=AmidWrites(writes=1))
    parts = shares([content], 3, 1, even=False)
    assert parts is not None
    assert sorted(part.moved(1, Direction.WRITE) for part in parts) == [0, 100, 100]
    assert all((part.sync == content.sync) == bool(part.streams) for part in parts)
