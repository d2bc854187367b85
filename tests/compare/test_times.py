"""Times of both sides, from logs with planted timers and windows: what was planted is what is found."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from compare_builders import MIB, original, record, record_dump

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.fidelity import compare
from workalike.compare.fidelity_schema import Fidelity
from workalike.compare.pairing import pair_up
from workalike.darshan import LogBuilder, open_log
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import KindTimes, LevelBytes, RecordScale
from workalike.workload.model import Level, Role

WRITES = {"OPENS": 1, "WRITES": 4, "BYTES_WRITTEN": 4 * MIB, "MAX_BYTE_WRITTEN": 4 * MIB - 1}
SIZES = {"SIZE_WRITE_100K_1M": 4, "ACCESS1_ACCESS": MIB, "ACCESS1_COUNT": 4}
OURS = "/data/{}.0badcafe.dat"


def window(start: float, end: float) -> dict[str, float]:
    """Timestamps of a file that is written from its open to its close."""
    return {
        "F_OPEN_START_TIMESTAMP": start,
        "F_OPEN_END_TIMESTAMP": start,
        "F_WRITE_START_TIMESTAMP": start,
        "F_WRITE_END_TIMESTAMP": end,
        "F_CLOSE_START_TIMESTAMP": end,
        "F_CLOSE_END_TIMESTAMP": end,
    }


def timers(write: float, meta: float = 0.0, read: float = 0.0) -> dict[str, float]:
    return {"F_WRITE_TIME": write, "F_META_TIME": meta, "F_READ_TIME": read}


def found_in(builder: LogBuilder, folder: Path, name: str = "app") -> Characterization:
    return characterize([open_log(builder.write(folder / f"{name}.darshan"))])


def per_rank(ranks: int = 2, run_time: float = 40.0, **more: float) -> LogBuilder:
    """A file for each rank, written from second 10 to 12; its calls take 0.5 s, and 0.25 s more on each further rank."""
    builder = LogBuilder(nprocs=ranks, run_time=run_time)
    for rank in range(ranks):
        values = {**WRITES, **SIZES, **window(10.0, 12.0), **timers(0.4 + 0.25 * rank, 0.1), **more}
        builder.posix(f"/scratch/chk.{rank:04d}", rank=rank, **values)
    return builder


def shared(ranks: int, write: float, meta: float, **mpi: float) -> LogBuilder:
    """One file that all ranks write by MPI-IO; `mpi` has values of its MPI-IO record."""
    builder = LogBuilder(nprocs=ranks, run_time=40.0)
    moved = {"BYTES_WRITTEN": ranks * MIB, **window(10.0, 12.0)}
    calls = {"COLL_OPENS": ranks, "COLL_WRITES": ranks, "SIZE_WRITE_AGG_100K_1M": ranks}
    builder.mpiio("/scratch/out", rank=-1, **{**moved, **calls, **timers(write, meta), **mpi})
    return builder


def below(builder: LogBuilder, ranks: int, write: float, meta: float) -> LogBuilder:
    """POSIX calls of one rank below MPI-IO."""
    counts = {
        "OPENS": ranks,
        "WRITES": ranks,
        "BYTES_WRITTEN": ranks * MIB,
        "MAX_BYTE_WRITTEN": ranks * MIB - 1,
    }
    builder.posix("/scratch/out", rank=-1, **{**counts, **window(10.0, 12.0), **timers(write, meta)})
    return builder


def test_records_of_ranks_are_added(tmp_path: Path) -> None:
    """0.5 s of rank 0 and 0.75 s of rank 1, in files that were open for 2 s each."""
    log = found_in(per_rank(), tmp_path)
    found = compare(log, log)
    assert found.families[0].io_time_original_s == pytest.approx(1.25)
    assert found.families[0].io_time_mean_original_s == pytest.approx(0.625)
    assert found.times.io_time_original_s == pytest.approx(1.25)


def test_a_reduced_record_is_a_sum_already(tmp_path: Path) -> None:
    log = found_in(below(shared(4, 3.0, 1.0), 4, 0.5, 0.25), tmp_path)
    found = compare(log, log).families[0]
    assert found.level is Level.MPIIO
    assert found.io_time_original_s == pytest.approx(4.0)  # of MPI-IO, the level, not of POSIX below
    assert found.io_time_mean_original_s == pytest.approx(1.0)


def test_both_sides_have_timers_of_their_own(tmp_path: Path) -> None:
    before = found_in(below(shared(4, 3.0, 1.0), 4, 0.5, 0.25), tmp_path, "before")
    after = found_in(below(shared(4, 5.5, 0.5), 4, 0.75, 0.25), tmp_path, "after")
    found = compare(before, after)
    assert (found.families[0].io_time_original_s, found.families[0].io_time_replica_s) == (4.0, 6.0)
    assert found.times.io_time_ratio == pytest.approx(1.5)
    assert (found.times.waiting_original_s, found.times.waiting_replica_s) == (3.25, 5.0)


def test_calls_of_the_file_belong_to_the_level_of_datasets(tmp_path: Path) -> None:
    """H5D times datasets, H5F the file's open and close; both are calls at the level."""
    builder = LogBuilder(nprocs=1, run_time=40.0)
    name = "/scratch/state.h5"
    builder.h5f(name, rank=0, OPENS=1, F_META_TIME=0.5, **window_of_file(10.0, 12.0))
    sizes = {
        "SIZE_WRITE_AGG_100K_1M": 4,
        "DATASPACE_NDIMS": 1,
        "DATASPACE_NPOINTS": 4 * MIB,
        "DATATYPE_SIZE": 1,
    }
    moved = {"OPENS": 1, "WRITES": 4, "BYTES_WRITTEN": 4 * MIB, "REGULAR_HYPERSLAB_SELECTS": 4}
    builder.h5d(f"{name}:/x", rank=0, file=name, **moved, **sizes, **timers(1.0, 0.25), **window(10.0, 12.0))
    builder.posix(name, rank=0, **WRITES, **SIZES, **timers(0.125, 0.0), **window(10.0, 12.0))
    log = found_in(builder, tmp_path)
    found = compare(log, log).families[0]
    assert found.level is Level.H5D
    assert found.io_time_original_s == pytest.approx(1.75)


