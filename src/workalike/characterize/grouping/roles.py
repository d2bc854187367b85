"""The roles of families: by words in file names where there are any, else by behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workalike.characterize.grouping.families import DataFile
from workalike.characterize.rules import RoleRule
from workalike.facts import naming
from workalike.facts.counters import operations_of
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import Direction, Level, Role

LEVELS_WITHOUT_COLLECTIVES = (Level.POSIX, Level.STDIO)


@dataclass(frozen=True)
class Behaviour:
    """The input of the rules below: a family's files and what is done with them."""

    files: Sequence[DataFile]
    dumps: int  # those that are only read back afterwards are not among them
    one_file_many_states: bool
    share_of_writes: float  # share of the job's written bytes


def decide_role(behaviour: Behaviour) -> tuple[Role, RoleRule]:
    """The role, and the rule that decided."""
    directions = frozenset().union(*(d.moving for d in behaviour.files))
    named = naming.role_by_name([d.file for d in behaviour.files])
    if not directions:
        return named or Role.OTHER, RoleRule.NAME if named is not None else RoleRule.NO_DATA
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
    minor = behaviour.share_of_writes < THRESHOLDS.role_checkpoint
    if behaviour.one_file_many_states and minor and _line_by_line(behaviour.files):
        return Role.LOG, RoleRule.LINES
    if behaviour.one_file_many_states:
        return Role.VISUALIZATION, RoleRule.APPENDED
    if behaviour.dumps >= 2 and behaviour.share_of_writes >= THRESHOLDS.role_checkpoint:
        return Role.CHECKPOINT, RoleRule.MOST_WRITTEN
    if behaviour.dumps >= 2:
        return Role.VISUALIZATION, RoleRule.LESS_WRITTEN
    return Role.OUTPUT, RoleRule.WRITTEN_ONCE


def _reads_own_writes(files: Sequence[DataFile]) -> bool:
    return all(d.read and d.written and d.ranks.ranks is not None and len(d.ranks.ranks) == 1 for d in files)


def _line_by_line(files: Sequence[DataFile]) -> bool:
    """Whether the operations are as small as lines of text; libraries of data write no text."""
    if any(d.level not in LEVELS_WITHOUT_COLLECTIVES for d in files):
        return False
    written = sum(d.written for d in files)
    operations = sum(operations_of(d.file.modules[MODULE_OF_LEVEL[d.level]], Direction.WRITE) for d in files)
    return written <= THRESHOLDS.role_line * operations
