"""Nonblocking calls of MPI-IO: counters of a file say how many of its calls are."""

from __future__ import annotations

from dataclasses import replace

from workalike.characterize.result import FamilyFacts
from workalike.facts.counters import collective_of, kind_of, operations_of
from workalike.workload.model import Content, Direction, Interface, Level


def posted(facts: FamilyFacts) -> FamilyFacts:
    """The family with nonblocking streams where none of its independent calls of a direction is another one."""
    family = facts.family
    if family.interface is not Interface.MPIIO or family.counted_at is not Level.MPIIO:
        return facts
    directions = {direction for direction in Direction if _all_posted(facts, direction)}
    if not directions:
        return facts
    changed = [_posted(content, directions) for content in family.all_contents()]
    update: dict[str, object] = {"content": changed[0]} if family.content else {"contents": changed}
    return replace(facts, family=family.model_copy(update=update))


def _all_posted(facts: FamilyFacts, direction: Direction) -> bool:
    modules = [file.modules["MPI-IO"] for file in facts.files() if "MPI-IO" in file.modules]
    calls = sum(module.total(f"NB_{kind_of(direction)}S") for module in modules)
    independent = sum(operations_of(m, direction) - collective_of(m, direction) for m in modules)
    return 0 < calls == independent


def _posted(content: Content, directions: set[Direction]) -> Content:
    table = content.table
    if table is not None:
        moves = {direction for direction in Direction if table.operations(direction)}
        return content.model_copy(
            update={"table": table.model_copy(update={"nonblocking": moves <= directions})}
        )
    streams = [
        stream.model_copy(update={"nonblocking": True})
        if stream.direction in directions and not stream.collective and stream.pieces == 1
        else stream
        for stream in content.streams
    ]
    return content.model_copy(update={"streams": streams})
