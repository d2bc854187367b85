"""One defect at a time, each of which a release-built library reads silently or crashes on.

See docs/reference/typhonio-calls.md#defects.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from defects_of_structure import ATTRIBUTES, CHUNKS, REF_TABLES
from defects_of_values import ARRAYS, MATERIALS, QUANTS, VARIABLES
from typhonio_samples import make_file

from workalike.typhonio.child import answer

STRUCTURE = REF_TABLES | ATTRIBUTES | CHUNKS
VALUES = ARRAYS | QUANTS | MATERIALS | VARIABLES
DEFECTS = STRUCTURE | VALUES


@pytest.mark.parametrize("name", DEFECTS)
def test_defect(name: str, tmp_path: Path) -> None:
    defect = DEFECTS[name]
    path = make_file(tmp_path / "a.h5", defect.kind)
    with h5py.File(path, "r+") as file:
        defect.spoil(file)
    found = answer(str(path))
    hits = [
        f
        for f in found["findings"]
        if f["level"] == defect.level and f["place"].endswith(defect.place) and defect.what in f["what"]
    ]
    assert hits, found["findings"]
    assert all(f["hint"] for f in found["findings"])
