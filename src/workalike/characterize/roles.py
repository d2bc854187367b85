"""The roles of families: by words in file names where there are any, else by behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.families import DataFile
from workalike.characterize.rules import RoleRule
from workalike.facts import naming
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Role


@dataclass(frozen=True)
class Behaviour:
    """The input of the rules below: a family's files and what is done with them."""

    files: Sequence[DataFile]
    events: int
    one_file_many_states: bool
    share_of_writes: float  # share of the job's written bytes


def decide_role(behaviour: Behaviour) -> tuple[Role, RoleRule]:
    """The role, and the rule that decided."""
    directions = frozenset().union(*(d.directions for d in behaviour.files))
    named = naming.role_by_name([d.file for d in behaviour.files])
    if directions == {Direction.READ}:
        if named is Role.CHECKPOINT:
            return Role.RESTART, RoleRule.CHECKPOINT_ONLY_READ
        return Role.INPUT, RoleRule.ONLY_READ
    if named is Role.INPUT:
        named = None
    if named is not None:
        return named, RoleRule.NAME
    if Direction.READ in directions and _reads_own_writes(behaviour.files):
        return Role.SCRATCH, RoleRule.READ_BACK
    if behaviour.one_file_many_states:
        return Role.VISUALIZATION, RoleRule.APPENDED
    if behaviour.events >= 2 and behaviour.share_of_writes >= THRESHOLDS.role_checkpoint:
        return Role.CHECKPOINT, RoleRule.MOST_WRITTEN
    if behaviour.events >= 2:
        return Role.VISUALIZATION, RoleRule.LESS_WRITTEN
    return Role.OUTPUT, RoleRule.WRITTEN_ONCE


def _reads_own_writes(files: Sequence[DataFile]) -> bool:
    return all(d.read and d.written and d.ranks.ranks is not None and len(d.ranks.ranks) == 1 for d in files)