def window_of_file(start: float, end: float) -> dict[str, float]:
    return {name: stamp for name, stamp in window(start, end).items() if "WRITE" not in name}


def test_a_timer_that_one_side_lacks_is_left_out_on_both(tmp_path: Path) -> None:
    before = found_in(per_rank(F_META_TIME=-1.0), tmp_path)
    found = compare(before, found_in(per_rank(), tmp_path, "after")).families[0]
    assert found.io_time_original_s == pytest.approx(0.4 + 0.65)
    assert found.io_time_replica_s == pytest.approx(0.4 + 0.65)
    assert found.unknown["io_time META"].startswith("only one side")


def test_the_engine_s_record_times_its_calls_by_kind() -> None:
    """An fsync is a write in Darshan's timers; a family that writes has no reads."""
    kinds = {
        "open": KindTimes(count=4, total_s=0.25),
        "write": KindTimes(count=32, total_s=1.0),
        "fsync": KindTimes(count=4, total_s=0.5),
        "read": KindTimes(count=1, total_s=8.0),
        "close": KindTimes(count=4, total_s=0.125),
    }
    found = compare(original(dumps=1), record(record_dump(0, kinds=kinds))).families[0]
    assert (found.io_time_original_s, found.io_time_replica_s) == (2.0, 1.875)


def test_a_record_of_another_level_has_other_timers() -> None:
    levels = {Level.H5D: LevelBytes(bytes_written=32 * MIB), Level.POSIX: LevelBytes(bytes_written=32 * MIB)}
    found = compare(original(dumps=1), record(record_dump(0, levels=levels))).families[0]
    assert (found.io_time_original_s, found.io_time_replica_s) == (2.0, None)
    assert "another level" in found.unknown["io_time_replica_s"]


