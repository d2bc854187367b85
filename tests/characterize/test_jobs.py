"""The job as a whole: several logs of one job, impossible jobs, records of one file merged."""

from __future__ import annotations

import numpy as np
import pytest
from plan_totals import totals_of
from simulated_job import WRITE, Op, TrueFile, add_file, builder_of, log_of, simple_file

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import Log, LogBuilder
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.gather import facts_of
from workalike.facts.plausible import latest_stamp, plausible, plausible_stamps
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Reason, Role, SharingMode

MIB = 2**20
ALL = CharacterizeOptions(include_program_start=True)
BEGIN = 1_700_000_000.0


def log_at(start: float, *files: TrueFile, nprocs: int = 1, run_time: float = 50.0) -> Log:
    builder = LogBuilder(nprocs=nprocs, run_time=run_time, start_time=BEGIN + start)
    for file in files:
        add_file(builder, file)
    return log_of(builder)


def test_processes_are_ranks_in_order_of_their_start() -> None:
    logs = [
        log_at(30.0, simple_file("/run/out.c", "POSIX", [0], at=1.0)),
        log_at(0.0, simple_file("/run/out.a", "POSIX", [0], at=1.0)),
        log_at(10.0, simple_file("/run/out.b", "POSIX", [0], at=1.0), run_time=5.0),
    ]
    found = characterize(logs, ALL)
    assert (found.workload.ranks, found.workload.runtime) == (3, 80.0)
    by_name = {f.name: f.modules["POSIX"].ranks.tolist() for family in found.families for f in family.files()}
    assert by_name == {"/run/out.a": [0], "/run/out.b": [1], "/run/out.c": [2]}
    starts = sorted(s for family in found.families for s in family.family.schedule.starts())
    assert starts[0] == pytest.approx(0.9)


def test_one_file_of_several_processes() -> None:
    """Processes that write pieces of one file share it; all its records are together."""
    logs = [
        log_at(10.0 * k, TrueFile("/run/shared", "POSIX", {0: [Op(WRITE, k * MIB, MIB)]}, 0.5, 9.0))
        for k in range(4)
    ]
    (family,) = characterize(logs, ALL).families
    assert (family.family.sharing.mode, family.dumps[0].bytes_written) == (SharingMode.SHARED, 4 * MIB)
    assert (family.dumps[0].start_s, family.dumps[0].end_s) == (0.5, 39.0)


def test_reduced_records_stand_for_the_ranks_of_their_log() -> None:
    """Two MPI programs of one job: the file of the second belongs to ranks 4 to 9."""
    logs = [
        log_at(0.0, simple_file("/run/first", "MPI-IO", range(4), collective=True), nprocs=4),
        log_at(5.0, simple_file("/run/second", "MPI-IO", range(6), collective=True), nprocs=6),
    ]
    found = characterize(logs, ALL)
    assert found.workload.ranks == 10
    by_name = {family.files()[0].name: family.family for family in found.families}
    assert by_name["/run/first"].sharing.ranks == [(0, 3, 1)]
    assert by_name["/run/second"].sharing.ranks == [(4, 9, 1)]
    totals = totals_of(resolve(found.workload, Options()))
    assert sum(t[WRITE].operations for t in totals.values()) == 4 * 4 + 6 * 4
    assert sum(t[WRITE].bytes for t in totals.values()) == 40 * MIB


def test_a_log_of_another_year_gives_a_warning() -> None:
    logs = [
        log_at(0.0, simple_file("/run/a", "POSIX", [0])),
        log_at(4e8, simple_file("/run/b", "POSIX", [0])),
    ]
    found = characterize(logs, ALL)
    assert found.workload.runtime == 50.0
    assert any("years after" in warning for warning in found.warnings)


def test_no_log() -> None:
    with pytest.raises(WorkalikeError) as caught:
        characterize([])
    assert caught.value.kind is ErrorKind.USAGE


