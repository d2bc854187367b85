"""The steps of the page on backends build engine and core with another backend, which counts, performs and verifies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from how_to import apply_page, copy_of_tree
from known_logs import REPOSITORY

HOW_TO = REPOSITORY / "docs" / "how-to"
MOST_FILES = 4


@pytest.mark.system  # compiles engine and core; without ccache that takes minutes
def test_a_backend_is_two_files_and_a_line(tmp_path: Path) -> None:
    needed = [program for program in ("cmake", "ninja", "mpiexec") if shutil.which(program) is None]
    if needed:
        pytest.skip(f"not installed: {', '.join(needed)}")
    tree = copy_of_tree(tmp_path / "tree")
    done = apply_page(HOW_TO / "add-a-backend.md", tree)
    assert done.runs >= 3
    assert len(done.touched) <= MOST_FILES, done.touched
    counted, performed = (
        json.loads((tree / folder / "run.json").read_text()) for folder in ("counted", "performed")
    )
    assert performed["backend"] == "listio"
    assert performed["verified"]["errors"] == 0 < performed["verified"]["bytes"]
    assert performed["dumps"][0]["counters"]["WRITES"] == 2 * 8  # one call per operation of 16 pieces
    assert counted["dumps"][0]["counters"]["WRITES"] == 2 * 8 * 16  # posix has one call per piece


def test_page_is_listed() -> None:
    assert "(add-a-backend.md)" in (HOW_TO / "README.md").read_text(encoding="utf-8")
