"""Real runs of two ranks, each judged as the table of test_conflict_models.py and the MPI standard say."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from workalike.capture.event_list import read_events
from workalike.diagnose.conflicts.analysis import Conflicts, conflicts
from workalike.diagnose.conflicts.captured import captured
from workalike.diagnose.conflicts.models import Model

from .conftest import WORKALIKE, Profile

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
    "freed before": ("posix", "ww", "open x send_freed close", "irecv_freed open wait x close", {P}),
    "tested": ("posix", "ww", "open x send close", "irecv open test x close", {P}),
    "one of several": ("posix", "ww", "open x send close", "irecv open waitall x close", {P}),
    "some of several": ("posix", "ww", "open x send close", "irecv open waitsome x close", {P}),
    "from the root": ("posix", "ww", "open x bcast0 close", "open bcast0 x close", {P}),
    "to the root": ("posix", "ww", "open x reduce0 close", "open reduce0 x close", set()),
    "to the other root": ("posix", "ww", "open x reduce1 close", "open reduce1 x close", {P}),
    "prefix": ("posix", "ww", "open x scan close", "open scan x close", {P}),
    "another communicator": ("posix", "ww", "open x dup| close", "open dup| x close", {P}),
    "a split": ("posix", "ww", "open x split| close", "open split| x close", {P}),
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
        found = captured(run.log, events, lambda number: run.log.names[number].startswith(str(run.folder)))
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


@pytest.mark.parametrize(
    "call",
    ["ibarrier", "iallreduce", "iallgatherv", "alltoallw", "neighbours", "persistent", "one-sided"],
)
def test_calls_that_are_not_recorded_are_said(judged: Callable[..., Conflicts], call: str) -> None:
    found = judged("posix", "ww", f"open x {call} close", f"open {call} x close")
    assert found.weakest is None
    assert found.gaps == ["2 ranks made MPI calls that were not recorded"]


def test_the_diagnosis_says_what_the_job_needs(profile: Profile, compiled: Callable[..., Path]) -> None:
    program = compiled("ordered.c", compiler="mpicc")
    words = ("posix", "wr", "open x sync | close", "open | x close")
    run = profile("mpiexec", "-n", "2", program, *words, options=("--events", "--dxt"))
    done = subprocess.run([*WORKALIKE, "diagnose", run.logs[0]], capture_output=True, text=True, check=True)
    lines = " ".join(done.stdout.split())
    assert "1 pair of conflicting accesses: correct under commit consistency, not under MPI-IO (1)" in lines
    assert "bytes 50 to 99, ranks 0 and 1, read-after-write; ordered under: POSIX, commit" in lines
    assert "not certain" not in lines  # the files that MPI maps into memory are not the application's
    assert str(run.folder) not in done.stdout
    site = run.folder / "site.toml"
    site.write_text("[job]\nminimum_run_time_s = 0.0\n")  # the program ends at once on an idle machine
    found = json.loads(
        subprocess.check_output([*WORKALIKE, "diagnose", "--json", "--site", site, run.logs[0]])
    )
    assert found["consistency"]["weakest"] == "commit"
    assert "conflict" in {finding["rule"] for finding in found["findings"]}

    run.logs[0].with_name("app.darshan.extra.json").unlink()  # without events: possible, never more
    found = json.loads(
        subprocess.check_output([*WORKALIKE, "diagnose", "--json", "--site", site, run.logs[0]])
    )
    assert found["consistency"] is None
    (seen,) = [finding for finding in found["findings"] if "conflict" in finding["rule"]]
    assert (seen["rule"], seen["sure"], seen["severity"]) == ("possible-conflict", "possible", "NOTE")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"events": [{"file": "f", "rank": 7, "module": "POSIX", "event": "open", "start": 0, "end": 1}]}', "beyond 2"),
        ('{"events": [{"file": "f", "rank": 0, "module": "POSIX", "event": "open", "start": 2, "end": 1}]}', "before it"),
        ('{"events": [{"file": "f", "rank": 0, "module": "POSIX", "event": "seek", "start": 0, "end": 1}]}', "event"),
        ('{"events": [{"file": "f", "rank": 0, "module": "P", "event": "open", "start": NaN, "end": 1}]}', "start"),
        ('{"messages": [{"rank": 0, "flow": "all", "size": 2, "peer": 9}]}', "peer"),
        ("[" * 100000, ""),
    ],
)  # fmt: skip
def test_events_of_others_are_not_used(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "app.darshan.extra.json").write_text(text)
    warnings: list[str] = []
    assert read_events(tmp_path / "app.darshan", 2, warnings) is None
    (line,) = warnings
    assert said in line and "\n" not in line
