"""The accesses of a family, offset against order, as numbers: of a log's trace, or of a plan.

One dump is looked at, the first, since those after it are much alike; of a file that stays open, all of its dumps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workalike import _core
from workalike.compare.families import file_of_name, key_of_name
from workalike.compare.pairing import Pairing
from workalike.darshan import Log
from workalike.errors import WorkalikeError
from workalike.plan.core import core_plan
from workalike.plan.plan_schema import Plan, PlanFamily
from workalike.workload.model import Level, Lifetime

Int64s = npt.NDArray[np.int64]

MOST_RANKS = 16
"""Ranks that are shown, spread evenly over all."""
MOST_ACCESSES = 128
"""Accesses of a rank that are shown, its first."""
MOST_CALLS = 20_000
"""Calls of a rank in all of a plan; with more, its accesses are not looked up."""
TRACES = {Level.POSIX: "DXT_POSIX", Level.MPIIO: "DXT_MPIIO"}


@dataclass(frozen=True)
class Accesses:
    """What some ranks of `ranks` access, column by column: shape [n]. `order` counts each rank's accesses from 0."""

    ranks: int
    traced: bool
    rank: Int64s
    order: Int64s
    offset: Int64s
    length: Int64s
    writes: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rank)


Rows = list[tuple[int, Int64s, Int64s, npt.NDArray[np.bool_]]]
"""(rank, offsets, lengths, whether each is a write), in order."""


def of_original(pairing: Pairing, key: tuple[object, int]) -> Accesses | None:
    """The original's accesses: those of its trace, else those that the workload's plan has at full scale."""
    found = pairing.log
    facts = (
        next((f for f in found.families if (f.family.role, f.family.number) == key), None) if found else None
    )
    if found is not None and facts is not None and len(found.logs) == 1:
        dumps = facts.dumps[:1] if facts.family.lifetime is Lifetime.PER_DUMP else facts.dumps
        files = {file.record_id for dump in dumps for file in dump.files}
        traced = _traced(found.logs[0], facts.family.counted_at, files)
        if traced is not None:
            return traced
    return of_plan(pairing.full_plan, key)


def of_replica(pairing: Pairing, key: tuple[object, int]) -> Accesses | None:
    """The replica's accesses: those of the trace of its run, else those of its plan."""
    log, plan = pairing.replica_log, pairing.plan
    family = next((f for f in plan.families if (f.role, f.number) == key), None)
    if log is not None and len(log.logs) == 1 and family is not None:
        shown = {plan.dumps[place].file for place in _dumps_of(plan, family)}
        files = {
            number
            for number, name in log.logs[0].names.items()
            if key_of_name(name) == key and file_of_name(name) in shown
        }
        traced = _traced(log.logs[0], family.level, files)
        if traced is not None:
            return traced
    return of_plan(plan, key)


def of_plan(plan: Plan, key: tuple[object, int]) -> Accesses | None:
    """The accesses of a family in a plan; None where there are none, or too many to look at."""
    family = next((f for f in plan.families if (f.role, f.number) == key), None)
    if family is None:
        return None
    dumps = _dumps_of(plan, family)
    try:
        core = core_plan(plan)
        rows = list(_planned(core, plan.ranks, dumps))
    except (WorkalikeError, _core.PlanError):  # too many calls, or bytes that the library decides
        return None
    return _accesses(plan.ranks, rows, traced=False)


def _dumps_of(plan: Plan, family: PlanFamily) -> list[int]:
    """The places of the dumps that are shown."""
    places = [place for place, dump in enumerate(plan.dumps) if dump.family == family.id]
    return places[:1] if family.lifetime is Lifetime.PER_DUMP else places


def _planned(
    core: _core.Plan, ranks: int, dumps: Sequence[int]
) -> Iterator[tuple[int, Int64s, Int64s, npt.NDArray[np.bool_]]]:
    reads, writes = _core.kinds.index("read"), _core.kinds.index("write")
    for rank in _spread(range(ranks)):
        columns = core.operations(rank=rank, most=MOST_CALLS)
        kind = columns["kind"]
        shown = np.isin(kind, (reads, writes)) & np.isin(columns["dump"], dumps) & (columns["offset"] >= 0)
        place = np.flatnonzero(shown)[:MOST_ACCESSES]
        yield rank, columns["offset"][place], columns["length"][place], kind[place] == writes


def _traced(log: Log, level: Level, files: Collection[int]) -> Accesses | None:
    """The accesses of a trace at a level, in files by their record ids; None where they are not traced."""
    module = TRACES.get(level)
    table = log.dxt(module) if module is not None else None
    if table is None or not table.offsets_valid or not files:
        return None
    places = np.flatnonzero(np.isin(table.ids, np.array(sorted(files), dtype=np.uint64)))
    by_rank: dict[int, list[int]] = {}
    for place in places.tolist():
        by_rank.setdefault(int(table.ranks[place]), []).append(place)
    rows: Rows = []
    for rank in _spread(sorted(by_rank)):
        parts, writes = [], []
        for place in by_rank[rank]:
            for segments, is_write in zip(table.segments(place), (True, False), strict=True):
                parts.append(segments[["offset", "length", "start"]])
                writes.append(np.full(len(segments), is_write))
        all_segments, all_writes = np.concatenate(parts), np.concatenate(writes)
        first = np.argsort(all_segments["start"], kind="stable")[:MOST_ACCESSES]
        chosen = all_segments[first]
        rows.append((rank, chosen["offset"], chosen["length"], all_writes[first]))
    return _accesses(log.job.nprocs, rows, traced=True)


def _spread(ranks: Sequence[int]) -> list[int]:
    """At most `MOST_RANKS` of them, the first and the last among them."""
    if len(ranks) <= MOST_RANKS:
        return list(ranks)
    return [ranks[i * (len(ranks) - 1) // (MOST_RANKS - 1)] for i in range(MOST_RANKS)]


def _accesses(ranks: int, rows: Rows, *, traced: bool) -> Accesses | None:
    rows = [row for row in rows if len(row[1])]
    if not rows:
        return None
    return Accesses(
        ranks,
        traced,
        rank=np.concatenate([np.full(len(offsets), rank, dtype=np.int64) for rank, offsets, _, _ in rows]),
        order=np.concatenate([np.arange(len(offsets), dtype=np.int64) for _, offsets, _, _ in rows]),
        offset=np.concatenate([offsets for _, offsets, _, _ in rows]),
        length=np.concatenate([lengths for _, _, lengths, _ in rows]),
        writes=np.concatenate([writes for _, _, _, writes in rows]),
    )
