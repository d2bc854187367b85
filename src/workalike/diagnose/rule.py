"""What a rule is: how it sees its problem, what it needs, its parameters, and its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from workalike.diagnose.change import Change
from workalike.diagnose.costs import Cost
from workalike.diagnose.job import Job
from workalike.diagnose.parameters import Parameters as Parameters


class Answer(StrEnum):
    """What kind of answer a finding is."""

    PROBLEM = "problem"
    HARMLESS = "harmless"
    NOT_YOUR_FAULT = "not-your-fault"
    CANNOT_TELL = "cannot-tell"


class Sure(StrEnum):
    """How sure a finding is: counters prove it, they suggest it, or it is one reading of them."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Picture(StrEnum):
    """What a small picture beside a finding shows of its files."""

    NOTHING = "nothing"
    SIZES = "sizes"
    """Operations by their size."""
    RANKS = "ranks"
    """Time of each rank."""


@dataclass(frozen=True)
class Seen:
    """What a rule saw.

    `summary` is one sentence with numbers, `families` are the numbers of the file families, `evidence` has the numbers
    by name. `advice` replaces the rule's own, where the case decides it. `assumes` is what the log does not tell.
    `uses` are modules that this finding's numbers come from, beside those that the rule names.
    """

    summary: str
    cost: Cost
    families: tuple[int, ...]
    evidence: dict[str, float]
    sure: Sure = Sure.LIKELY
    advice: str = ""
    answer: Answer | None = None
    assumes: str = ""
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class CannotTell:
    """The log lacks something that the rule needs."""

    reason: str


Found = Sequence[Seen] | CannotTell


@dataclass(frozen=True)
class Rule:
    """One rule.

    `needs` are modules: without one of them the rule cannot tell. `any_of` are modules of which one is enough.
    `uses` are further ones whose counters it takes where the log has them; those of timers are in each cost.
    With `shared_storage` its claim is about servers that nodes share: it looks at `Job.on_shared` instead of `Job.own`.
    `changes` are what `--try` measures. `explained_by` are rules that are the cause where both see the same family: this one then is their evidence.
    """

    id: str
    title: str
    seen_as: str
    costs: str
    advice: str
    find: Callable[[Job, Any], Found]
    parameters: type[Parameters] = Parameters
    needs: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    shared_storage: bool = False
    explained_by: tuple[str, ...] = ()
    answer: Answer = Answer.PROBLEM
    snippet: str = ""
    language: str = ""
    other_snippets: Mapping[str, str] = field(default_factory=dict)
    """The same change in other languages, where they have the call: language -> text."""
    source: str = ""
    changes: tuple[Change, ...] = ()
    picture: Picture = Picture.NOTHING
    not_this: str = field(default="")
    """When the same counters mean something else, and the rule is silent."""
