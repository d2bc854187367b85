"""A run that is slower than its own past is not the user's fault, unless its calls changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnosis_of
from workalike.diagnose.finding import Diagnosis, Finding, History, Moment, Severity, Standing
from workalike.diagnose.job import read_job
from workalike.diagnose.rule import Answer
from workalike.diagnose.site import Site

RULE = "slower-than-its-past"


def standing(key: str, unit: str, value: float, median: float, percentile: float, changed: bool) -> Standing:
    return Standing(key=key, name=key, unit=unit, always=True, value=value, median=median, low=median, high=median,
                    percentile=percentile, changed=changed)  # fmt: skip


def history(runs: int = 10, percentile: float = 0.0, more_syncs: bool = False) -> History:
    """Earlier runs took 10 s in I/O, this one 30 s."""
    standings = [
        standing("bandwidth", "B/s", 1e9, 3e9, percentile, True),
        standing("io_s", "s", 30.0, 10.0, 100.0, True),
        standing("syncs", "", 8.0, 8.0, 50.0, more_syncs),
    ]
    moments = [Moment(start=float(day), bandwidth=3e9) for day in range(runs + 1)]
    return History(logs=runs, damaged=0, program_runs=runs, runs=runs, enough=True, standings=standings, changes=[],
                   moments=moments)  # fmt: skip


def diagnosed(past: History | None, folder: Path) -> Diagnosis:
    log = LogBuilder(nprocs=4, run_time=100.0)
    log.posix("/d/x", OPENS=4, WRITES=999, CONSEC_WRITES=995, BYTES_WRITTEN=2**30, F_WRITE_TIME=120.0,
              F_SLOWEST_RANK_TIME=30.0)  # fmt: skip
    return diagnosis_of(read_job([open_log(log.write(folder / "x.darshan"))]), Site(), history=past)


def of_past(found: Diagnosis) -> Finding | None:
    return next((finding for finding in found.findings if finding.rule == RULE), None)


def test_a_slow_run_is_not_the_users_fault(tmp_path: Path) -> None:
    finding = of_past(diagnosed(history(), tmp_path))
    assert finding is not None
    assert (finding.answer, finding.severity) == (Answer.NOT_YOUR_FAULT, Severity.HIGH)
    assert finding.cost.slowest_rank_s == pytest.approx(20.0) and finding.gain_at_most_s == 0


def test_a_slow_run_whose_calls_changed_is_a_problem(tmp_path: Path) -> None:
    finding = of_past(diagnosed(history(more_syncs=True), tmp_path))
    assert finding is not None and finding.answer is Answer.PROBLEM
    assert "changed: syncs" in finding.summary


@pytest.mark.parametrize("past", [history(percentile=5.0), history(runs=9)])
def test_a_usual_run_or_a_short_history_is_silent(past: History, tmp_path: Path) -> None:
    assert of_past(diagnosed(past, tmp_path)) is None


def test_without_a_history_the_rule_cannot_tell(tmp_path: Path) -> None:
    assert RULE in [unknown.rule for unknown in diagnosed(None, tmp_path).cannot_tell]
