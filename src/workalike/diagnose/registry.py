"""All rules: every module of `rules/` has one `RULE`. A new rule is a new file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from workalike.diagnose import rules
from workalike.diagnose.rule import Rule
from workalike.errors import ErrorKind, WorkalikeError


@cache
def all_rules() -> dict[str, Rule]:
    """The rules by their id, in the order of their files' names."""
    found: dict[str, Rule] = {}
    for module in sorted(pkgutil.iter_modules(rules.__path__), key=lambda m: m.name):
        rule = importlib.import_module(f"{rules.__name__}.{module.name}").RULE
        found[rule.id] = rule
    return found


def rule_of(name: str) -> Rule:
    """The rule of an id.

    Raises:
        WorkalikeError: USAGE.
    """
    rule = all_rules().get(name)
    if rule is None:
        raise WorkalikeError(
            ErrorKind.USAGE, f"no rule {name!r}", hint=f"use one of {', '.join(all_rules())}"
        )
    return rule
