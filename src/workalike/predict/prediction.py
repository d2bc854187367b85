"""A plan -> the determined counters of a log of its run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from workalike import _core
from workalike.darshan import layouts
from workalike.facts.records import MODULE_OF_LEVEL, IntArray
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan
from workalike.predict.determined import EFFECTIVE, Counters, Determined
from workalike.predict.names_lost import NamesLost
from workalike.workload.words import Role

Key = tuple[Role, int]
"""A family: its role and number."""

MOST_CALLS = 50_000_000
"""Rows of equal transfers and other calls of all ranks that are looked at; a plan with more is not predicted."""


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
        most: rows of equal transfers at equal distances, and other calls, that are looked at.
        apart: for each family, whether the log has a record of each rank instead of a reduced one.

    Returns:
        Without families that have more than `most`: of random order, or of a damaged log without end.
    """
    if not plan.families:
        return {}
    core = core_plan(plan)
    try:
        found_in = core.predict(alignments, most, list(apart))
    except _core.PlanError:
        return _one_by_one(plan, alignments, most, apart)
    out: dict[Key, dict[str, Determined]] = defaultdict(dict)
    names_lost: dict[Key, Counters] = {}
    lost = NamesLost(plan, core)
    for module, records in found_in.items():
        names = layouts.FIXED[module].current.counters
        for place, of_family in _by_family(records["family"]):
            family = plan.families[place]
            found = out[(family.role, family.number)].setdefault(module, Determined())
            found.add_records(module, records["counters"][of_family], names)
            if plan.ranks > 1 and (records["ranks"][of_family] == plan.ranks).all():
                found.counters[EFFECTIVE] = int(records["effective_ranks"][of_family].round().sum())
            if module == MODULE_OF_LEVEL[family.level]:
                files = {records["file"][row] for row in of_family.tolist()}
                names_lost[(family.role, family.number)] = lost.by_family(family, files)
    for key, counters in names_lost.items():  # a log has them beside POSIX, also of files used as streams
        if counters:
            out[key].setdefault("POSIX", Determined(complete=False)).counters.update(counters)
    return out


def _one_by_one(
    plan: Plan, alignments: list[int], most: int, apart: Sequence[bool]
) -> dict[Key, dict[str, Determined]]:
    """The families of a large plan, each by itself, as far as each has no more than `most`."""
    out: dict[Key, dict[str, Determined]] = {}
    if len(plan.families) == 1:
        return out
    for place, family in enumerate(plan.families):
        dumps = [dump for dump in plan.dumps if dump.family == family.id]
        alone = plan.model_copy(update={"families": [family], "dumps": dumps})
        alone.tables.update(plan.tables)
        out |= predicted(alone, alignments[place : place + 1], most, apart[place : place + 1])
    return out


def _by_family(families: IntArray) -> Iterator[tuple[int, IntArray]]:
    """The rows of each family that has any, by its position in the plan."""
    order = np.argsort(families, kind="stable")
    places, begins = np.unique(families[order], return_index=True)
    if not len(places):
        return
    yield from zip(places.tolist(), np.split(order, begins[1:]), strict=True)