def test_more_ranks_than_a_workload_has() -> None:
    builder = LogBuilder(nprocs=2**24 + 1).posix("/run/x", 0, WRITES=1, BYTES_WRITTEN=1)
    with pytest.raises(WorkalikeError) as caught:
        characterize([log_of(builder)], ALL)
    assert caught.value.kind is ErrorKind.UNSUPPORTED_LOG


def test_many_ranks() -> None:
    builder = LogBuilder(nprocs=2**24).mpiio(
        "/run/x", COLL_WRITES=2**24, BYTES_WRITTEN=2**44, SIZE_WRITE_AGG_100K_1M=2**24
    )
    (family,) = characterize([log_of(builder)], ALL).families
    (stream,) = family.family.content_of(0).streams
    assert (stream.collective, stream.sizes[0].count, stream.sizes[0].size) == (True, 2**24, 2**20)


@pytest.mark.parametrize("run_time", [0.0, 1e15])
def test_a_run_time_that_cannot_be_true(run_time: float) -> None:
    """The last timestamp is taken instead, so that the schedule is not lost."""
    builder = LogBuilder(nprocs=1, run_time=min(run_time, 9e9))
    add_file(builder, simple_file("/run/x", "POSIX", [0], at=70.0, lasts=5.0))
    found = characterize([log_of(builder)], ALL)
    assert found.workload.runtime == pytest.approx(75.1)
    assert found.families[0].family.schedule.starts() == [pytest.approx(69.9)]
    assert any("run time" in warning for warning in found.warnings)


@pytest.mark.parametrize("stamp", [float("nan"), float("inf"), -5.0, 1e18, 0.0])
def test_timestamps_that_cannot_be_true(stamp: float) -> None:
    builder = builder_of(1)
    file = simple_file("/run/x", "POSIX", [0], at=10.0)
    file.extra = {}
    add_file(builder, file)
    builder.posix(
        "/run/y", 0, WRITES=1, BYTES_WRITTEN=MIB, F_OPEN_START_TIMESTAMP=stamp, F_CLOSE_END_TIMESTAMP=stamp
    )
    found = characterize([log_of(builder)], ALL)
    dumps = {f.files[0].name: f for family in found.families for f in family.dumps}
    assert (dumps["/run/x"].start_s, dumps["/run/x"].end_s) == (pytest.approx(9.9), pytest.approx(11.1))
    assert (dumps["/run/y"].start_s, dumps["/run/y"].end_s) == (0.0, 100.0)  # known only to be within the run


def test_counters_that_cannot_be_true() -> None:
    names = ("BYTES_WRITTEN", "WRITES", "RENAMED_FROM", "MAX_BYTE_WRITTEN")
    table = np.array(
        [[5, 1, -77, 4], [-9, 1, 0, 4], [THRESHOLDS.plausible_bytes + 1, 2**60, 2**63 - 1, 2**62]],
        dtype=np.int64,
    )
    counters, doubted = plausible(table, names)
    assert counters.tolist() == [[5, 1, -77, 4], [-1, 1, 0, 4], [-1, -1, 2**63 - 1, -1]]
    assert doubted.tolist() == [False, True, True]
    unchanged, doubted = plausible(table[:1], names)
    assert unchanged is not table and not doubted.any()
    assert plausible_stamps(np.array([0.0, -1.0, np.nan, np.inf, 5.0, 1e9]), latest_stamp(10.0)).tolist() == [
        5.0
    ]


def test_unmeasured_counters_are_not_counted() -> None:
    """Old records have -1 for counters that were not measured, in reduced records too."""
    builder = builder_of(4).posix(
        "/run/x", WRITES=4, BYTES_WRITTEN=4 * MIB, FILENOS=-1, DUPS=-1, OPENS=4, STATS=-1
    )
    (family,) = characterize([log_of(builder)], ALL).families
    content = family.family.content_of(0)
    assert (content.opens, content.stats) == (4, 0)


