"""A traced name that several files had one after the other: a rename took it from each, or from each but the last.

Darshan counts all files of a name in one record. The trace shows where each begins, with a write at offset 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import ValidationError

from workalike.characterize.grouping.events import shared_out
from workalike.characterize.readings.evidence import Evidence, evidence_of
from workalike.characterize.readings.loss import Loss, Residuals, size_of
from workalike.characterize.readings.registry import reading_of
from workalike.characterize.readings.renamed_in_turn import (
    numbers_of_files,
    opened,
    renamed_in_turn,
    renames_of_name,
)
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.traces.exact import TableBuilder, exact
from workalike.characterize.traces.traced_rows import TracedFamily, traced_family
from workalike.facts.jobs import JobFacts
from workalike.facts.records import FloatArray, IntArray
from workalike.facts.traces import Traces
from workalike.workload.content import CALLS, count_of
from workalike.workload.model import Content, Direction, Entry, Family, Level, Lifetime, Schedule, Stream
from workalike.workload.operation_table import OperationTable, joined
from workalike.workload.per_dump import of_dumps

COUNTED = tuple(name for name in CALLS if name not in ("opens", "renames"))
"""Calls of all dumps that are shared out anew: opens are those of the log, and renames are found later."""
SYNCS = ("fsyncs", "flushes", "sync", "flush")
"""What a dump that only reads has none of."""


def replaced_in_turn(
    facts: FamilyFacts, traced: TracedFamily, job: JobFacts, traces: Traces, table: TableBuilder | None
) -> FamilyFacts | None:
    """The family with a dump for each file that its name had, if that is nearer to the counters; None if not.

    Args:
        facts: the family as its counters, or rules of its trace, have it.
        traced: its operations.
        job, traces: of the log.
        table: for operations that no rules give.
    """
    evidence = evidence_of(facts, job)
    if evidence is None or not _may_be_several(facts, evidence):
        return None
    loss = Loss(evidence)
    candidates = _candidates(facts, traced, evidence, traces)
    if not candidates:
        return None
    best, least = None, _counters_off(facts, traced, loss, table)
    for made, again in candidates:
        off = _counters_off(made, again, loss, table)
        if off is not None and (least is None or size_of(off) < size_of(least)):
            best, least = (made, again), off
    return exact(*best, job, table) if best else None


def _counters_off(
    facts: FamilyFacts, traced: TracedFamily, loss: Loss, table: TableBuilder | None
) -> Residuals | None:
    """What is off in a family as its trace has it, by rules or by rows of a table; None where neither does."""
    own = TableBuilder() if table is not None else None
    found = exact(facts, traced, loss.evidence.job, own)
    return None if found is None else loss.residuals(found.family, own.operations() if own else None)


def _may_be_several(facts: FamilyFacts, evidence: Evidence) -> bool:
    """Whether one process has one name, of which POSIX counts renames."""
    return (
        evidence.nprocs == 1
        and len(evidence.files) == 1
        and facts.family.lifetime in (Lifetime.PER_DUMP, Lifetime.REUSED)
        and facts.family.counted_at is Level.POSIX
        and renames_of_name(evidence.files) > 0
    )


def _candidates(
    facts: FamilyFacts, traced: TracedFamily, evidence: Evidence, traces: Traces
) -> Sequence[tuple[FamilyFacts, TracedFamily]]:
    """The family in dumps of several files, its opens before and amid the operations, with the rows of each dump."""
    rows, starts = _in_order_of_time(traced)
    dump_of, files = _dumps_of_files(rows)
    renames = renames_of_name(evidence.files)
    if files not in numbers_of_files(renames, evidence.opens):
        return []
    calls = calls_of_all(facts.family)
    if calls is None:
        return []
    parts = _Parts(rows, starts, dump_of)
    changes = renamed_in_turn(files, renames, facts.same_name)
    if changes["lifetime"] is Lifetime.PER_DUMP and parts.number != files:
        return []  # what reads a file would be a dump of another one
    out = []
    for contents in opened(_contents(calls, parts), evidence.opens):
        made = _family(facts.family, parts, contents, changes)
        if made is None:
            continue
        dumps = parts.dumps(facts)
        found = replace(
            facts, family=made, dumps=dumps, rules=[*facts.rules, reading_of("replaced").decision]
        )
        again = traced_family(found, evidence.nprocs, traces)
        if again is not None and [len(of_dump) for of_dump in again.dumps] == parts.counts():
            out.append((found, again))
    return out


def _in_order_of_time(traced: TracedFamily) -> tuple[OperationTable, FloatArray]:
    """All rows, and when each began."""
    starts = np.concatenate(traced.starts)
    order = np.argsort(starts, kind="stable")
    return joined(traced.dumps).chosen(order), starts[order]


def _dumps_of_files(rows: OperationTable) -> tuple[IntArray, int]:
    """int64[rows], the dump of each row, and the number of files.

    A file begins with a write at offset 0; what is read before the first one is of a file that was there. A file that is
    written, and then read, has two dumps.
    """
    begins = rows.writes & (rows.offsets == 0) & (rows.lengths > 0)
    begins[:1] = True
    turns = begins | (np.diff(rows.writes, prepend=rows.writes[:1]) != 0)
    file_of = np.cumsum(begins) - 1
    files = int(file_of[-1]) + 1
    dump_of = np.cumsum(turns) - 1
    in_file = np.bincount(file_of[turns], minlength=files)
    # A second dump that writes would begin another file: a file of which the directions alternate is one dump.
    return (dump_of if in_file.max() <= len(Direction) else file_of), files


@dataclass(frozen=True)
class _Parts:
    """The rows of a family, when each began, and its dump."""

    rows: OperationTable
    starts: FloatArray
    dump_of: IntArray

    @property
    def number(self) -> int:
        return int(self.dump_of[-1]) + 1

    def counts(self) -> list[int]:
        """Operations of each dump."""
        return [int(count) for count in np.bincount(self.dump_of)]

    def of_dumps(self) -> list[OperationTable]:
        edges = np.flatnonzero(np.diff(self.dump_of)) + 1
        return [self.rows.chosen(place) for place in np.split(np.arange(len(self.rows)), edges)]

    def begins(self) -> list[float]:
        """When each dump begins, in seconds since the job's start."""
        first = np.flatnonzero(np.diff(self.dump_of, prepend=-1))
        return [float(start) for start in self.starts[first]]

    def dumps(self, facts: FamilyFacts) -> list[DumpFacts]:
        begins = self.begins()
        ends = [*begins[1:], max(begins[-1], max(dump.end_s for dump in facts.dumps))]
        files = facts.files()
        return [
            DumpFacts(rows.moved(write=True), rows.moved(write=False), start, end, files=files)
            for rows, start, end in zip(self.of_dumps(), begins, ends, strict=True)
        ]


