"""Files that our engine writes, in both patterns. Its test program fills arrays with numbers that are no graph and no
material, so what is said about values is expected there; structure must be sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.typhonio_files import KINDS, run_program
from workalike.typhonio.child import answer

PATTERNS = ("faithful", "optimised")
# What the test program's numbers cannot be: names of the arrays that hold them.
VALUES = (
    "TIO_MESH_NODEIDS",
    "TIO_MESH_CELLS_PER_SHAPE",
    "TIO_MESH_CONNECTIVITY",
    "materials/TIO_DATA",
    "materials/TIO_PTR",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_worked_example(pattern: str, tmp_path: Path) -> None:
    run_program(pattern, tmp_path / "a.h5", "worked")
    found = answer(str(tmp_path / "a.h5"))
    assert (found["counts"]["error"], found["counts"]["warning"]) == (0, 0), found["findings"]
    assert [child["name"] for child in found["tree"]["children"][0]["children"]] == ["mesh", "dt"]
    # Optimised tables are contiguous: only what the library would append is at stake.
    assert found["counts"]["note"] == (pattern == "optimised")


@pytest.mark.mpi
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", KINDS)
def test_meshes(pattern: str, kind: str, tmp_path: Path) -> None:
    for dimensions in (1, 2, 3):
        path = tmp_path / f"{dimensions}.h5"
        run_program(pattern, path, "mesh", kind, dimensions, ranks=2)
        findings = [f for f in answer(str(path))["findings"] if f["level"] != "note"]
        other = [
            f
            for f in findings
            if not f["place"].endswith(VALUES) and "values at wrong nodes" not in f["what"]
        ]
        assert not other
