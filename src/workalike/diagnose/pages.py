"""The page of a rule: `--explain RULE` prints it, and docs/findings holds it.

    python -m workalike.diagnose.pages DIR [SCHEMA]

writes all of them, and the JSON schema of a diagnosis.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from workalike.diagnose.finding import Diagnosis
from workalike.diagnose.registry import all_rules
from workalike.diagnose.rule import Answer, Rule
from workalike.exchange.schemas import DRAFT, schema_text
from workalike.files import write_text

OF_SHARED = (
    "It is about storage that nodes share: files on file systems of a node, or in its memory, are left out "
    "(`[storage]` of the site file has their types). Of a type that is in no list, shared storage is assumed, and said."
)


def page_of(rule: Rule) -> str:
    """The page of a rule in Markdown."""
    parts = [f"# {rule.id}: {rule.title}", "", _fill(rule.seen_as)]
    if rule.not_this:
        parts += ["", _fill(f"Silent: {rule.not_this}")]
    parts += ["", "## Cost", "", _fill(rule.costs)]
    if rule.answer is not Answer.PROBLEM:
        parts += ["", f"The answer is *{rule.answer.value}*: no gain is promised."]
    if rule.advice:
        parts += ["", "## What to change", "", _fill(rule.advice)]
    if rule.snippet:
        for language, snippet in {rule.language: rule.snippet, **rule.other_snippets}.items():
            parts += ["", f"```{language}", snippet.strip("\n"), "```"]
    if rule.changes:
        parts += ["", "## Measured by `--try`", ""]
        parts += [_fill(f"* `{change.name}`: {change.says}", "  ") for change in rule.changes]
    if rule.needs or rule.any_of:
        need = " and ".join(rule.needs) or f"one of {', '.join(rule.any_of)}"
        parts += ["", "## Needs", "", f"Modules of the log: {need}. Otherwise the answer is *cannot-tell*."]
    if rule.uses:
        parts += ["", f"Used where the log has them: {', '.join(rule.uses)}."]
    if rule.shared_storage:
        parts += ["", _fill(OF_SHARED)]
    fields = rule.parameters.model_fields
    if fields:
        parts += [
            "",
            f"## Parameters of the site file: `[{rule.id}]`",
            "",
            "| name | default | meaning |",
            "|---|---|---|",
        ]
        parts += [f"| `{name}` | {field.default} | {field.description} |" for name, field in fields.items()]
    if rule.explained_by:
        causes = ", ".join(f"[{name}]({name}.md)" for name in rule.explained_by)
        parts += [
            "",
            "## Causes",
            "",
            _fill(f"Where one of these rules sees the same files, it is the cause: {causes}."),
        ]
    if rule.source:
        parts += ["", _fill(f"Source of the thresholds: {rule.source}")]
    return "\n".join(parts) + "\n"


def index_text() -> str:
    """The list of all rules."""
    rows = [f"| [{rule.id}]({rule.id}.md) | {rule.title} |" for rule in all_rules().values()]
    head = (
        "# Findings\n\nGenerated from `src/workalike/diagnose/rules/`, one file for each rule, by\n"
        "`python -m workalike.diagnose.pages docs/findings`.\nHow findings are weighed: [diagnose.md](../diagnose.md).\n\n"
    )
    return head + "| rule | finding |\n|---|---|\n" + "\n".join(rows) + "\n"


def _fill(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)


def write_pages(folder: Path) -> None:
    """Write the index and every page."""
    write_text(folder / "README.md", index_text())
    for rule in all_rules().values():
        write_text(folder / f"{rule.id}.md", page_of(rule))


def write_schema(path: Path) -> None:
    """Write the JSON schema of a diagnosis."""
    schema = Diagnosis.model_json_schema(mode="serialization")
    write_text(path, schema_text({"$schema": DRAFT, **schema, "title": "workalike diagnosis"}))


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        write_schema(Path(sys.argv[2]))
