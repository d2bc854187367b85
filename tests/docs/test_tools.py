"""The tools of the repository report what they did not do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from known_logs import REPOSITORY

UNFORMATTED = "int  main( ){return 0;}\n"
NEEDED = ("sh", "dirname", "find", "xargs", "env")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one C source; PATH has only what the script itself needs."""
    for folder in ("tools", "engine", "capture", "path"):
        (tmp_path / folder).mkdir()
    shutil.copy(REPOSITORY / "tools" / "check-cpp", tmp_path / "tools")
    shutil.copy(REPOSITORY / ".clang-format", tmp_path)
    (tmp_path / "engine" / "a.cpp").write_text(UNFORMATTED)
    for name in NEEDED:
        found = shutil.which(name)
        assert found, name
        (tmp_path / "path" / name).symlink_to(found)
    return tmp_path


def check_cpp(tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(tree / "tools" / "check-cpp"), *options]
    return subprocess.run(command, env={"PATH": str(tree / "path")}, capture_output=True, text=True)


def test_check_cpp_without_a_formatter_fails_and_says_what_to_do(tree: Path) -> None:
    done = check_cpp(tree)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "make build" in done.stderr


def test_check_cpp_sees_and_fixes_what_is_not_formatted(tree: Path) -> None:
    formatter = REPOSITORY / ".venv" / "bin" / "clang-format"
    if not formatter.exists():
        pytest.skip("no wheel of clang-format here")
    # The wheel's command is a Python script: it is called by its full name, so that PATH may stay empty.
    (tree / "path" / "clang-format").write_text(f'#!/bin/sh\nexec {formatter} "$@"\n')
    (tree / "path" / "clang-format").chmod(0o755)
    assert check_cpp(tree).returncode != 0
    assert check_cpp(tree, "--fix").returncode == 0
    assert (tree / "engine" / "a.cpp").read_text() != UNFORMATTED
    assert check_cpp(tree).returncode == 0


def test_every_target_of_the_help_has_a_rule() -> None:
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    shown = subprocess.run(
        ["make", "-s", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    words = shown.replace(",", " ").replace(";", " ").replace(":", " ").split()
    named = {words[i + 1] for i, word in enumerate(words[:-1]) if word == "make"}
    rules = {line.split(":")[0] for line in text.splitlines() if line and line[0].isalpha() and ":" in line}
    assert named <= rules
    phony = next(line for line in text.splitlines() if line.startswith(".PHONY:")).split()[1:]
    assert set(phony) <= rules
