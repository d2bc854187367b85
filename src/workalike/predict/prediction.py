"""A plan -> the determined counters of a log of its run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from workalike import _core
from workalike.darshan import layouts
from workalike.facts.records import MODULE_OF_LEVEL, IntArray
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan, PlanFamily
from workalike.predict.determined import EFFECTIVE, REMOVALS, Counters, Determined
from workalike.workload.words import Role

Key = tuple[Role, int]
"""A family: its role and number."""

MOST_CALLS = 50_000_000
"""Calls of a plan that are looked at one by one; a plan with more is not predicted."""


def has_more_calls(core: _core.Plan, most: int) -> bool:
    """Whether all ranks of a plan make more calls than `most`, such as those of a damaged log without end."""
    try:
        counts = core.count(most=most)
    except _core.PlanError:
        return True
    return sum(int(column.sum()) for name, column in counts.items() if name.startswith("calls_")) > most


def predicted(
    plan: Plan, alignments: list[int], most: int = MOST_CALLS, apart: Sequence[bool] = ()
) -> dict[Key, dict[str, Determined]]:
    """What a log of a run of the plan would hold, by family and module.

    Args:
        plan: the plan.
        alignments: FILE_ALIGNMENT of each family's files, bytes, in the plan's order; 0: unknown.
        most: calls that are looked at.
        apart: for each family, whether the log has a record of each rank instead of a reduced one.

    Returns:
        Nothing where the plan has more than `most` calls.
    """
    if not plan.families:
        return {}
    core = core_plan(plan)
    if has_more_calls(core, most):
        return {}
    out: dict[Key, dict[str, Determined]] = defaultdict(dict)
    names_lost: dict[Key, Counters] = {}
    for module, records in core.predict(alignments, most, list(apart)).items():
        names = layouts.FIXED[module].current.counters
        for place, family in enumerate(plan.families):
            is_its = records["family"] == place
            of_family: IntArray = records["counters"][is_its]
            if len(of_family):
                found = out[(family.role, family.number)].setdefault(module, Determined())
                found.add_records(module, of_family, names)
                if plan.ranks > 1 and (records["ranks"][is_its] == plan.ranks).all():
                    found.counters[EFFECTIVE] = int(records["effective_ranks"][is_its].round().sum())
                if module == MODULE_OF_LEVEL[family.level]:
                    numbers = records["family"].tolist()
                    files = {
                        file for file, number in zip(records["file"], numbers, strict=True) if number == place
                    }
                    names_lost[(family.role, family.number)] = _names_lost(plan, family, len(files))
    for key, counters in names_lost.items():  # a log has them beside POSIX, also of files used as streams
        if counters:
            out[key].setdefault("POSIX", Determined(complete=False)).counters.update(counters)
    return out


def _is_one_file(family: PlanFamily) -> bool:
    """Whether the library has one name in the file system for each file of the family."""
    return family.backend != "adios2" and not (family.hdf5 is not None and family.hdf5.subfiling)


def _names_lost(plan: Plan, family: PlanFamily, files: int) -> Counters:
    """How many of a family's files are renamed, and how many are deleted where none is renamed."""
    if family.rename or family.backup:
        dumps = sum(dump.family == family.id for dump in plan.dumps)
        newest = files // dumps if family.backup else 0  # the last dump's keep their name
        return {"RENAME_SOURCES": files - newest}
    if not _is_one_file(family):
        return {}
    numbers = len({dump.file for dump in plan.dumps if dump.family == family.id})
    kept = 0 if family.removed else min(family.keep or numbers, numbers)
    return {REMOVALS: files * (numbers - kept) // numbers}
