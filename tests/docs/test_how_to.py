"""The steps of the pages of docs/how-to work in a copy of the tree, and touch no more files than promised."""

from __future__ import annotations

from pathlib import Path

import pytest
from how_to import apply_page, changed, copy_of_tree
from known_logs import REPOSITORY
from needed import needs_engine

HOW_TO = REPOSITORY / "docs" / "how-to"
MOST_FILES = {
    "add-a-launcher": 1,
    "add-an-exporter": 2,
    "add-a-rule": 2,
    "add-a-command": 2,
    "add-a-reading": 1,
    "change-a-finding": 1,
    "add-an-exit-code": 2,  # one is the table of documentation
}
"""Files touched beside tests and documentation."""
PAGES = list(MOST_FILES)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=needs_engine if n == "add-a-launcher" else ()) for n in PAGES]
)
def test_steps_work_and_touch_few_files(name: str, tmp_path: Path) -> None:
    done = apply_page(HOW_TO / f"{name}.md", copy_of_tree(tmp_path / "tree"))
    assert done.runs >= 2
    assert 1 <= len(done.touched) <= MOST_FILES[name], done.touched


def test_pages_are_listed() -> None:
    listed = (HOW_TO / "README.md").read_text(encoding="utf-8")
    for name in PAGES:
        assert f"({name}.md)" in listed


def test_change_that_does_not_fit_is_refused() -> None:
    assert changed("a\nb\n", " a\n-b\n+c\n", "x") == "a\nc\n"
    with pytest.raises(AssertionError, match="0 times"):
        changed("a\n", " b\n+c\n", "x")
    with pytest.raises(AssertionError, match="2 times"):
        changed("a\na\n", " a\n+c\n", "x")
