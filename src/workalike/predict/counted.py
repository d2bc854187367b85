"""A plan -> the determined counters of datasets: what the core counts at the level of a library."""

from __future__ import annotations

from typing import Any

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.counters import SUMS
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.plan.core import core_plan, counts_of
from workalike.plan.meshes import bytes_of_plan
from workalike.plan.plan_schema import Plan, PlanContent
from workalike.predict.determined import RULES, Counters, Determined
from workalike.predict.prediction import MOST_CALLS, Key, has_more_calls
from workalike.workload.words import Direction

OF_DATASETS = ("H5D", "PNETCDF_VAR")
"""Modules whose records count what is done with datasets; `predicted` has the others."""


def counted(plan: Plan, most: int = MOST_CALLS) -> dict[Key, Determined]:
    """What the records of `OF_DATASETS` of a run of the plan would add up to, by family.

    Where a content states bytes alone (`fit`, a mesh), the library decides how many operations move them, and only its
    bytes are determined.

    Args:
        plan: the plan.
        most: calls that are looked at.

    Returns:
        The families that are counted at such a level; nothing where the plan has more than `most` calls.
    """
    modules = {f.id: MODULE_OF_LEVEL[f.level] for f in plan.families}
    if not any(module in OF_DATASETS for module in modules.values()):
        return {}
    core = core_plan(plan)
    if has_more_calls(core, most):
        return {}
    columns = {name: column.tolist() for name, column in counts_of(core).items()}
    totals: dict[int, Counters] = {number: {} for number, module in modules.items() if module in OF_DATASETS}
    stated = set()
    for row, dump in enumerate(plan.dumps):
        if dump.family not in totals:
            continue
        content = plan.contents[dump.content]
        moved = _stated_bytes(content)
        if moved is not None:
            stated.add(dump.family)
        of_dump = {name: values[row] for name, values in columns.items()} | (moved or {})
        of_family = totals[dump.family]
        for name, value in _in_words(of_dump, modules[dump.family]).items():
            of_family[name] = of_family.get(name, 0) + value
    return {
        (f.role, f.number): Determined(
            {n: v for n, v in totals[f.id].items() if f.id not in stated or n.startswith("BYTES")},
            complete=False,
        )
        for f in plan.families
        if f.id in totals
    }


def _stated_bytes(content: PlanContent) -> Counters | None:
    """The bytes of a content that states them alone."""
    if content.fit is not None:
        return {"BYTES_WRITTEN": content.fit.bytes}
    if content.mesh is None:
        return None
    writes = content.mesh.direction is Direction.WRITE
    return {"BYTES_WRITTEN" if writes else "BYTES_READ": bytes_of_plan(content.mesh)}


def _in_words(counts: dict[str, Any], module: str) -> Counters:
    """The core's counts of a dump by the names of the module's determined counters."""
    out = {name: counts[name] for name in RULES[module].counters if name in counts}
    for name, terms in SUMS.get(module, {}).items():
        out["+".join(terms)] = counts[name]
    if module == "H5D":
        for kind in ("READ", "WRITE"):
            bins = counts[f"SIZE_{kind}"]
            out |= {f"SIZE_{kind}_AGG_{name}": bins[place] for place, name in enumerate(SIZE_BINS)}
    return out
