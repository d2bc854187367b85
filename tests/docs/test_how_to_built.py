"""The pages on a role and on a setting of HDF5: their steps build the core or the engine, and what is new reaches it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from how_to import apply_page, copy_of_tree
from known_logs import REPOSITORY

HOW_TO = REPOSITORY / "docs" / "how-to"
MOST_SOURCES = {"add-a-role": 7, "add-an-hdf5-setting": 7}
"""Sources touched, beside tests, the generated schemas and documentation."""
NEEDED = {"add-a-role": ("cmake", "ninja"), "add-an-hdf5-setting": ("cmake", "ninja", "mpiexec", "h5pcc")}


@pytest.mark.system  # compiles the core and, for HDF5, the engine; without ccache that takes minutes
@pytest.mark.parametrize("name", MOST_SOURCES)
def test_steps_build_and_reach_the_core(name: str, tmp_path: Path) -> None:
    absent = [program for program in NEEDED[name] if shutil.which(program) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")
    done = apply_page(HOW_TO / f"{name}.md", copy_of_tree(tmp_path / "tree"))
    sources = {path for path in done.touched if path.startswith(("src/", "engine/"))}
    assert done.runs >= 4
    assert 1 <= len(sources) <= MOST_SOURCES[name], sources
    assert all(path.startswith("docs/") for path in done.touched - sources), done.touched


def test_pages_are_listed() -> None:
    listed = (HOW_TO / "README.md").read_text(encoding="utf-8")
    for name in MOST_SOURCES:
        assert f"({name}.md)" in listed
