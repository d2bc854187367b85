"""docs/how-to/add-a-capture-module.md: its steps make a module that counts, and touch no more than three files."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from how_to import Applied, apply_page, copy_of_tree
from known_logs import REPOSITORY

from workalike.version import VERSION

from .conftest import WORKALIKE, Profile

pytestmark = pytest.mark.system  # the capture library is built anew

PAGE = REPOSITORY / "docs" / "how-to" / "add-a-capture-module.md"
MOST_FILES = 3
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(workalike VERSION {version} LANGUAGES C)
add_subdirectory({tree}/capture capture)
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Applied:
    """A copy of the tree with the steps applied."""
    return apply_page(PAGE, copy_of_tree(tmp_path_factory.mktemp("tree")))


@pytest.fixture(scope="module")
def built(steps: Applied, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of that tree; of the project only what the library needs."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("project")
    (folder / "CMakeLists.txt").write_text(PROJECT.format(version=VERSION, tree=steps.tree))
    for command in (
        ["-S", str(folder), "-B", str(folder / "build")],
        ["--build", str(folder / "build"), "-j", "2"],
    ):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "libworkalike-capture.so"


def test_no_more_files_are_touched(steps: Applied) -> None:
    assert steps.touched == {"capture/folders/folders.c", "capture/CMakeLists.txt"}
    assert len(steps.touched) <= MOST_FILES


@pytest.mark.parametrize("how", ["preloaded", "killed", "linked"])
def test_the_module_counts(
    how: str, built: Path, profile: Profile, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKALIKE_CAPTURE_LIBRARY", str(built))
    flags: list[str] = []
    if how == "linked":
        asked = [*WORKALIKE, "profile", "--link-flags"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=True)
        flags = ["-static", *answer.stdout.split()]
    program = compiled("removes.c", *flags)
    run = profile(program, environment={"KILL": "1"} if how == "killed" else {}, check=how != "killed")
    side = json.loads(run.logs[0].with_name("app.darshan.extra.json").read_text())
    counts = {Path(row["file"]).name: (row["made"], row["removed"]) for row in side["folders"]}
    assert counts == {"folder": (1, 1)}
    assert {row["rank"] for row in side["folders"]} == {0}
    assert run.record("POSIX", "first")["OPENS"] == 1  # the others count as before
