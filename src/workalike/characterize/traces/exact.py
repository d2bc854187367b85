"""Families whose trace (DXT) is complete: nothing is guessed.

The plan of what the rules have found is expanded and compared with the trace, operation by operation. Where it differs,
rules are read off the trace itself; where these do not give it either, the operations go into an operation table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pydantic import ValidationError

from workalike import _core
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import TraceRule
from workalike.characterize.traces.affine import affine_content
from workalike.characterize.traces.traced_rows import TracedFamily, has_rules, same_rows, writers_of
from workalike.errors import WorkalikeError
from workalike.facts.jobs import JobFacts
from workalike.facts.records import IntArray
from workalike.facts.rules import by
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.predict.prediction import MOST_CALLS, has_more_calls
from workalike.workload.model import (
    AmidWrites,
    Assumption,
    Content,
    Family,
    Lifetime,
    Rows,
    SharingMode,
    TableReference,
    Workload,
)
from workalike.workload.operation_table import MAX_ROWS, OperationTable, joined
from workalike.workload.per_dump import of_dumps

KNOWN_BY_TRACE = frozenset(
    {Assumption.PLACEMENT, Assumption.SIZES, Assumption.RANK_SHARES, Assumption.STATE_SIZES}
)
"""What a complete trace shows."""
TRANSFERS = (_core.kinds.index("read"), _core.kinds.index("write"))


@dataclass
class TableBuilder:
    """Collects the rows of all families; equal dumps have the same rows."""

    parts: list[OperationTable] = field(default_factory=list)
    rows: int = 0
    _known: dict[bytes, int] = field(default_factory=dict)

    def add(self, rows: OperationTable) -> int:
        """The first row of these rows in the table."""
        key = rows.for_plan()
        if key not in self._known:
            self._known[key] = self.rows
            self.parts.append(rows)
            self.rows += len(rows)
        return self._known[key]

    def operations(self) -> TableReference | None:
        """What the workload says of the table; None without rows."""
        return TableReference.to_table(joined(self.parts)) if self.parts else None


def exact(
    facts: FamilyFacts, traced: TracedFamily, job: JobFacts, table: TableBuilder | None
) -> FamilyFacts | None:
    """A family as its trace has it: by the rules that it has, by rules that are read off the trace, or by a table.

    None where only a table would do, and there may be none, or it would be too long.
    """
    if is_exact(facts.family, traced, job):
        return _known(facts, facts.family, TraceRule.CONFIRMED)
    made = _by_rules(facts.family, traced, job)
    if made is not None:
        return _known(facts, made, TraceRule.READ_OFF)
    if table is None or table.rows + len(traced) > MAX_ROWS:
        return None
    return _known(
        facts,
        by_table(facts.family, traced.dumps, table, facts.family.members(job.nprocs)),
        TraceRule.TABLE,
        traced,
    )


def _known(
    facts: FamilyFacts, family: Family, rule: TraceRule, traced: TracedFamily | None = None
) -> FamilyFacts:
    assumed = [reason for reason in family.assumed if reason not in KNOWN_BY_TRACE]
    dumps = facts.dumps
    if traced is not None:
        dumps = with_bytes(dumps, traced.dumps)
    return replace(
        facts,
        family=family.model_copy(update={"assumed": assumed}),
        dumps=dumps,
        rules=[*facts.rules, by(rule)],
        fitted=False,  # a trace is copied
    )


def with_bytes(dumps: Sequence[DumpFacts], of_table: Sequence[OperationTable]) -> list[DumpFacts]:
    """The dumps with the bytes of their rows."""
    return [
        replace(dump, bytes_written=rows.moved(write=True), bytes_read=rows.moved(write=False))
        for dump, rows in zip(dumps, of_table, strict=True)
    ]


def is_exact(family: Family, traced: TracedFamily, job: JobFacts) -> bool:
    """Whether the family's plan, expanded, has every rank's operations of each dump in the order of the trace."""
    if not has_rules(family) or family.schedule.dumps != len(traced.dumps):
        return False
    found = planned_rows(family, job, [len(rows) for rows in traced.dumps])
    return found is not None and all(map(same_rows, found, traced.dumps))


def planned_rows(
    family: Family,
    job: JobFacts,
    numbers: Sequence[int] | None = None,
    operations: TableReference | None = None,
) -> list[OperationTable] | None:
    """The reads and writes of each dump that a family's plan has, each rank's in their order.

    `operations` is the table that the family names, if it does. Reads have the ranks of `writers_of`, as those of a
    trace. None where the family cannot be planned (it may read first what it makes anew), has too many calls, or has
    other `numbers` of operations than the dumps should have.
    """
    try:
        plan = resolve(_alone(family, job, operations), Options())
        core = core_plan(plan)
        if has_more_calls(core, MOST_CALLS) or job.nprocs * len(plan.dumps) > MOST_CALLS:
            return None
        planned = {
            dump.index: sum(int(column[place]) for column in _transfers(core))
            for place, dump in enumerate(plan.dumps)
        }
        if numbers is not None and any(planned[index] != number for index, number in enumerate(numbers)):
            return None
        found = _expanded(core, job.nprocs, writers_of(family, job.nprocs))
    except (WorkalikeError, _core.PlanError, ValidationError):
        return None
    index = np.array([dump.index for dump in plan.dumps])
    dump_of = index[found[1]]
    return [found[0].chosen(np.flatnonzero(dump_of == place)) for place in range(family.schedule.dumps)]


def _transfers(core: _core.Plan) -> list[np.ndarray]:
    counts = core.count()
    return [counts["READS"], counts["WRITES"]]


def _alone(family: Family, job: JobFacts, operations: TableReference | None) -> Workload:
    return Workload(
        ranks=job.nprocs, runtime=max(0.0, job.run_time), operations=operations, families=[family]
    )


def _expanded(core: _core.Plan, ranks: int, writers: IntArray | None) -> tuple[OperationTable, np.ndarray]:
    """The transfers of all ranks in the order of each, and the place of each one's dump in the plan.

    Reads have the ranks of `writers` (see `writers_of`), as those of a trace.
    """
    parts: list[OperationTable] = []
    dumps: list[np.ndarray] = []
    for rank in range(ranks):
        calls = core.operations(rank, MAX_ROWS)
        moves = np.flatnonzero(np.isin(calls["kind"], TRANSFERS) & (calls["offset"] >= 0))
        writes = calls["kind"][moves] == TRANSFERS[1]
        parts.append(
            OperationTable(
                np.where(writes, rank, rank if writers is None else writers[rank]),
                writes,
                calls["offset"][moves],
                calls["length"][moves],
                np.zeros(len(moves), dtype=bool),
            )
        )
        dumps.append(calls["dump"][moves])
    return joined(parts), np.concatenate(dumps)


def _by_rules(family: Family, traced: TracedFamily, job: JobFacts) -> Family | None:
    """The family with rules that are read off its trace, if their plan gives the trace."""
    if (
        traced.collective is None
        or family.sharing.mode is SharingMode.GROUPS
        or (family.lifetime is Lifetime.APPENDED and len(traced.dumps) > 1)
    ):
        return None  # offsets in the file are not those of the rule
    contents = []
    for place, rows in enumerate(traced.dumps):
        content = affine_content(
            rows,
            family.content_of(place),
            members=_member_ranks(family, job),
            own_files=family.sharing.mode is SharingMode.PER_RANK,
            collective=traced.collective,
        )
        if content is None:
            return None
        contents.append(content)
    made = with_contents(family, contents)
    return made if is_exact(made, traced, job) else None


def by_table(family: Family, dumps: Sequence[OperationTable], table: TableBuilder, members: int) -> Family:
    """The family with the operations of each dump in the table."""
    contents = []
    for place, rows in enumerate(dumps):
        writes = int(np.count_nonzero(rows.writes))
        of_table = Rows(
            first=table.add(rows),
            reads=len(rows) - writes,
            writes=writes,
            bytes_read=rows.moved(write=False),
            bytes_written=rows.moved(write=True),
            collective=bool(rows.collective.any()),
        )
        before = family.content_of(place)
        changes: dict[str, object] = {"streams": [], "passes": 1, "table": of_table}
        if of_table.collective and writes:
            changes |= _calls_at_end(before, int(np.bincount(rows.ranks[rows.writes]).max()), members)
        contents.append(before.model_copy(update=changes))
    return with_contents(family, contents)


def _calls_at_end(content: Content, writes: int, members: int) -> dict[str, object]:
    """Syncs and flushes amid the writes, `writes` of the busiest rank, as calls at the end: a table may not have them."""
    return {
        "fsyncs": content.fsyncs + members * content.sync.total(writes),
        "flushes": content.flushes + members * content.flush.total(writes),
        "sync": AmidWrites(),
        "flush": AmidWrites(),
    }


def _member_ranks(family: Family, job: JobFacts) -> list[int]:
    if family.sharing.ranks is None:
        return list(range(job.nprocs))
    return [r for first, last, step in family.sharing.ranks for r in range(first, last + 1, step)]


def with_contents(family: Family, contents: Sequence[Content]) -> Family:
    """The family with a content for each dump, of which equal ones are kept once."""
    return family.model_copy(update={**of_dumps(contents), "sizes": None, "growth": None})
