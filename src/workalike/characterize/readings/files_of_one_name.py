"""Names of a family that were opened and renamed several times: each time was a file, and a dump, of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import ValidationError

from workalike.characterize.grouping.events import shared_out
from workalike.characterize.grouping.rename_chains import renames_from
from workalike.characterize.readings.dump_times import alike
from workalike.characterize.readings.dumps_of_one_file import shares
from workalike.characterize.readings.search import residuals_of
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import FileRule
from workalike.facts.jobs import JobFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import AmidWrites, Assumption, Content, Direction, Family, Lifetime, Schedule
from workalike.workload.per_dump import of_dumps


def with_files_of_one_name(facts: FamilyFacts, job: JobFacts) -> FamilyFacts:
    """The family with a dump for each file that a name had, if its counters then fit at least as well."""
    family = facts.family
    of_one_file = all(len(dump.files) == 1 for dump in facts.dumps)
    if (
        not family.rename
        or family.lifetime is not Lifetime.PER_DUMP
        or family.sizes is not None
        or not of_one_file
    ):
        return facts
    files = facts.files()
    times = [renames_from(file) for file in files]
    if len(files) != family.schedule.dumps or max(times) == 1 or sum(times) > THRESHOLDS.files_of_one_name:
        return facts
    parts = list(_parts(facts, family.members(job.nprocs)))
    if len(parts) != sum(times):
        return facts
    parts.sort(key=lambda part: part[0].start_s)
    dumps, contents, computing = zip(*parts, strict=True)
    schedule = Schedule(
        start=[round(dump.start_s, 6) for dump in dumps],
        duration=alike([round(dump.end_s - dump.start_s, 6) for dump in dumps]),
        compute_time=alike([round(seconds, 6) for seconds in computing]),
        barrier=family.schedule.barrier,
    )
    assumed = list(dict.fromkeys([*family.assumed, Assumption.STATES, Assumption.SCHEDULE]))
    changes = {"schedule": schedule, "assumed": assumed, **of_dumps(contents)}
    try:
        made = Family.model_validate(family.model_dump() | changes)
    except ValidationError:
        return facts
    found = replace(
        facts, family=made, dumps=list(dumps), rules=[*facts.rules, by(FileRule.FILES_OF_ONE_NAME)]
    )
    before, after = residuals_of(facts, job), residuals_of(found, job)
    return found if before is not None and after is not None and len(after) <= len(before) else facts


def _parts(facts: FamilyFacts, members: int) -> Iterator[tuple[DumpFacts, Content, float]]:
    """Each file as a dump, its content and its compute time, evenly over the time that its name was in use."""
    family = facts.family
    computing = family.schedule.compute_times()
    for number, dump in enumerate(facts.dumps):
        times = renames_from(dump.files[0])
        content = family.content_of(number)
        if times < 1 or content.opens % times:
            return
        contents = [content] if times == 1 else _shares(content, times, members, dump)
        length = (dump.end_s - dump.start_s) / times
        for part, own in enumerate(contents):
            start = dump.start_s + part * length
            written, read = (own.moved(members, d) for d in (Direction.WRITE, Direction.READ))
            yield (
                DumpFacts(written, read, start, start + length, files=dump.files),
                own,
                computing[number] / times,
            )


def _shares(content: Content, parts: int, members: int, dump: DumpFacts) -> list[Content]:
    """A content in so many parts; none where that is not possible."""
    if content.table or content.arrays or content.fit or content.mesh or content.dataset:
        return []
    if content.sync or content.flush:  # their number is known, but not after which writes they come
        if members > 1:
            return []
        written = (stream for stream in content.streams if stream.direction is Direction.WRITE)
        writes = sum(stream.repeat * entry.total(1) for stream in written for entry in stream.sizes)
        at_end = {
            "fsyncs": content.fsyncs + content.sync.total(writes),
            "flushes": content.flushes + content.flush.total(writes),
        }
        content = content.model_copy(update={**at_end, "sync": AmidWrites(), "flush": AmidWrites()})
    if len(content.streams) == parts and content.passes == 1:  # as a trace has them, one after the other
        return [
            calls.model_copy(update={"streams": [stream]})
            for calls, stream in zip(shared_out(content, parts), content.streams, strict=True)
        ]
    modules = dump.files[0].modules.values()
    extents = {
        direction: max((m.largest(f"MAX_BYTE_{past}") for m in modules), default=0) + 1
        for direction, past in ((Direction.READ, "READ"), (Direction.WRITE, "WRITTEN"))
    }
    return (
        shares([content], parts, members, even=True)
        or shares([content], parts, members, even=False, extents=extents)
        or []
    )
