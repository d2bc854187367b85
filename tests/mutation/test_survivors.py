"""The explained survivors: each names a line of code that exists."""

from __future__ import annotations

from pathlib import Path

import mutation_score
import pytest
import yaml

ENTRIES = yaml.safe_load(mutation_score.EXPLAINED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry['file']} {entry['change']}")
def test_an_explained_line_exists_and_is_found(entry: dict[str, str]) -> None:
    path = Path("src/workalike") / entry["file"]
    lines = (mutation_score.ROOT / path).read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.strip() == entry["code"]]
    verdict = {"file": str(path), "line": number, "what": entry["change"]}
    assert mutation_score.reason(verdict) == entry["why"]
    assert mutation_score.reason({**verdict, "what": "another change"}) == ""
