"""Results of job arrays are joined once, whatever goes on with the study: trials, ceilings, budgets and states."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies import trials_in, write_study

from workalike.commands.study import _run_share
from workalike.errors import WorkalikeError
from workalike.files import alone_in
from workalike.launch.batch.slurm import Slurm
from workalike.study import driver
from workalike.study.driver import DriverOptions, Loaded, Outcome, about, load, run_study
from workalike.study.estimate import Estimate
from workalike.study.journal import Finished, read_finished, read_manifest
from workalike.study.machine_file import Machine
from workalike.study.share_of_ceiling import possible_of
from workalike.study.shares import core_hours, join_shares
from workalike.study.study_file import StudyFile, read_study
from workalike.study.submit import Submission, _budget_of_a_task, _job
from workalike.study.trial import perform

HOUR = 1.0


@pytest.fixture
def study(tmp_path: Path) -> StudyFile:
    return read_study(write_study(tmp_path, factors={"ranks": [1, 2]}, blocks=4, a_a=False))


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial costs a core-hour, and is known to."""

    def costly(*arguments: Any) -> Finished:
        finished = perform(*arguments)
        return Finished(finished.trial | {"core_hours": HOUR}, finished.dumps)

    monkeypatch.setattr(driver, "perform", costly)
    as_it_is = Loaded.estimate

    def estimated(loaded: Loaded, *_: object) -> Estimate:
        found = as_it_is(loaded)
        settings = [replace(row, seconds=3600 * HOUR / row.ranks) for row in found.settings]
        return replace(found, settings=settings)

    monkeypatch.setattr(Loaded, "estimate", estimated)


def share(study: StudyFile, options: DriverOptions, text: str) -> None:
    _run_share(study, options, text, as_json=False)


def keys(folder: Path) -> list[tuple[int, str]]:
    return [(row["block"], row["setting"]) for row in trials_in(folder)]


def run_of(study: StudyFile, out: Path) -> Outcome:
    return run_study(study, DriverOptions(out))


def test_a_plain_run_takes_what_an_array_has_finished(tmp_path: Path, study: StudyFile) -> None:
    out = tmp_path / "out"
    share(study, DriverOptions(out), "0/2")
    begun = trials_in(out / "shares/0-of-2")
    outcome = run_of(study, out)
    assert outcome.state == "done" and len(outcome.finished) == 8
    assert trials_in(out)[: len(begun)] == begun and len(set(keys(out))) == len(keys(out)) == 8


def test_no_run_beside_a_task(tmp_path: Path, study: StudyFile) -> None:
    out = tmp_path / "out"
    share(study, DriverOptions(out), "0/2")
    with alone_in(out / "shares/0-of-2", ""), pytest.raises(WorkalikeError, match="a task of a job array"):
        run_of(study, out)


def test_ceilings_of_a_share_are_joined(tmp_path: Path, study: StudyFile) -> None:
    out = tmp_path / "out"
    share(study, DriverOptions(out), "0/2")
    (out / "shares/0-of-2/MACHINE.json").write_text("measured")
    join_shares(study, out, about(load(study)), 8, 2)
    assert (out / "MACHINE.json").read_text() == "measured"


@pytest.mark.parametrize(("text", "beside"), [("0/3", 2), (None, 0)])
def test_a_ceiling_says_what_ran_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, beside: int
) -> None:
    ceiling = {"unit": "B/s", "median": 100.0, "values": [100.0]}
    made = {"format": "workalike-machine", "system_id": "s", "ceilings": {"write_cached": ceiling}}
    monkeypatch.setattr("workalike.study.places.measure", lambda *_: made)
    study = read_study(write_study(tmp_path, fixed={"time_scale": 0}, factors={"ranks": [1]}, blocks=1))
    monkeypatch.setattr(driver._Driver, "_one", lambda *_: True)
    out = tmp_path / "out"
    options = DriverOptions(out, ceiling=True)
    if text is None:
        run_study(study, options)
    else:
        share(study, options, text)
        out = out / "shares/0-of-3"
    machine = Machine.model_validate_json((out / "MACHINE.json").read_text())
    assert machine.beside_tasks == beside
    trial = Finished({"system": "s"}, [{"bytes_written": 1, "bytes_read": 0}])
    possible = possible_of([trial], [machine], drops_caches=False)
    assert np.all(possible.rate == 100.0)
    assert ["beside other tasks" in words for words in possible.ceilings] == [bool(beside)]


def test_an_array_never_spends_more_than_its_budget(tmp_path: Path, study: StudyFile, hours: None) -> None:
    """8 core-hours in all, 4 allowed: two tasks have 2 each, which is a block; those who come later have none."""
    out = tmp_path / "out"
    options = DriverOptions(out, budget=4.0)
    for tasks in (2, 2, 3):
        budget = _budget_of_a_task(options, tasks)
        for number in range(tasks):
            share(study, replace(options, budget=budget), f"{number}/{tasks}")
        join_shares(study, out, about(load(study)), 8, tasks)
        assert core_hours(read_finished(out)) == 4.0
        assert read_manifest(out)["state"] == "budget"
    share_budget = _budget_of_a_task(replace(options, budget=8.0), 2)
    assert share_budget == 2.0, "raised by 4, of which each of two tasks has a half"
    for number in range(2):
        share(study, replace(options, budget=share_budget), f"{number}/2")
    join_shares(study, out, about(load(study)), 8, 2)
    assert (len(keys(out)), read_manifest(out)["state"]) == (8, "done")


def test_states_of_earlier_arrays_say_nothing(tmp_path: Path, study: StudyFile) -> None:
    out = tmp_path / "out"
    for text, state in (("0/2", "failing"), ("0/3", "budget")):
        share(study, DriverOptions(out), text)
        path = out / f"shares/{text.replace('/', '-of-')}/manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"state": state}))
    join_shares(study, out, about(load(study)), 8, 3)
    assert read_manifest(out)["state"] == "budget"


def test_the_budget_of_a_job(tmp_path: Path, study: StudyFile) -> None:
    job = _job(load(study), tmp_path, Submission(Slurm(), [], tasks=2), budget=1.5)
    assert "--budget=1.5" in job.command
    assert "--budget" not in " ".join(_job(load(study), tmp_path, Submission(Slurm(), [])).command)
