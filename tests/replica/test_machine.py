"""A replica fits this machine in bytes, in calls and in waiting. No time is asserted: those of calls are given here."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from workalike.errors import ErrorKind, WorkalikeError
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.replica import machine, probe
from workalike.replica.machine import CALLS_S, fit_to_machine
from workalike.replica.probe import CallTimes, call_times, seconds_of
from workalike.workload.model import Workload

TIMES = CallTimes(open=1e-4, transfer=4e-6, sync=1e-2)


def workload(sizes: str, **content: Any) -> Workload:
    family = {
        "role": "output",
        "interface": "posix",
        "sharing": "per-rank",
        "schedule": {"count": 1, "first": "1 s"},
        "content": {
            "streams": [{"direction": "write", "sizes": [sizes], **content.pop("stream", {})}],
            **content,
        },
    }
    return Workload.model_validate({"workalike": 2, "ranks": 4, "families": [family]})


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A function that fits a workload to a machine of 4 cores, whose calls take `TIMES`."""
    monkeypatch.setattr(machine, "call_times", lambda _: TIMES)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)

    def fit(what: Workload, **given: Any) -> Options:
        scale_bytes = given.pop("scale_bytes", True)
        return fit_to_machine(what, Options(**given), tmp_path, scale_bytes=scale_bytes, scale_time=False)

    return fit


def calls_of(what: Workload, options: Options) -> int:
    counts = core_plan(resolve(what, options)).count()
    return int(counts["calls_write"].sum() + counts["calls_fsync"].sum())


def test_134_million_small_calls(fitted: Any) -> None:
    """1 GiB in calls of 8 B: the bytes would do, the calls would take two minutes."""
    what = workload("134217728/rank x 8 B")
    factor = fitted(what).bytes_scale
    assert 0 < factor < 1
    assert seconds_of(resolve(what, Options(ranks=4, bytes_scale=factor)), TIMES, 4) == pytest.approx(
        CALLS_S, rel=0.01
    )


def test_syncs_count(fitted: Any) -> None:
    what = workload("65536/rank x 4 KiB", sync="each")
    options = fitted(what)
    assert calls_of(what, options) == pytest.approx(
        2 * 4 * 6000, rel=0.01
    )  # 10 ms each, four ranks at a time


def test_few_calls_are_left_as_they_are(fitted: Any) -> None:
    assert fitted(workload("16/rank x 4 KiB")).bytes_scale == 1


def test_a_factor_that_the_user_gave_is_kept(fitted: Any) -> None:
    what = workload("134217728/rank x 8 B")
    assert fitted(what, bytes_scale=Fraction(1, 3), scale_bytes=False).bytes_scale == Fraction(1, 3)


def test_calls_that_are_too_many_to_be_counted(fitted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in random order are counted one by one."""
    monkeypatch.setattr(probe, "MOST_COUNTED", 1000)
    what = workload("100000/rank x 8 B", stream={"pattern": "random"})
    assert calls_of(what, fitted(what)) <= 1000


def test_the_probe_measures_and_leaves_nothing(tmp_path: Path) -> None:
    found = call_times(tmp_path)
    assert min(found.open, found.transfer, found.sync) > 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(WorkalikeError) as error:
        call_times(tmp_path / "absent")
    assert error.value.kind is ErrorKind.CANNOT_WRITE
