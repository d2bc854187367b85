"""The explained survivors: each names a line of code that exists."""

from __future__ import annotations

import explained
import pytest
import score


@pytest.mark.parametrize("entry", explained.entries(), ids=lambda entry: f"{entry['file']} {entry['change']}")
def test_an_explained_line_exists_and_is_found(entry: dict[str, str]) -> None:
    path = explained.SOURCES / entry["file"]
    lines = path.read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.strip() == entry["code"]]
    assert explained.reason(path, number, entry["change"]) == entry["why"]
    assert explained.reason(path, number, "another change") == ""


def test_explained_mutants_are_not_run() -> None:
    """A sampled mutant that is explained is a survivor without a run, so its explanation must be of a real mutant."""
    path = explained.SOURCES / "facts" / "single_records.py"
    made = [make() for make in score.mutations_of(path.read_text(encoding="utf-8")).values()]
    found = [mutation for mutation in made if score.is_explained(score.Mutant("facts", path, mutation))]
    assert [mutation.what for mutation in found] == ["Lt for LtE: stamps <= limit"]
