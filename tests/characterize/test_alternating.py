"""Dumps and loads in turn lie between the first read and the last write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_by_hand import file_facts, module_facts
from simulated_job import log_of

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.alternating import in_turn
from workalike.characterize.times.heatmap_bins import bins_of
from workalike.darshan import LogBuilder
from workalike.facts.jobs import JobFacts, job_of
from workalike.facts.records import FileFacts
from workalike.facts.times import Interval
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Level,
    Lifetime,
    Role,
    Schedule,
    Stream,
)

WRITE, READ = Direction.WRITE, Direction.READ
JOB = JobFacts([], 1, 60.0)


def file_of(first_read: float, last_write: float) -> FileFacts:
    """A file that is written from 10 s and read to 50 s."""
    times = {
        "F_WRITE_START_TIMESTAMP": 10.0,
        "F_WRITE_END_TIMESTAMP": last_write,
        "F_READ_START_TIMESTAMP": first_read,
        "F_READ_END_TIMESTAMP": 50.0,
    }
    return file_facts("a", module_facts("POSIX", {-1: times}))


def family_of(
    file: FileFacts,
    directions: tuple[Direction, ...] = (WRITE, READ) * 3,
    assumed: tuple[Assumption, ...] = (Assumption.SCHEDULE,),
    compute_time: float = 0.0,
) -> FamilyFacts:
    """Dumps of one file at even distances, from 10 to 50 s."""
    step = 40 / len(directions)
    starts = [10 + i * step for i in range(len(directions))]
    contents = [Content(streams=[Stream(direction=d, sizes=[Entry(count=1, size=8)])]) for d in directions]
    family = Family(
        role=Role.SCRATCH,
        interface=Interface.POSIX,
        lifetime=Lifetime.REUSED,
        schedule=Schedule(start=starts, duration=step, compute_time=compute_time),
        contents=contents,
        assumed=list(assumed),
    )
    dumps = [
        DumpFacts(8 * (d is WRITE), 8 * (d is READ), start, start + step, files=[file])
        for d, start in zip(directions, starts, strict=True)
    ]
    return FamilyFacts(family, dumps)


def test_a_long_first_dump() -> None:
    found = in_turn(family_of(file_of(25.0, 45.0), compute_time=5.5), JOB)
    schedule = found.family.schedule
    assert schedule.start == [10, 25, 30, 35, 40, 45]
    assert schedule.duration == [15, 5, 5, 5, 5, 5]
    assert schedule.compute_time == [5.5, 5, 5, 5, 5, 5]
    assert [(dump.start_s, dump.end_s) for dump in found.dumps] == list(
        zip(schedule.starts(), schedule.ends(), strict=True)
    )


def test_a_late_last_load_stays() -> None:
    found = in_turn(family_of(file_of(20.0, 40.0)), JOB)
    assert found.family.schedule.start == [10, 20, 25, 30, 35, pytest.approx(10 + 5 * 40 / 6)]


@pytest.mark.parametrize(
    "facts",
    [
        family_of(file_of(25.0, 45.0), (WRITE, READ)),  # a dump and a load: their times are known
        family_of(file_of(25.0, 45.0), (WRITE, WRITE, READ, READ)),
        family_of(file_of(25.0, 45.0), (READ, WRITE) * 2),
        family_of(file_of(25.0, 45.0), assumed=()),  # times of a trace
        family_of(file_of(45.0, 25.0)),
        family_of(file_of(5.0, 45.0)),
        family_of(file_of(25.0, 55.0)),
        family_of(file_of(float("nan"), 45.0)),
    ],
)
def test_others_are_left_as_they_are(facts: FamilyFacts) -> None:
    assert in_turn(facts, JOB) is facts


def test_dumps_of_other_files_are_left_as_they_are() -> None:
    facts = family_of(file_of(25.0, 45.0))
    facts.dumps[-1] = replace(facts.dumps[-1], files=[file_facts("b", module_facts("POSIX", {-1: {}}))])
    assert in_turn(facts, JOB) is facts


CLOSED = {"F_CLOSE_START_TIMESTAMP": 14.0, "F_OPEN_END_TIMESTAMP": 47.0}


def closed_file(rank: int = 0, **more: float) -> FileFacts:
    """A file that is closed after the first dump, and opened for the last load three seconds before its end."""
    times = {
        "F_WRITE_START_TIMESTAMP": 10.0,
        "F_WRITE_END_TIMESTAMP": 41.0,
        "F_READ_START_TIMESTAMP": 20.0,
        "F_READ_END_TIMESTAMP": 50.0,
    }
    return file_facts("a", module_facts("POSIX", {rank: times | CLOSED | more}))


def job_with(write: list[int], read: list[int]) -> JobFacts:
    """A job whose only log has a heatmap with bins of 5 s."""
    log = LogBuilder(nprocs=1, run_time=60.0).heatmap("POSIX", 0, 5.0, write, read)
    return job_of([log_of(log)])


def spans(facts: FamilyFacts, job: JobFacts = JOB) -> list[tuple[float, float]]:
    schedule = in_turn(facts, job).family.schedule
    return list(zip(schedule.starts(), schedule.ends(), strict=True))


def test_files_that_are_closed_each_time_say_how_long_dumps_and_loads_are() -> None:
    """The first dump takes 4 s and the last load 3 s; loads begin at 20, 33.5 and 47 s, and the last write is at 41 s."""
    wanted = [(10, 14), (20, 23), (23.5, 27.5), (33.5, 36.5), (37, 41), (47, 50)]
    assert spans(family_of(closed_file())) == wanted


def test_the_first_close_of_all_ranks_is_not_that_of_the_slowest() -> None:
    assert spans(family_of(closed_file(rank=-1)))[:2] == [(10, 20), (20, 23)]


@pytest.mark.parametrize("more", [{"F_OPEN_END_TIMESTAMP": 40.0}, {"F_CLOSE_START_TIMESTAMP": 25.0}])
def test_closes_that_contradict_reads_and_writes_say_nothing(more: dict[str, float]) -> None:
    assert spans(family_of(closed_file(**more)))[1:3] == [(20.0, 25.25), (25.25, 30.5)]


def test_dumps_and_loads_are_in_the_bins_that_have_their_bytes() -> None:
    """The second dump is in the bin from 15 s on, so after the first load; the second load is in the one from 25 s on."""
    job = job_with([0, 0, 8, 0, 0, 8, 0, 0, 8, 0], [0, 0, 0, 0, 8, 0, 8, 0, 0, 8])
    assert spans(family_of(closed_file()), job) == [
        (10, 14),
        (20, 23),
        (25, 29),
        (32, 35),
        (40, 41),
        (47, 50),
    ]


def test_a_heatmap_with_other_bytes_says_nothing() -> None:
    other = [0, 800, 8, 0, 0, 8, 0, 0, 8, 0]
    assert spans(family_of(closed_file()), job_with(other, other)) == spans(family_of(closed_file()))


def test_bins_of_bytes_in_their_order() -> None:
    job = job_with([0, 6, 0, 3], [0, 0, 0, 0])
    found = bins_of(job, Level.POSIX, WRITE, 9)
    assert found is not None
    assert found.within(0, 3) == found.within(2, 6) == Interval(5, 10)
    assert found.within(3, 7) == Interval(5, 20)
    assert found.within(6, 9) == Interval(15, 20)
    assert bins_of(job, Level.POSIX, READ, 0) is None
    assert bins_of(job, Level.MPIIO, WRITE, 9) is None
    assert bins_of(JobFacts([*job.members, *job.members], 2, 60.0), Level.POSIX, WRITE, 9) is None