def calls_of_all(family: Family) -> Content | None:
    """The calls of all dumps as those of one; None where only some go with operations."""
    contents = [family.content_of(dump) for dump in range(family.schedule.dumps)]
    if len({content.seeks == "each" for content in contents}) > 1:
        return None
    amid = {(c.sync.text(), c.flush.text()): c for c in contents if c.moved(1, Direction.WRITE)}
    if len(amid) != 1:
        return None
    (writer,) = amid.values()
    sums = {name: sum(count_of(getattr(content, name)) for content in contents) for name in COUNTED}
    if writer.seeks == "each":
        del sums["seeks"]
    return writer.model_copy(update={**sums, "reopen": False, "table": None})


def _contents(calls: Content, parts: _Parts) -> list[Content]:
    """The content of each dump; its stream stands for the operations only until they are read off."""
    of_dumps_ = parts.of_dumps()
    writers = [place for place, rows in enumerate(of_dumps_) if rows.writes.any()]
    syncs = dict(zip(writers, shared_out(calls, len(writers)), strict=True))
    out = []
    for place, (rows, own) in enumerate(zip(of_dumps_, shared_out(calls, parts.number), strict=True)):
        at = syncs.get(place, Content())
        direction = Direction.WRITE if rows.writes[0] else Direction.READ
        changes = {name: getattr(at, name) for name in SYNCS} | {
            "streams": [
                Stream(direction=direction, sizes=[Entry(count=len(rows), size=int(rows.lengths[0]))])
            ],
        }
        out.append(own.model_copy(update=changes))
    return out


def _family(
    before: Family, parts: _Parts, contents: Sequence[Content], changes: dict[str, object]
) -> Family | None:
    """The family with these dumps; its compute time is shared out by their lengths."""
    begins = parts.begins()
    ends = [*begins[1:], max(begins[-1], before.schedule.ends()[-1])]
    lengths = [round(end - start, 6) for start, end in zip(begins, ends, strict=True)]
    computing, span = sum(before.schedule.compute_times()), sum(lengths)
    schedule = Schedule(
        start=[round(start, 6) for start in begins],
        duration=lengths,
        compute_time=[round(computing * length / span, 6) if span else 0.0 for length in lengths],
        barrier=before.schedule.barrier,
    )
    fields = {"schedule": schedule, "sizes": None, "growth": None, **of_dumps(contents), **changes}
    try:
        return Family.model_validate(before.model_dump() | fields)
    except ValidationError:  # its content is none of streams
        return None
