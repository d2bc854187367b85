"""Dumps and loads in turn lie between the first read and the last write."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.alternating import in_turn
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.facts.records import FileFacts
from workalike.workload.model import (
    Assumption,
    Content,
    Direction,
    Entry,
    Family,
    Interface,
    Lifetime,
    Role,
    Schedule,
    Stream,
)

WRITE, READ = Direction.WRITE, Direction.READ


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
    found = in_turn(family_of(file_of(25.0, 45.0), compute_time=5.5), 60.0)
    schedule = found.family.schedule
    assert schedule.start == [10, 25, 30, 35, 40, 45]
    assert schedule.duration == [15, 5, 5, 5, 5, 5]
    assert schedule.compute_time == [5.5, 5, 5, 5, 5, 5]
    assert [(dump.start_s, dump.end_s) for dump in found.dumps] == list(
        zip(schedule.starts(), schedule.ends(), strict=True)
    )


def test_a_late_last_load_stays() -> None:
    found = in_turn(family_of(file_of(20.0, 40.0)), 60.0)
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
    assert in_turn(facts, 60.0) is facts


def test_dumps_of_other_files_are_left_as_they_are() -> None:
    facts = family_of(file_of(25.0, 45.0))
    facts.dumps[-1] = replace(facts.dumps[-1], files=[file_facts("b", module_facts("POSIX", {-1: {}}))])
    assert in_turn(facts, 60.0) is facts
