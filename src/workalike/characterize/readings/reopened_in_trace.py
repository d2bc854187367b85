"""A traced file that is opened anew for each part of its operations: each part is a dump.

A trace has no opens. Where the number of opens is that of a rank's parts (runs of one direction, or passes over the same
bytes), each part may have been done under an open of its own. It is taken to be so where the predicted counters then fit
the log's better: Darshan begins to count sequential and consecutive operations anew with each open.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workalike.characterize.grouping.events import shared_out
from workalike.characterize.readings.evidence import Evidence
from workalike.characterize.readings.loss import Loss, size_of
from workalike.characterize.readings.reading import Case
from workalike.characterize.readings.registry import reading_of
from workalike.characterize.readings.search import residuals_of
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.traces.exact import TableBuilder, exact, is_exact, with_contents
from workalike.characterize.traces.traced_rows import TracedFamily, traced_family
from workalike.facts.jobs import JobFacts
from workalike.facts.records import IntArray
from workalike.facts.traces import Traces
from workalike.workload.model import Content, Direction, Entry, Family, Lifetime, Schedule, Stream
from workalike.workload.operation_table import OperationTable

SYNCS = ("fsyncs", "flushes", "sync", "flush")
"""What a part that only reads has none of."""


def opened_for_each_part(
    facts: FamilyFacts, traced: TracedFamily, job: JobFacts, traces: Traces
) -> FamilyFacts:
    """The exact family with a dump for each open of its file, where that fits the counters better; else as it is.

    Of a family that no rules give as one dump, the dumps must have rules, and all of the log's counters.
    """
    family = facts.family
    has_rules = is_exact(family, traced, job)
    misfit = residuals_of(facts, job) if has_rules else None
    if (has_rules and not misfit) or len(traced.dumps) != 1 or family.lifetime is not Lifetime.PER_DUMP:
        return facts
    members = facts.family.members(job.nprocs)
    opens, odd = divmod(facts.family.content_of(0).opens, members)
    parts = parts_of(traced.dumps[0], opens) if opens > 1 and not odd else None
    if parts is None:
        return facts
    made = _in_dumps(facts, traced, parts, opens)
    again = traced_family(made, job.nprocs, traces)
    if again is None or [len(rows) for rows in again.dumps] != np.bincount(parts).tolist():
        return facts
    found = exact(made, again, job, None)
    if found is None:
        return facts
    made_family = with_contents(found.family, _of_dumps(found.family))
    renames = sum(f.modules["POSIX"].total("RENAME_SOURCES") for f in facts.files() if "POSIX" in f.modules)
    if renames < opens:  # not each dump's file is renamed; `with_backups` looks for those that are
        made_family = made_family.model_copy(update={"rename": False})
    elif facts.same_name != opens:  # each takes a name of its own
        made_family = made_family.model_copy(update={"lifetime": Lifetime.PER_DUMP})
    found = replace(found, family=made_family)
    other = residuals_of(found, job)
    better = not other if misfit is None else len(other or ()) < len(misfit)
    return found if other is not None and better else facts


def opened_amid_operations(
    facts: FamilyFacts, evidence: Evidence | None, table: TableBuilder | None
) -> FamilyFacts:
    """The family with its opens spread over its operations, where that fits the counters better; else as it is.

    `evidence` is that of the family before its trace was read.
    """
    contents = facts.family.all_contents()
    if evidence is None or not any(c.opens > facts.family.members(evidence.nprocs) for c in contents):
        return facts
    listed = table is not None and any(content.table is not None for content in contents)
    operations = table.operations() if table is not None and listed else None
    loss, reading = Loss(evidence), reading_of("opened-amid")
    residuals = loss.residuals(facts.family, operations)
    best = facts
    case = Case(evidence, facts.family, [row.counter for row in residuals or ()], residuals or ())
    for family in reading.tried(case):
        other = loss.residuals(family, operations)
        if other is not None and size_of(other) < size_of(residuals or ()):
            rules = [*facts.rules, reading.decision]
            best, residuals = replace(facts, family=family, rules=rules, fitted=True), other
    return best


def parts_of(rows: OperationTable, opens: int) -> IntArray | None:
    """int64[rows], the part of each row, 0 to `opens` - 1; None where ranks do not have as many parts.

    Parts are runs of one direction, or begin at the file's beginning, or have equally many operations.
    """
    order = np.argsort(rows.ranks, kind="stable")
    ranks, writes, offsets = rows.ranks[order], rows.writes[order], rows.offsets[order]
    first = np.diff(ranks, prepend=-1) != 0
    counts = np.diff(np.append(np.flatnonzero(first), len(ranks)))
    for begins in (np.diff(writes, prepend=writes[0]) != 0, offsets == 0):
        turns = np.cumsum(first | begins)
        block = turns - np.repeat(turns[first], counts)
        if (block[np.cumsum(counts) - 1] + 1 == opens).all():
            break
    else:
        if (counts % opens).any() or (np.diff(writes)[~first[1:]] != 0).any():
            return None
        place = np.arange(len(ranks)) - np.repeat(np.flatnonzero(first), counts)
        block = place // np.repeat(counts // opens, counts)
    out: IntArray = np.empty_like(block)
    out[order] = block
    return out


def _in_dumps(facts: FamilyFacts, traced: TracedFamily, parts: IntArray, opens: int) -> FamilyFacts:
    """The family with a dump for each part; its streams stand for the operations only until they are read off."""
    rows, (dump,) = traced.dumps[0], facts.dumps
    starts = [float(traced.starts[0][parts == part].min()) for part in range(opens)]
    ends = [*starts[1:], max(dump.end_s, starts[-1])]
    before = facts.family.content_of(0)
    dumps, contents = [], []
    calls = shared_out(before, opens)
    written = [part for part in range(opens) if rows.writes[parts == part].any()]
    syncs = shared_out(before, max(1, len(written)))
    for part in range(opens):
        own = rows.chosen(np.flatnonzero(parts == part))
        if written:
            at = syncs[written.index(part)] if part in written else Content()
            calls[part] = calls[part].model_copy(update={name: getattr(at, name) for name in SYNCS})
        direction = Direction.WRITE if own.writes[0] else Direction.READ
        stream = Stream(direction=direction, sizes=[Entry(count=len(own), size=int(own.lengths[0]))])
        contents.append(calls[part].model_copy(update={"streams": [stream]}))
        dumps.append(
            DumpFacts(
                bytes_written=own.moved(write=True),
                bytes_read=own.moved(write=False),
                start_s=starts[part],
                end_s=ends[part],
                files=dump.files,
            )
        )
    family = Family.model_validate(
        facts.family.model_dump()
        | {
            "lifetime": Lifetime.REUSED,
            "schedule": _schedule(facts.family.schedule, starts, ends),
            "content": None,
            "contents": [content.model_dump() for content in contents],
            "use": None,
        }
    )
    return replace(
        facts, family=family, dumps=dumps, rules=[*facts.rules, reading_of("opened-anew").decision]
    )


def _of_dumps(family: Family) -> list[Content]:
    return [family.content_of(dump) for dump in range(family.schedule.dumps)]


def _schedule(before: Schedule, starts: list[float], ends: list[float]) -> Schedule:
    """The dumps of a schedule of one dump; its compute time is shared out."""
    lengths = [round(end - start, 6) for start, end in zip(starts, ends, strict=True)]
    computing = sum(before.compute_times())
    span = sum(lengths)
    return Schedule(
        start=[round(start, 6) for start in starts],
        duration=lengths,
        compute_time=[round(computing * length / span, 6) if span else 0.0 for length in lengths],
    )
