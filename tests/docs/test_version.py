"""The version is in one file; everything else that shows it reads that file."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess

import pytest
from known_logs import REPOSITORY

import workalike
from workalike.version import VERSION


def test_version_is_in_one_place() -> None:
    listed = subprocess.run(
        [
            "git",
            "grep",
            "--untracked",
            "-lF",
            VERSION,
            "--",
            "*.toml",
            "*.txt",
            "*.cff",
            "*.cmake",
            "src",
            "engine",
        ],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    if listed.returncode > 1:
        pytest.skip("the tree is not a git checkout")
    assert listed.stdout.split() == ["src/workalike/version.py"]


def test_package_has_it() -> None:
    assert workalike.__version__ == VERSION == importlib.metadata.version("workalike")


def test_engine_has_it() -> None:
    engine = REPOSITORY / ".venv" / "bin" / "workalike-engine"
    if not engine.exists():
        pytest.skip("the engine is not built")
    done = subprocess.run([str(engine), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"workalike-engine {VERSION}\n"


def test_changelog_has_it() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[?(\d+\.\d+\.\d+|Unreleased)\]?", text, flags=re.MULTILINE)
    assert headings[0] in ("Unreleased", VERSION)
    assert VERSION in headings[:2]
