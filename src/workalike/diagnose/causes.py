"""One cause, one finding: what rules saw of the same family becomes evidence of its cause; ranking is by time."""

from __future__ import annotations

from dataclasses import dataclass, field

from workalike.diagnose.costs import Cost, larger
from workalike.diagnose.rule import Rule, Seen


@dataclass
class Story:
    """A cause with what else was seen of it."""

    rule: Rule
    seen: Seen
    cost: Cost
    also: list[tuple[Rule, Seen]] = field(default_factory=list)


ENOUGH = 0.5
"""A cause explains what another rule saw if its own time is at least this share of the other's."""


def stories(found: list[tuple[Rule, Seen]]) -> list[Story]:
    """The causes among what the rules saw, the one that explains most time first."""
    roots = [_root(at, found) for at in range(len(found))]
    out = {at: Story(*found[at], cost=found[at][1].cost) for at in range(len(found)) if roots[at] == at}
    for at, root in enumerate(roots):
        if at != root:
            out[root].also.append(found[at])
            out[root].cost = larger(out[root].cost, found[at][1].cost)
    return sorted(out.values(), key=lambda s: (-weight(s.cost), s.rule.id))


def weight(cost: Cost) -> float:
    """The larger of the two shares that decide the severity."""
    ranks, run_time = cost.terms.get("ranks", 1.0), cost.terms.get("run_time_s", 0.0)
    return max(cost.rank_seconds / (ranks * run_time), cost.slowest_s / run_time) if run_time > 0 else 0.0


def _root(at: int, found: list[tuple[Rule, Seen]]) -> int:
    visited = {at}
    while True:
        parent = _cause_of(at, found)
        if parent is None or parent in visited:
            return at
        visited.add(parent)
        at = parent


def _cause_of(at: int, found: list[tuple[Rule, Seen]]) -> int | None:
    """The first of the rules that explain this one, seen on one of its families with enough time."""
    rule, seen = found[at]
    for name in rule.explained_by:
        for other, (candidate, its) in enumerate(found):
            same = set(its.families) & set(seen.families)
            if candidate.id == name and same and weight(its.cost) >= ENOUGH * weight(seen.cost):
                return other
    return None