def test_waiting_needs_the_calls_below(tmp_path: Path) -> None:
    log = found_in(shared(4, 3.0, 1.0), tmp_path)
    found = compare(log, log)
    assert (found.times.waiting_original_s, found.families[0].waiting_original_s) == (None, None)
    assert "no POSIX calls below" in found.families[0].unknown["waiting_original_s"]
    assert "no POSIX calls below" in found.times.unknown["waiting_original_s"]
    alone = compare(found_in(per_rank(), tmp_path), record(record_dump(0))).families[0]
    assert (alone.waiting_original_s, alone.waiting_replica_s) == (0.0, None)
    assert "--capture" in alone.unknown["waiting_replica_s"]


def spans(*windows: tuple[float, float], run_time: float = 40.0) -> LogBuilder:
    """A family of one rank with a file for each window."""
    builder = LogBuilder(nprocs=1, run_time=run_time)
    for i, (start, end) in enumerate(windows):
        builder.posix(f"/scratch/out.{i:03d}", rank=0, **WRITES, **SIZES, **window(start, end), **timers(0.1))
    return builder


def replica_of(log: Characterization, *windows: tuple[float, float], **more: object) -> Fidelity:
    """The fidelity of a record with these dumps of the log's one family."""
    family = log.families[0].family
    dumps = [
        record_dump(
            i,
            role=family.role,
            number=family.number,
            written=log.families[0].dumps[i].bytes_written,
            due_s=start,
            start_s=start,
            end_s=end,
        )
        for i, (start, end) in enumerate(windows)
    ]
    return compare(
        log, record(*dumps, plan_ranks=1, processes=1, **more), plan=resolve(log.workload, Options())
    )


def test_dumps_in_progress(tmp_path: Path) -> None:
    """Original: 10 to 20 with nothing from 13 to 16, else one. Replica: both at once for half of 10 s."""
    log = found_in(spans((10.0, 13.0), (16.0, 20.0)), tmp_path)
    found = replica_of(log, (10.0, 20.0), (15.0, 20.0)).times.overlap
    assert found.original == pytest.approx([0.3, 0.7])
    assert found.replica == pytest.approx([0.0, 0.5, 0.5])
    assert found.distance == pytest.approx(0.5)


def test_wall_clock(tmp_path: Path) -> None:
    log = found_in(spans((10.0, 13.0), (16.0, 20.0)), tmp_path)
    times = replica_of(log, (11.0, 14.0), (18.0, 26.0), wall_s=50.0).times
    assert (times.calls_original_s, times.calls_replica_s) == (10.0, 15.0)
    assert times.calls_ratio == pytest.approx(1.5)
    assert (times.run_original_s, times.run_replica_s, times.run_ratio) == (40.0, 50.0, 1.25)
    assert times.start_time_error_mean_s == pytest.approx(1.5)
    assert times.start_time_error_max_s == pytest.approx(2.0)


def test_lateness(tmp_path: Path) -> None:
    dumps = [record_dump(i, late_s=late) for i, late in enumerate((0.0, 0.5, 2.5))]
    found = compare(original(), record(*dumps))
    assert (found.times.late_mean_s, found.times.late_max_s) == (1.0, 2.5)
    assert found.families[0].late_max_s == 2.5
    idle = compare(original(), record(*dumps, time_scale=0.0)).times  # nothing is due without waiting
    assert (idle.late_mean_s, idle.late_max_s) == (None, None)


