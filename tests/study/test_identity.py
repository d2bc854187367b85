"""The identity of a study stays from version to version: else its results could not be resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from studies import WORKLOAD, trials_in, workalike, write_study

from workalike.study.study_file import read_study

WINDOW = WORKLOAD.replace("every: 10 s}", "every: 10 s, duration: 4 s, writes: {first: 1 s, busy: 2 s}}")
RECORDED = {
    "plain": ("baeb2bfd85dc6d31", "035ab4fd00e84dee"),
    "window": ("73485cff18c89934", "1f593eece1147287"),
    "stop": ("7a34883075a37b95", "1a2db6290e71cf27"),
}
"""(of this version, of those that hashed defaults, too): literals, so that a change of a model is seen.

A test that fails here says that results of users cannot be resumed: leave a new field out, as `YOUNGER` does.
"""


def identities(folder: Path, name: str) -> tuple[str, str]:
    study = write_study(folder, **({"stop": {}} if name == "stop" else {}))
    (folder / "w.yaml").write_text(WINDOW if name == "window" else WORKLOAD)
    return read_study(study).identities


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_studies_are_the_same_study(tmp_path: Path, name: str) -> None:
    assert identities(tmp_path, name) == RECORDED[name]


def test_what_makes_it_another_study(tmp_path: Path) -> None:
    plain = set(identities(tmp_path, "plain"))
    for text in (
        WORKLOAD.replace("count: 2", "count: 3"),
        WORKLOAD.replace("posix", "posix\n  sparse: true"),
    ):
        (tmp_path / "w.yaml").write_text(text)
        assert not plain & set(read_study(tmp_path / "study.yaml").identities)
    (tmp_path / "w.yaml").write_text(WORKLOAD + "# a comment\n")
    assert read_study(tmp_path / "study.yaml").identities == RECORDED["plain"]


def test_results_of_an_earlier_version_are_resumed(tmp_path: Path) -> None:
    study, out = write_study(tmp_path), tmp_path / "out"
    assert workalike("study", study, "-o", out).returncode == 0
    first = trials_in(out)
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["identity"] == RECORDED["plain"][0]
    (out / "manifest.json").write_text(json.dumps(manifest | {"identity": RECORDED["plain"][1]}))
    assert workalike("study", "check", study, "-o", out).returncode == 0
    resumed = workalike("study", study, "-o", out, "--blocks", 3)
    assert resumed.returncode == 0, resumed.stderr
    assert trials_in(out)[: len(first)] == first and len(trials_in(out)) == 15
    (out / "manifest.json").write_text(json.dumps(manifest | {"identity": "0" * 16}))
    refused = workalike("study", study, "-o", out)
    assert refused.returncode == 2 and "another study" in refused.stderr
