"""Families whose files lie in several folders, by the files' names.

Where files lie changes what their creation costs: in one folder of a local file system, ranks wait for each other. So a
replica has folders where the application has them. No counter tells them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath
from statistics import median_low

from workalike.characterize.result import FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.records import FileFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.family import Folders
from workalike.workload.model import SharingMode


def with_folders(facts: FamilyFacts) -> FamilyFacts:
    """The family with the folders of its files, where there are many files, and several folders."""
    files = facts.files()
    if len(files) < THRESHOLDS.folders_files:
        return facts
    folders = folders_of(files, own=facts.family.sharing.mode is SharingMode.PER_RANK)
    if folders is None:
        return facts
    family = facts.family.model_copy(update={"folders": folders})
    return replace(facts, family=family, rules=[*facts.rules, by(FileRule.FOLDERS)])


def folders_of(files: Collection[FileFacts], own: bool) -> Folders | None:
    """The folders of files, `own` of each rank; None where they lie in one, or unequally.

    They belong to ranks if none has files of two ranks. The number of files is the mean of all folders.
    """
    users: dict[PurePosixPath, set[int]] = defaultdict(set)
    numbers: Counter[PurePosixPath] = Counter()
    for file in files:
        if "/" not in file.name:
            return None  # the log has no path
        place = PurePosixPath(file.name).parent
        users[place].add(_rank_of(file) if own else 0)
        numbers[place] += 1
    ranks = set().union(*users.values())
    if max(numbers.values()) > THRESHOLDS.folders_unequal * median_low(numbers.values()):
        return None
    per_rank = len(ranks) > 1 and all(len(of_folder) == 1 for of_folder in users.values())
    number = len(users) if per_rank or not own else len(users) * len(ranks)
    is_one = len(users) == (len(ranks) if per_rank else 1)
    each = None if is_one else max(1, round(len(files) / number))
    return Folders(files=each, per_rank=per_rank) if each or per_rank else None


def _rank_of(file: FileFacts) -> int:
    """The lowest rank that has a record of a file."""
    return min(int(module.ranks.min()) for module in file.modules.values() if len(module.ranks))