@pytest.mark.parametrize(
    ("scale", "time", "compared"),
    [
        (RecordScale(time=1.0), 1.0, {"io_time", "calls", "run", "overlap"}),
        (RecordScale(time=0.5), 0.5, {"io_time"}),
        (RecordScale(time=0.0), 0.0, {"io_time"}),
        (RecordScale(bytes=0.5, time=1.0), 1.0, set()),
        (RecordScale(ranks=0.5, time=1.0), 1.0, set()),
    ],
)
def test_what_is_compared_at_another_scale(scale: RecordScale, time: float, compared: set[str]) -> None:
    made = record(*(record_dump(i) for i in range(3)), scale=scale, time_scale=time, wall_s=60.0)
    made.plan_ranks = round(4 * scale.ranks)
    options = Options(ranks=made.plan_ranks, bytes_scale=Fraction(scale.bytes))
    times = compare(original(), made, plan=resolve(original().workload, options)).times
    ratios = {"io_time": times.io_time_ratio, "calls": times.calls_ratio, "run": times.run_ratio}
    ratios["overlap"] = times.overlap.distance
    assert {name for name, ratio in ratios.items() if ratio is not None} == compared
    for name in ratios.keys() - compared:
        reason = times.unknown["overlap" if name == "overlap" else f"{name}_ratio"]
        assert reason.startswith("not compared ")
    assert times.io_time_replica_s == 3.0, "what was measured is given at any scale"
    assert (times.io_time_mean_original_s, times.io_time_mean_replica_s) == (1.5, 3.0 / made.plan_ranks)
    assert times.calls_replica_s is not None


def test_a_count_has_no_times() -> None:
    times = compare(original(), record(*(record_dump(i, kinds={}) for i in range(3)), backend="null")).times
    assert (times.io_time_replica_s, times.calls_replica_s, times.run_replica_s) == (None, None, None)
    assert (times.overlap.replica, times.overlap.distance) == ([], None)
    assert times.unknown["io_time_replica_s"].startswith("the run performed nothing")


def test_times_of_a_captured_replica_are_on_the_record_s_clock(tmp_path: Path) -> None:
    """The log's clock starts 0.7 s before the run does."""
    log = found_in(spans((10.0, 13.0), (16.0, 20.0)), tmp_path)
    key = f"{log.families[0].family.role.value}-{log.families[0].family.number}"
    captured = LogBuilder(nprocs=1, run_time=42.0)
    for i, (start, end) in enumerate(((10.7, 13.7), (16.9, 20.9))):
        name = OURS.format(f"{key}.{i:04d}")
        captured.posix(name, rank=0, **WRITES, **SIZES, **window(start, end), **timers(0.3))
    witness = found_in(captured, tmp_path, "replica")
    family = log.families[0].family
    dumps = [
        record_dump(i, role=family.role, number=family.number, written=4 * MIB, start_s=s, end_s=e)
        for i, (s, e) in enumerate(((10.0, 13.0), (16.2, 20.2)))
    ]
    made = record(*dumps, plan_ranks=1, processes=1, wall_s=41.0)
    pairing = pair_up(log, made, plan=resolve(log.workload, Options()), witness=witness)
    assert pairing.replica.moved_s == pytest.approx(0.7)
    assert [d.start_s for d in pairing.pairs[0].replica.dumps] == pytest.approx([10.0, 16.2])
    found = compare(log, made, plan=resolve(log.workload, Options()), witness=witness)
    assert found.times.start_time_error_max_s == pytest.approx(0.2)
    assert found.times.run_replica_s == 41.0
    assert found.families[0].io_time_replica_s == pytest.approx(0.6)  # the log's timers, not the record's


def doubts(builder: LogBuilder, folder: Path) -> list[str]:
    log = found_in(builder, folder)
    found = compare(log, log)
    assert found.model_dump_json()  # no number that JSON lacks
    return [note for note in found.notes if note.startswith("times of the original")]


def test_clocks_of_ranks_that_differ_are_stated(tmp_path: Path) -> None:
    """Ranks 0 and 1 are in a collective open together; by their clocks rank 1 begins 3 s after rank 0 has ended."""
    builder = LogBuilder(nprocs=3, run_time=40.0)
    for rank, shift in ((0, 0.0), (1, 3.25)):
        opened = {"F_OPEN_START_TIMESTAMP": 10.0 + shift, "F_OPEN_END_TIMESTAMP": 10.25 + shift}
        moved = {"COLL_OPENS": 1, "COLL_WRITES": 1, "BYTES_WRITTEN": MIB, "SIZE_WRITE_AGG_100K_1M": 1}
        values = {**window(10.0 + shift, 12.0 + shift), **opened, **moved, **timers(0.5)}
        builder.mpiio("/scratch/out", rank=rank, **values)
    (said,) = doubts(builder, tmp_path)
    assert "collectively at times at least 3 s apart: their clocks differ" in said