def test_opens_include_fileno_and_dup() -> None:
    builder = builder_of(4).posix("/run/x", WRITES=4, BYTES_WRITTEN=4 * MIB, FILENOS=4, DUPS=2, OPENS=10)
    (family,) = characterize([log_of(builder)], ALL).families
    assert family.family.content_of(0).opens == 4


def test_bytes_without_operations_are_not_lost() -> None:
    builder = builder_of(2)
    for rank in range(2):
        builder.posix("/run/x", rank, BYTES_WRITTEN=7 * MIB)
    found = characterize([log_of(builder)], ALL)
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert (totals[WRITE].bytes, totals[WRITE].operations) == (14 * MIB, 2)


def test_a_contradictory_histogram_keeps_operations_and_bytes() -> None:
    builder = builder_of(1).posix(
        "/run/x", WRITES=10, BYTES_WRITTEN=10 * MIB, SIZE_WRITE_100K_1M=3, SIZE_WRITE_1M_4M=3
    )
    found = characterize([log_of(builder)], ALL)
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert (totals[WRITE].bytes, totals[WRITE].operations) == (10 * MIB, 10)


def test_duplicated_records_add_up() -> None:
    builder = builder_of(4)
    for _ in range(2):
        builder.posix("/run/x", 1, WRITES=1, BYTES_WRITTEN=MIB, SIZE_WRITE_100K_1M=1)
    (file,) = facts_of([log_of(builder)]).files()
    assert file.modules["POSIX"].total("BYTES_WRITTEN") == 2 * MIB
    found = characterize([log_of(builder)], ALL)
    assert found.families[0].dumps[0].bytes_written == 2 * MIB


def test_a_record_without_a_name() -> None:
    builder = builder_of(1).posix("/run/x", WRITES=1, BYTES_WRITTEN=MIB)
    builder.names.clear()
    (family,) = characterize([log_of(builder)], ALL).families
    assert family.dumps[0].bytes_written == MIB


def test_traffic_through_mmap_is_reported() -> None:
    builder = (
        builder_of(1)
        .posix("/run/x", WRITES=1, BYTES_WRITTEN=MIB)
        .posix("/run/y", MMAPS=3, READS=1, BYTES_READ=9)
    )
    found = characterize([log_of(builder)], ALL)
    assert {loss.reason for loss in found.losses} == {Reason.MMAP}
    assert not found.complete
    assert sum(content.maps for facts in found.families for content in facts.family.all_contents()) == 3


@pytest.mark.parametrize(
    ("name", "direction", "role"),
    [
        ("/run/chk.5", "write", Role.CHECKPOINT),
        ("/run/restart.0001", "read", Role.RESTART),
        ("/run/vis_0001.h5", "write", Role.VISUALIZATION),
        ("/run/grid.dat", "read", Role.INPUT),
        ("/run/result.dat", "write", Role.OUTPUT),
        ("/run/job.aoints.0", "write", Role.SCRATCH),
        ("/run/input.dat", "write", Role.OUTPUT),
    ],
)
def test_roles(name: str, direction: str, role: Role) -> None:
    moved = {"WRITES": 1, "BYTES_WRITTEN": MIB} if direction == "write" else {"READS": 1, "BYTES_READ": MIB}
    (family,) = characterize([log_of(builder_of(1).posix(name, **moved))], ALL).families
    assert family.family.role is role


def test_roles_by_behaviour() -> None:
    """Where names say nothing: the family written repeatedly, with most of the bytes, is the checkpoint."""
    builder = builder_of(4)
    for i in range(3):
        add_file(builder, simple_file(f"/run/a{i}", "POSIX", range(4), size=8 * MIB, at=10.0 * i + 1))
        add_file(builder, simple_file(f"/run/b{i}", "POSIX", range(4), size=MIB, at=10.0 * i + 5))
    found = characterize([log_of(builder)], ALL)
    assert {f.files()[0].name[5]: f.family.role for f in found.families} == {
        "a": Role.CHECKPOINT,
        "b": Role.VISUALIZATION,
    }
