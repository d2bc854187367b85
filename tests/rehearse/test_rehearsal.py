"""Rehearsals: a family keeps its library where that does here what the log has, and is lowered where it does not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import workalike

from workalike.characterize import CharacterizeOptions, characterize
from workalike.characterize.result import Characterization
from workalike.darshan import LogBuilder, open_log
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.thresholds import varied
from workalike.rehearse import performed, rehearsal
from workalike.rehearse.performed import Performed
from workalike.rehearse.rehearsal import Distance
from workalike.workload.family import Rehearsed
from workalike.workload.words import Assumption, Interface, Level

ONE_DATASET = """\
workalike: 2
ranks: 1
families:
- role: output
  interface: hdf5
  level: h5d
  tunable: {tunable}
  schedule: {{start: [0]}}
  content:
    arrays: [{{dims: [1000], access: [{{direction: write, slabs: [{{count: 4, shape: [250]}}], ranks: 0}}]}}]
"""
AS_A_LOG_TELLS, AS_NO_LOG_TELLS = (
    "{driver: serial}",
    "{driver: serial, layout: chunked, chunk_bytes: 1 KiB, deflate: 6}",
)


def log_of(tunable: str, folder: Path) -> Path:
    """A log of a program that writes one dataset; its settings of HDF5 are in no log."""
    (folder / "program.yaml").write_text(ONE_DATASET.format(tunable=tunable))
    done = workalike("run", "program.yaml", "--dir", "data", "-o", "log", "--capture", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "log/replica.darshan"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return log_of(AS_A_LOG_TELLS, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return log_of(AS_NO_LOG_TELLS, tmp_path_factory.mktemp("filtered"))


def found_in(log: Path) -> Characterization:
    return characterize([open_log(log)], CharacterizeOptions())


def rehearsed(found: Characterization) -> Characterization:
    return rehearsal.rehearsed(found, CharacterizeOptions())


def test_a_library_that_does_what_the_log_has_is_kept(plain: Path) -> None:
    [facts] = rehearsed(found_in(plain)).families
    assert facts.family.counted_at is Level.H5D
    assert facts.family.rehearsed is not None
    assert facts.family.rehearsed.hdf5 is not None
    assert Assumption.LIBRARY not in facts.family.assumed
    assert facts.fitted


def test_a_library_that_does_otherwise_is_lowered_to_the_calls_below_it(filtered: Path) -> None:
    found = found_in(filtered)
    assert found.families[0].family.counted_at is Level.H5D
    after = rehearsed(found)
    [facts] = after.families
    assert (facts.family.interface, facts.family.counted_at) == (Interface.HDF5, Level.POSIX)
    assert facts.family.rehearsed is None
    assert facts.fitted
    assert any("is further from the log" in words for words in facts.sentences())
    done = performed.perform(after, after.families, 60.0)
    assert max(done.errors.values()) <= 0.05
    # HDF5 1.14 has no version for one who does not call it, and then nobody knows.
    assert done.same or "hdf5" not in done.versions


def test_what_the_workload_says_is_what_its_families_say(filtered: Path, plain: Path) -> None:
    for log in (filtered, plain):
        after = rehearsed(found_in(log))
        assert after.workload.families == [facts.family for facts in after.families]


def test_the_nearest_is_kept_where_all_are_far_off(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def far(found: Characterization, families: object, limit_s: float) -> object:
        by_level = {Level.H5D: 0.5, Level.POSIX: 0.7}
        errors = {performed.key_of(f): by_level[f.family.counted_at] for f in found.families}
        return Performed(errors, versions={"hdf5": "1.10.8"})

    monkeypatch.setattr(rehearsal, "perform", far)
    [facts] = rehearsed(found_in(plain)).families
    assert facts.family.counted_at is Level.H5D
    assert facts.family.rehearsed == Rehearsed(hdf5="1.10.8")


def test_families_that_cannot_be_performed_are_lowered(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    performed_at: list[Level] = []

    def fails_in_hdf5(found: Characterization, families: object, limit_s: float) -> object:
        performed_at.append(found.families[0].family.counted_at)
        if performed_at[-1] is Level.H5D:
            raise WorkalikeError(ErrorKind.RUN_FAILED, "HDF5 crashed")
        return Performed({performed.key_of(f): 0.0 for f in found.families})

    monkeypatch.setattr(rehearsal, "perform", fails_in_hdf5)
    [facts] = rehearsed(found_in(plain)).families
    assert performed_at == [Level.H5D, Level.POSIX]
    assert facts.family.counted_at is Level.POSIX


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (WorkalikeError(ErrorKind.RUN_FAILED, "no rank starts"), "no rank starts"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (TimeoutError(), "longer than 10 seconds"),
    ],
)
def test_a_failed_rehearsal_is_reported_and_changes_nothing_else(
    plain: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fails(found: Characterization, families: object, limit_s: float) -> object:
        raise error

    monkeypatch.setattr(rehearsal, "perform", fails)
    before = found_in(plain)
    after = rehearsed(before)
    [facts] = after.families
    assert facts.family.counted_at is Level.H5D
    assert Assumption.LIBRARY in facts.family.assumed
    assert [words in warning for warning in after.warnings] == [True]
    assert replace(facts, family=before.families[0].family) == before.families[0]


def test_without_an_engine_the_library_is_assumed(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsal, "engine_if_built", lambda: None)
    after = rehearsed(found_in(plain))
    assert Assumption.LIBRARY in after.families[0].family.assumed
    assert after.warnings == []


@pytest.mark.parametrize("limit", ["rehearsal_bytes", "rehearsal_ranks"])
def test_what_is_too_large_is_not_performed(plain: Path, limit: str) -> None:
    with varied(limit, 0):
        after = rehearsed(found_in(plain))
    assert Assumption.LIBRARY in after.families[0].family.assumed


def test_a_rehearsal_that_takes_too_long_is_ended_and_leaves_nothing(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with varied("rehearsal_seconds", 0.0):
        after = rehearsed(found_in(plain))
    assert Assumption.LIBRARY in after.families[0].family.assumed
    assert list(tmp_path.iterdir()) == []


def test_the_users_level_is_not_changed(filtered: Path) -> None:
    options = CharacterizeOptions(level=Level.H5D)
    found = characterize([open_log(filtered)], options)
    assert rehearsal.rehearsed(found, options) is found


def test_commands_rehearse_unless_asked_not_to(filtered: Path, tmp_path: Path) -> None:
    shutil.copy(filtered, tmp_path / "a.darshan")
    with_it = workalike("characterize", "a.darshan", cwd=tmp_path)
    without = workalike("characterize", "a.darshan", "--no-rehearsal", cwd=tmp_path)
    assert "level: posix" in with_it.stdout
    assert "level: h5d" in without.stdout
    assert "assumed: [dataset-shape, placement, role, library]" in without.stdout


def test_what_mpi_makes_beside_a_file_stays_with_its_calls_of_posix(tmp_path: Path) -> None:
    """A replica of POSIX has no MPI library that would try locks in a file of its own."""
    builder = LogBuilder(nprocs=1, run_time=10.0)
    builder.posix("/data/a.nc", rank=0, OPENS=1, WRITES=4, BYTES_WRITTEN=4096, SIZE_WRITE_1K_10K=4)
    builder.posix("/data/a.nc.locktest.0", rank=0, OPENS=1)
    builder.posix("/data/other.nc.locktest.0", rank=0, OPENS=1)
    log = tmp_path / "a.darshan"
    builder.write(log)
    logs = [open_log(log)]
    as_it_is = characterize(logs, CharacterizeOptions())
    lowered = {as_it_is.families[0].files()[0].record_id: Level.POSIX}
    assert len(as_it_is.families) == 1
    names = {
        file.name
        for facts in characterize(logs, CharacterizeOptions(lowered=lowered)).families
        for file in facts.files()
    }
    assert names == {"/data/a.nc", "/data/a.nc.locktest.0"}


@pytest.mark.parametrize(
    ("own", "lower", "is_lowered"),
    [
        (Distance(0.02, 1.0), Distance(0.0, 1.0), False),
        (Distance(0.5, 1.0), Distance(0.3, 1.0), True),
        (Distance(0.3, 1.0), Distance(0.5, 1.0), False),
        (Distance(0.0, 514.6), Distance(0.0, 1.0), True),
        (Distance(0.0, 3.0), Distance(0.0, 2.0), False),
        (Distance(0.0, 514.6), Distance(0.6, 1.0), False),
    ],
)
def test_a_lower_level_is_taken_where_it_is_nearer(own: Distance, lower: Distance, is_lowered: bool) -> None:
    """Calls of POSIX alone tell by large factors, and only of families that are near in what can be compared."""
    taken = rehearsal._nearest_of({None: own, Level.MPIIO: lower})
    assert taken is (Level.MPIIO if is_lowered else None)


def test_datasets_that_are_hardly_written_are_no_reason_to_fill_a_disk(plain: Path) -> None:
    """A log, which may be hostile, states their extents; the library may write fill values all over them."""
    found = found_in(plain)
    [facts] = found.families
    assert performed.can_be_performed(found, [facts])
    content = facts.family.all_contents()[0]
    huge = content.arrays[0].model_copy(update={"dims": [2**40]})
    family = facts.family.model_copy(update={"content": content.model_copy(update={"arrays": [huge]})})
    assert not performed.can_be_performed(found, [replace(facts, family=family)])
