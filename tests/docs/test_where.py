"""docs/where.md: each file exists and holds the name that the page says, so that the page does not age."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| ([^|]+) \| `([^`]+)` \| `([^`]+)` \|$", re.M)
ROWS = ROW.findall((ROOT / "docs" / "where.md").read_text())


def test_the_page_has_the_changes_that_are_made_most() -> None:
    assert len(ROWS) >= 30 and len({change for change, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("change", "place", "name"), ROWS, ids=[change for change, _, _ in ROWS])
def test_the_file_holds_the_name(change: str, place: str, name: str) -> None:
    path = ROOT / place
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    assert files and any(name in file.read_text() for file in files), change
