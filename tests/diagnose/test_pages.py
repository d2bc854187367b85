"""The pages, the schema and the registry belong together."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workalike.diagnose import rules
from workalike.diagnose.pages import write_pages, write_schema
from workalike.diagnose.registry import all_rules, rule_of
from workalike.errors import WorkalikeError

ROOT = Path(__file__).parents[2]
MADE_OTHERWISE = {"known-logs.md"}


def test_the_pages_are_those_of_the_rules(tmp_path: Path) -> None:
    write_pages(tmp_path)
    kept = {path.name: path.read_text() for path in (ROOT / "docs" / "findings").glob("*.md")}
    made = {path.name: path.read_text() for path in tmp_path.glob("*.md")}
    again = "run python -m workalike.diagnose.pages docs/findings"
    assert {name: text for name, text in kept.items() if name not in MADE_OTHERWISE} == made, again


def test_the_schema_is_that_of_the_document(tmp_path: Path) -> None:
    write_schema(tmp_path / "x.json")
    kept = json.loads((ROOT / "schema" / "diagnosis.schema.json").read_text())
    assert kept == json.loads((tmp_path / "x.json").read_text())


def test_every_file_is_a_rule_of_its_name() -> None:
    files = {path.stem for path in Path(rules.__file__).parent.glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in all_rules()} == files
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in all_rules())


def test_causes_are_rules() -> None:
    assert {cause for rule in all_rules().values() for cause in rule.explained_by} <= set(all_rules())


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(WorkalikeError, match="no rule 'smal-writes'"):
        rule_of("smal-writes")


def test_snippets_fit_a_terminal_behind_their_bar() -> None:
    for rule in all_rules().values():
        for snippet in (rule.snippet, *rule.other_snippets.values()):
            assert max(map(len, snippet.splitlines()), default=0) <= 74, rule.id


def test_snippets_are_in_fortran_and_python_where_these_have_the_call() -> None:
    both = {"fortran", "python"}
    assert sum(set(rule.other_snippets) == both for rule in all_rules().values()) >= 8
    assert {name for rule in all_rules().values() for name in rule.other_snippets} <= both


def test_rules_whose_change_is_a_call_show_it() -> None:
    """The others are questions of correctness, of the machine, or of how long a run is."""
    without = {
        "checkpoint-interval", "close-flushes", "conflict", "metadata-share", "partial-log", "possible-conflict",
        "reads-from-memory", "slow-rank", "slower-than-its-past", "small-sequential",
    }  # fmt: skip
    assert {rule.id for rule in all_rules().values() if not rule.snippet} == without
