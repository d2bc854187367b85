"""Rules: each word has a sentence that its details complete, and no code depends on the sentence."""

from __future__ import annotations

import ast
import string
from itertools import chain
from pathlib import Path

import pytest

import workalike
from workalike.characterize import rules
from workalike.facts.rules import LevelRule, NoiseRule, Rule, by

LISTS = (
    LevelRule,
    NoiseRule,
    rules.RoleRule,
    rules.StatesRule,
    rules.StateSizesRule,
    rules.TunableRule,
    rules.ModelRule,
)
EVERY = list(chain.from_iterable(LISTS))


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: f"{type(rule).__name__}-{rule}")
def test_a_sentence_is_completed_by_its_details(rule: Rule) -> None:
    names = [name for _, name, _, _ in string.Formatter().parse(rule.sentence) if name]
    sentence = by(rule, **dict.fromkeys(names, 7)).sentence
    assert "{" not in sentence
    assert sentence.count("7") >= len(names)


def test_sentences_differ() -> None:
    assert len({rule.sentence for rule in EVERY}) == len(EVERY)


def test_decisions_with_equal_details_are_equal() -> None:
    assert by(LevelRule.LOWEST, level="posix") == by(LevelRule.LOWEST, level="posix")
    assert by(LevelRule.LOWEST, level="posix") != by(LevelRule.LOWEST, level="mpiio")


def test_no_code_depends_on_a_sentence() -> None:
    """No code compares with, or searches in, sentences of rules and reasons of noise."""
    read = {rule.sentence for rule in EVERY}
    found = []
    for path in Path(workalike.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                texts = [
                    part.value
                    for side in (node.left, *node.comparators)
                    for part in ast.walk(side)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) > 3
                ]
                found += [
                    f"{path}: {t}" for t in texts if any(t in sentence for sentence in read) and " " in t
                ]
                found += [
                    f"{path}:{node.lineno} reads a sentence"
                    for side in node.comparators
                    if isinstance(side, ast.Attribute) and side.attr in ("sentence", "rule")
                    for operator in node.ops
                    if isinstance(operator, ast.In | ast.NotIn)
                ]
    assert found == []
