"""Real runs of two ranks, each judged as the table of test_conflict_models.py and the MPI standard say."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.capture.event_list import read_events
from workalike.diagnose.conflicts.analysis import Conflicts, conflicts
from workalike.diagnose.conflicts.captured import captured
from workalike.diagnose.conflicts.models import Model

from .conftest import Profile

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None or shutil.which("mpicc") is None, reason="no MPI"),
]
P, C, M, S = Model.POSIX, Model.COMMIT, Model.MPI_IO, Model.SESSION

CASES = {
    # name: level, kinds, what rank 0 and rank 1 do, the models that order it
    "none": ("posix", "ww", "open x close", "open x close", set()),
    "close-to-open": ("posix", "ww", "open x close |", "| open x close", {P, C, M, S}),
    "fsync": ("posix", "wr", "open x sync | close", "open | x close", {P, C}),
    "barrier only": ("posix", "ww", "open x | close", "open | x close", {P}),
    "sync-barrier-sync": ("mpi", "wr", "open x sync | close", "open | sync x close", {P, C, M}),
    "MPI-IO, barrier only": ("mpi", "ww", "open x | close", "open | x close", {P}),
    "MPI-IO, none": ("mpi", "ww", "open x sync close", "open sync x close", set()),
    "a message": ("posix", "ww", "open x send close", "open recv x close", {P}),
    "a message the other way": ("posix", "ww", "open x recv close", "open send x close", set()),
    "posted early": ("posix", "ww", "open x isend close", "irecv open wait x close", {P}),
    "completed late": ("posix", "ww", "open x isend close", "irecv open x wait close", set()),
    "tested": ("posix", "ww", "open x send close", "irecv open test x close", {P}),
    "one of several": ("posix", "ww", "open x send close", "irecv open waitall x close", {P}),
    "some of several": ("posix", "ww", "open x send close", "irecv open waitsome x close", {P}),
    "from the root": ("posix", "ww", "open x bcast0 close", "open bcast0 x close", {P}),
    "to the root": ("posix", "ww", "open x reduce0 close", "open reduce0 x close", set()),
    "to the other root": ("posix", "ww", "open x reduce1 close", "open reduce1 x close", {P}),
    "prefix": ("posix", "ww", "open x scan close", "open scan x close", {P}),
    "another communicator": ("posix", "ww", "open x dup| close", "open dup| x close", {P}),
    "both at once": ("posix", "ww", "open x swap close", "open swap x close", {P}),
    "a read first": ("posix", "rw", "open extend x | close", "open | x close", {P, C, M, S}),
}  # fmt: skip


@pytest.fixture
def judged(profile: Profile, compiled: Callable[..., Path]) -> Callable[..., Conflicts]:
    program = compiled("ordered.c", compiler="mpicc")

    def judge(level: str, kinds: str, *texts: str) -> Conflicts:
        run = profile("mpiexec", "-n", "2", program, level, kinds, *texts, options=("--events", "--dxt"))
        warnings: list[str] = []
        events = read_events(run.logs[0], 2, warnings)
        assert events is not None and not warnings
        found = captured(run.log, events, lambda _: True)
        assert found is not None
        return conflicts(found.trace)

    return judge


@pytest.mark.parametrize("name", CASES)
def test_runs(judged: Callable[..., Conflicts], name: str) -> None:
    *program, expected = CASES[name]
    found = judged(*program)
    assert found.overlaps == 1 and found.gaps == []
    assert {model for model, count in found.broken.items() if not count} == expected
    if expected != {P, C, M, S}:
        assert (found.examples[0].offset, found.examples[0].end) == (50, 100)


def test_calls_that_are_not_recorded_are_said(judged: Callable[..., Conflicts]) -> None:
    found = judged("posix", "ww", "open x ibarrier close", "open ibarrier x close")
    assert found.weakest is None
    assert found.gaps == ["2 ranks made MPI calls that were not recorded"]
