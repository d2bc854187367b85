"""docs/how-to/add-a-capture-module.md: its steps make a module that counts, and touch no more than three files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import WORKALIKE, Profile

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "add-a-capture-module.md"
MOST_FILES = 3

_NEW_FILE = re.compile(r"^New file `([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CHANGE = re.compile(r"^Change in `([^`]+)`:\n\n```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def contents(tree: Path) -> dict[str, str]:
    return {
        path.relative_to(tree).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in tree.rglob("*")
        if path.is_file()
    }


def apply_steps(tree: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, text in _NEW_FILE.findall(page):
        assert not (tree / name).exists()
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    for name, lines in _CHANGE.findall(page):
        removed, added = (
            "".join(line[1:] for line in lines.splitlines(keepends=True) if line[0] == sign) for sign in "-+"
        )
        text = (tree / name).read_text(encoding="utf-8")
        assert text.count(removed) == 1, f"{name} has no such place as the page says"
        (tree / name).write_text(text.replace(removed, added), encoding="utf-8")


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """The tree with the steps applied, and the files that they touched."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "capture", tree / "capture")
    before = contents(tree)
    apply_steps(tree)
    after = contents(tree)
    return tree, {name for name in before | after if before.get(name) != after.get(name)}


@pytest.fixture(scope="module")
def built(steps: tuple[Path, set[str]]) -> Path:
    tree, _ = steps
    version = re.search(r"^project\(.*VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    (tree / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        f"project(workalike VERSION {version[1] if version else '0'} LANGUAGES C)\nadd_subdirectory(capture)\n"
    )
    for command in (
        ["-S", str(tree), "-B", str(tree / "build")],
        ["--build", str(tree / "build"), "-j", "2"],
    ):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return tree / "build" / "libworkalike-capture.so"


def test_no_more_files_are_touched(steps: tuple[Path, set[str]]) -> None:
    _, touched = steps
    assert touched == {"capture/removal/removal.c", "capture/CMakeLists.txt"}
    assert len(touched) <= MOST_FILES


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
    counts = {
        Path(row["file"]).name: (row["files_removed"], row["folders_removed"]) for row in side["removals"]
    }
    assert counts == {"first": (1, 0), "second": (1, 0), "folder": (0, 1)}
    assert {row["rank"] for row in side["removals"]} == {0}
    assert run.record("POSIX", "first")["OPENS"] == 1  # the others count as before