def test_clocks_that_agree_are_not(tmp_path: Path) -> None:
    assert doubts(per_rank(), tmp_path) == []
    assert doubts(below(shared(4, 3.0, 1.0), 4, 0.5, 0.25), tmp_path) == []


def test_stamps_after_the_run_are_stated(tmp_path: Path) -> None:
    (said,) = doubts(spans((10.0, 13.0), (47.0, 52.0)), tmp_path)
    assert "up to 12 s after the end of the run" in said


def test_windows_that_end_before_they_begin_are_empty(tmp_path: Path) -> None:
    backward = spans((10.0, 13.0), (16.0, 20.0))
    backward.posix("/scratch/out.002", rank=0, **WRITES, **SIZES, **window(30.0, 28.0), **timers(0.1))
    said = doubts(backward, tmp_path)
    assert any("1 record end" in line and "window is taken as empty" in line for line in said), said
    log = found_in(backward, tmp_path)
    assert sum(compare(log, log).times.overlap.original) == pytest.approx(1)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 1e12])
def test_timers_that_cannot_be_true_count_as_nothing(tmp_path: Path, wrong: float) -> None:
    log = found_in(per_rank(F_WRITE_TIME=wrong), tmp_path)
    found = compare(log, log)
    assert found.times.io_time_original_s == pytest.approx(0.2)  # what META has
    assert any("2 timers impossible" in note for note in found.notes)


def test_timers_longer_than_their_windows_are_stated(tmp_path: Path) -> None:
    """1.5 s of fsync after the last write: calls without timestamps."""
    builder = LogBuilder(nprocs=1, run_time=40.0)
    builder.posix("/scratch/out", rank=0, **WRITES, **SIZES, **window(10.0, 10.5), **timers(2.0))
    (said,) = doubts(builder, tmp_path)
    assert "75 % of the I/O time is outside the windows" in said


def test_a_run_of_no_length(tmp_path: Path) -> None:
    log = found_in(per_rank(run_time=0.0), tmp_path)
    found = compare(log, log)
    assert found.times.io_time_original_s == pytest.approx(1.25)
    assert found.times.calls_original_s == pytest.approx(2.0)
    still = LogBuilder(nprocs=1, run_time=0.0).posix("/scratch/out", rank=0, **WRITES, **SIZES)
    log = found_in(still, tmp_path)
    found = compare(log, log)
    assert (found.times.calls_ratio, found.times.run_ratio, found.times.overlap.distance) == (
        None,
        None,
        None,
    )
    assert any("run time" in note for note in found.notes)
    assert found.model_dump_json()


def test_a_family_that_the_replica_lacks_is_left_out_of_the_sum(tmp_path: Path) -> None:
    builder = per_rank()
    for i in range(3):
        values = {"OPENS": 1, "READS": 64, "BYTES_READ": 64 * MIB, "MAX_BYTE_READ": 64 * MIB - 1}
        stamps = {"F_READ_START_TIMESTAMP": 1.0 + i, "F_READ_END_TIMESTAMP": 2.0 + i, "F_READ_TIME": 0.5}
        builder.posix(f"/scratch/in.{i}.nc", rank=0, SIZE_READ_100K_1M=64, **values, **stamps)
    log = found_in(builder, tmp_path)
    written = next(f.family for f in log.families if f.family.role is not Role.INPUT)
    made = record(record_dump(0, role=written.role, number=written.number), plan_ranks=2)
    times = compare(log, made, plan=resolve(log.workload, Options())).times
    assert times.io_time_original_s == pytest.approx(1.25)
    assert "left out" in times.unknown["io_time_original_s"]
