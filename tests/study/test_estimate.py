"""Estimates of a study: by its finished trials, by a machine file, or by what it assumes; by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from needed import needs_engine
from studies import BYTES, trials_in, workalike, write_study

from workalike.errors import WorkalikeError
from workalike.study.driver import DriverOptions, Loaded, load, run_study
from workalike.study.known_times import Known, known_of
from workalike.study.study_file import read_study

MIB = 2**20


def loaded(folder: Path, **fields: Any) -> Loaded:
    """A study of two settings that move BYTES and half of them."""
    defaults: dict[str, Any] = {
        "fixed": {"time_scale": 0},
        "factors": {"bytes_scale": ["1", "1/2"]},
        "a_a": False,
        "assume": {"bandwidth": "1 MiB", "launch": "2 s"},
    }
    return load(read_study(write_study(folder, **defaults | fields)))


def machine_file(path: Path, rates: dict[str, float], system_id: str = "") -> Path:
    ceilings = {name: {"unit": "B/s", "median": rate, "values": [rate]} for name, rate in rates.items()}
    path.write_text(json.dumps({"format": "workalike-machine", "system_id": system_id, "ceilings": ceilings}))
    return path


def test_what_is_assumed(tmp_path: Path) -> None:
    """1 MiB at 1 MiB/s and 2 s to launch, and half of it."""
    found = loaded(tmp_path).estimate()
    assert [setting.seconds for setting in found.settings] == [BYTES / MIB + 2, BYTES / MIB / 2 + 2]
    assert found.basis == "waiting of the plan, 1 MiB/s assumed, 2 s to launch"


def test_the_ceilings_of_the_directory(tmp_path: Path) -> None:
    """Dumps without a sync go by the page cache, those with one by writes that end with it."""
    path = machine_file(tmp_path / "M.json", {"write": 0.5 * MIB, "write_cached": 2 * MIB})
    study = loaded(tmp_path)
    found = study.estimate(known_of(study.file, machine=path))
    assert [setting.seconds for setting in found.settings] == [BYTES / MIB / 2 + 2, BYTES / MIB / 4 + 2]
    assert "writes into the page cache at 2 MiB/s, which one process gets by M.json" in found.basis
    study = loaded(tmp_path, fixed={"time_scale": 0, "families[0].content.fsyncs": 2})
    found = study.estimate(known_of(study.file, machine=path))
    assert [setting.seconds for setting in found.settings] == [2 * BYTES / MIB + 2, BYTES / MIB + 2]
    assert "writes with a sync at 512 KiB/s" in found.basis


def test_reads_come_from_the_storage_where_caches_are_dropped(tmp_path: Path) -> None:
    path = machine_file(tmp_path / "M.json", {"read": MIB, "read_cached": 4 * MIB})
    for caches, seconds in (("keep", BYTES / MIB / 4), ("drop", BYTES / MIB)):
        study = loaded(tmp_path, caches=caches)
        (tmp_path / "w.yaml").write_text((tmp_path / "w.yaml").read_text().replace("write", "read"))
        study = load(read_study(tmp_path / "study.yaml"))
        found = study.estimate(known_of(study.file, machine=path))
        assert found.settings[0].seconds == seconds + 2, caches


def test_a_machine_file_without_the_ceiling_is_no_source(tmp_path: Path) -> None:
    path = machine_file(tmp_path / "M.json", {"read": MIB})
    study = loaded(tmp_path)
    assert "assumed" in study.estimate(known_of(study.file, machine=path)).basis


def test_of_several_machine_files_that_of_the_directory_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workalike.study.system.system_id", lambda folder: folder.name)
    (tmp_path / "fast").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text("{}")
    study = loaded(tmp_path)
    monkeypatch.setattr("workalike.study.known_times.refuse_foreign", lambda *_: None)
    machine_file(out / "MACHINE.json", {"write_cached": MIB}, "slow")
    machine_file(out / "MACHINE-2.json", {"write_cached": 8 * MIB}, "fast")
    found = study.estimate(known_of(study.file, out, tmp_path / "fast"))
    assert found.settings[0].seconds == BYTES / MIB / 8 + 2
    assert "assumed" in study.estimate(known_of(study.file, out)).basis, "it is not known which one"


def test_finished_trials_come_first(tmp_path: Path) -> None:
    """Trials of the first setting took 10 and 14 s. The other one moves half: 1 MiB took 12 s, so 512 KiB take 6 s."""
    study = loaded(tmp_path)
    first = study.settings[0]
    machine = machine_file(tmp_path / "M.json", {"write_cached": MIB})
    known = Known({first.plan_hash: [10.0, 14.0]}, known_of(study.file, machine=machine).machines)
    found = study.estimate(known)
    assert [setting.seconds for setting in found.settings] == [12.0, 6.0]
    assert found.basis.startswith(
        "1 setting: mean of the finished trials of the same plan; 1 setting: waiting"
    )
    assert "85.3 KiB/s of 2 finished trials" in found.basis
    assert found.document()["settings"][0]["basis"] == "mean of the finished trials of the same plan"


@needs_engine
def test_a_study_that_has_begun(tmp_path: Path) -> None:
    path = write_study(
        tmp_path,
        fixed={"time_scale": 0},
        factors={"ranks": [1, 2]},
        blocks=1,
        a_a=False,
        assume={"launch": "1 h"},
    )
    run_study(read_study(path), DriverOptions(tmp_path / "out", ceiling=True))
    took = sum(row["took_s"] for row in trials_in(tmp_path / "out"))
    known = known_of(read_study(path), tmp_path / "out")
    assert load(read_study(path)).estimate(known).seconds == pytest.approx(took)
    shown = workalike("study", "check", path, "-o", tmp_path / "out")
    assert shown.returncode == 0 and "mean of the finished trials of the same plan" in shown.stdout
    assert "500 MiB/s assumed" in " ".join(workalike("study", "check", path).stdout.split())
    by_machine = workalike("study", "check", path, "--machine", tmp_path / "out" / "MACHINE.json", "--json")
    assert "which one process gets by MACHINE.json" in json.loads(by_machine.stdout)["basis"]
    (tmp_path / "other").mkdir()
    other = write_study(tmp_path / "other", fixed={"time_scale": 0})
    assert workalike("study", "check", other, "-o", tmp_path / "out").returncode == 2
    assert workalike("study", "check", path, "--machine", path).returncode == 2


def test_the_results_of_another_study_are_no_source(tmp_path: Path) -> None:
    study = loaded(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "something").write_text("x")
    with pytest.raises(WorkalikeError):
        known_of(study.file, tmp_path / "out")
    assert known_of(study.file, tmp_path / "missing").trials == 0
