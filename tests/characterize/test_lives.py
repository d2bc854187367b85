"""When the processes of a job lived: each its own start and end, on the clock of the job."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_job import WRITE, Op, TrueFile, add_file, log_of

from workalike.characterize import CharacterizeOptions, characterize
from workalike.darshan import Log, LogBuilder
from workalike.facts.jobs import job_of
from workalike.facts.lives import lives_of, processes_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Processes

ALL = CharacterizeOptions(include_program_start=True)
BEGIN = 1_700_000_000.0
KIB = 1024


def process(start: float, run: float, *files: TrueFile, nprocs: int = 1) -> Log:
    builder = LogBuilder(nprocs=nprocs, run_time=run, start_time=BEGIN + start)
    for file in files:
        add_file(builder, file)
    return log_of(builder)


def part(number: int, run: float) -> TrueFile:
    """A file that is written from 1 s after the start of its process to 2 s before its end."""
    starts = [1.0 + k * (run - 3.0) / 4 for k in range(5)]
    writes = [Op(WRITE, k * KIB, KIB, start, start + 0.01) for k, start in enumerate(starts)]
    return TrueFile(f"/run/part.{number}", "POSIX", {0: writes}, 0.5, run - 1.0, {"F_WRITE_TIME": 0.05})


def lives(*spans: tuple[float, float], run: float = 100.0) -> list[Processes]:
    """The groups of a job in which one process lives during all of the run, and others for these spans."""
    return processes_of(job_of([process(0.0, run), *(process(start, end - start) for start, end in spans)]))


def test_each_process_has_its_start_and_end() -> None:
    logs = [
        process(start, run, part(i, run)) for i, (start, run) in enumerate([(0, 100), (10, 20), (50, 30)])
    ]
    workload = characterize(logs, ALL).workload
    assert workload.processes == [
        Processes(ranks=[(1, 1, 1)], start=10.0, end=30.0),
        Processes(ranks=[(2, 2, 1)], start=50.0, end=80.0),
    ]


def test_processes_that_begin_and_end_together_are_one_group() -> None:
    """Two waves of 20 processes, that begin within 0.2 s each."""
    waves = [(wave + 0.01 * k, wave + 20.0) for wave in (10.2, 60.2) for k in range(20)]
    first, second = lives(*waves)
    assert (first.ranks, second.ranks) == ([(1, 20, 1)], [(21, 40, 1)])
    assert (first.start, first.end) == (10.2, 30.2)


def test_noise_is_no_life() -> None:
    """Hundredths of the run are what it takes to start processes."""
    share = THRESHOLDS.life_share
    assert lives((100 * share, 100.0), (0.0, 100 * (1 - share))) == []
    assert len(lives((100 * share + 0.1, 100.0))) == 1
    assert len(lives((0.0, 100 * (1 - share) - 0.1))) == 1


def test_a_short_run_has_no_lives() -> None:
    """What is shorter than the start of a process is none."""
    least = THRESHOLDS.life_least
    assert lives((0.9 * least, 0.1), run=0.1) == []
    assert len(lives((1.5 * least, 0.1), run=0.1)) == 1


def test_one_log_has_no_lives() -> None:
    """All ranks of an MPI program begin and end with it."""
    assert lives_of(job_of([process(0.0, 100.0, nprocs=4)])) is None


def test_ranks_of_an_mpi_program_live_together() -> None:
    job = job_of([process(0.0, 100.0), process(20.0, 30.0, nprocs=3)])
    assert processes_of(job) == [Processes(ranks=[(1, 3, 1)], start=20.0, end=50.0)]


def test_damaged_times_give_valid_lives() -> None:
    """A log that ends before it starts, one of years later, and one without any time."""
    logs = [
        process(0.0, 50.0, part(0, 50.0)),
        process(10.0, -5.0, part(1, 20.0)),
        process(1e9, 20.0, part(2, 20.0)),
        process(60.0, 0.0, part(3, 20.0)),
    ]
    workload = characterize(logs, ALL).workload
    assert all(
        group.end is None or group.start <= group.end <= workload.runtime for group in workload.processes
    )
    found = lives_of(job_of(logs))
    assert found is not None
    assert np.isfinite([found.start, found.end]).all()
    assert (found.start >= 0).all()
    assert (found.start <= found.end).all()


def test_windows_are_shares_of_the_life_of_a_process() -> None:
    """Each writes from 1 s after its start to 2 s before its end; the job's dump is longer than any of them."""
    spans = [(0.0, 40.0), (30.0, 40.0), (60.0, 40.0)]
    logs = [process(start, run, part(i, run)) for i, (start, run) in enumerate(spans)]
    (family,) = characterize(logs, ALL).workload.families
    window = family.schedule.writes
    assert window is not None
    assert family.schedule.starts() == [0.5]
    parts = [(0.5, 40.0), (30.0, 70.0), (60.0, 99.0)]  # in which they live, of the dump from 0.5 s to 99 s
    firsts = [(start + 1.0 - a) / (b - a) for (start, _), (a, b) in zip(spans, parts, strict=True)]
    lasts = [(start + run - 1.99 - a) / (b - a) for (start, run), (a, b) in zip(spans, parts, strict=True)]
    assert window.first == pytest.approx(98.5 * min(firsts), rel=1e-3)
    assert window.last == pytest.approx(98.5 * sum(lasts) / 3, rel=1e-3)


def test_idle_time_is_no_compute_time() -> None:
    """A dump of 99.5 s, in which no process lives for longer than 40 s."""
    spans = [(0.0, 40.0), (30.0, 40.0), (60.0, 40.0)]
    logs = [process(start, run, part(i, run)) for i, (start, run) in enumerate(spans)]
    (family,) = characterize(logs, ALL).workload.families
    assert family.schedule.lengths() == [pytest.approx(98.5)]
    assert family.schedule.compute_times() == [pytest.approx(40.0 - 0.05)]
