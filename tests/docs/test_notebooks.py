"""The notebooks run from their first cell to their last, and lie in the repository without outputs."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from known_logs import REPOSITORY
from nbclient import NotebookClient
from needed import needs_engine, needs_mpiexec

NOTEBOOKS = REPOSITORY / "examples" / "notebooks"
NAMES = ("tutorial", "study", "fleet")
LIMIT_S = 240
"""For one cell, on a machine that others use, too."""
HIDE_MATPLOTLIB = "import sys\n\nsys.modules['matplotlib'] = None\n"


def copied(tmp_path: Path, name: str) -> Path:
    """A notebook in a copy of what it reads, at the places where it expects that."""
    shutil.copytree(REPOSITORY / "tests" / "data", tmp_path / "tests" / "data")
    folder = tmp_path / "examples" / "notebooks"
    folder.mkdir(parents=True)
    shutil.copy(NOTEBOOKS / f"{name}.ipynb", folder)
    return folder / f"{name}.ipynb"


def executed(path: Path) -> Any:
    """The notebook after all its cells have run; an error in a cell ends the test."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=LIMIT_S, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    return client.execute()


def shown(notebook: Any) -> str:
    """All text that the cells print."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def pictures(notebook: Any) -> int:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.fixture(autouse=True)
def quiet_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel with settings of its own, as wide as a page."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    monkeypatch.setenv("COLUMNS", "100")


def hide_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No process that is started from here on finds matplotlib."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(HIDE_MATPLOTLIB)
    path = os.pathsep.join(filter(None, [str(tmp_path / "hidden"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)


@needs_engine
@needs_mpiexec
def test_tutorial_ends_with_a_verdict(tmp_path: Path) -> None:
    notebook = executed(copied(tmp_path, "tutorial"))
    assert "verdict: exact" in shown(notebook)
    assert pictures(notebook) == 1


@needs_engine
@needs_mpiexec
def test_tutorial_does_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_matplotlib(monkeypatch, tmp_path)
    notebook = executed(copied(tmp_path, "tutorial"))
    assert "No picture: matplotlib is not installed." in shown(notebook)
    assert "verdict: exact" in shown(notebook)
    assert pictures(notebook) == 0


@needs_engine
@needs_mpiexec
def test_study_shows_its_trials_and_their_means(tmp_path: Path) -> None:
    text = shown(executed(copied(tmp_path, "study")))
    assert text.count("  ok  ") == 12
    assert text.count(" ms, 3 trials") == 4


def test_study_says_what_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_matplotlib(monkeypatch, tmp_path)
    assert "No study: matplotlib not installed." in shown(executed(copied(tmp_path, "study")))


def test_fleet_shows_a_query_and_a_chart(tmp_path: Path) -> None:
    notebook = executed(copied(tmp_path, "fleet"))
    assert "60 ingested" in shown(notebook)
    assert "rank-hours" in shown(notebook)
    assert pictures(notebook) == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_outputs_are_kept(name: str) -> None:
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs
            assert cell.execution_count is None


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_stands_before_each_cell(name: str) -> None:
    cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
    for before, cell in pairwise(cells):
        if cell.cell_type == "code":
            assert before.cell_type == "markdown"


def test_all_are_listed() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(NAMES)
    page = (REPOSITORY / "docs" / "notebooks.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"{name}.ipynb" in page
