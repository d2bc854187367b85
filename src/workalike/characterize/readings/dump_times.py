"""When the dumps of a family were, after another reading of it was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.heatmap_bins import moved_into_bins
from workalike.facts.times import Interval
from workalike.workload.model import Direction, Family, Schedule


def timed(facts: FamilyFacts, family: Family, nprocs: int) -> tuple[Family, list[DumpFacts]]:
    """The family, and what the log says of each dump: where their number has changed, its share of all.

    Where a heatmap has shown as many dumps, the family's own times of them are kept within its bins.

    Args:
        facts: the family as it was read first.
        family: the reading that was chosen.
        nprocs: ranks of the job.
    """
    schedule = family.schedule
    if schedule.dumps != len(facts.dumps):
        return family, _shares(facts, family, nprocs)
    width = facts.dumps[0].bin_s
    if schedule == facts.family.schedule or not width:
        return family, facts.dumps
    own = [Interval(*times) for times in zip(schedule.starts(), schedule.ends(), strict=True)]
    spans = moved_into_bins(own, [Interval(d.start_s, d.end_s) for d in facts.dumps], width)
    dumps = [
        replace(dump, start_s=span.start, end_s=span.end, bin_s=0.0)
        for dump, span in zip(facts.dumps, spans, strict=True)
    ]
    return family.model_copy(update={"schedule": _listed_at(schedule, spans)}), dumps


def _shares(facts: FamilyFacts, family: Family, nprocs: int) -> list[DumpFacts]:
    """A dump's share of all bytes, and its times, by the family."""
    members, files, schedule = family.members(nprocs), facts.files(), family.schedule
    return [
        DumpFacts(
            bytes_written=family.content_of(i).moved(members, Direction.WRITE),
            bytes_read=family.content_of(i).moved(members, Direction.READ),
            start_s=start,
            end_s=end,
            files=files,
        )
        for i, (start, end) in enumerate(zip(schedule.starts(), schedule.ends(), strict=True))
    ]


def _listed_at(schedule: Schedule, spans: Sequence[Interval]) -> Schedule:
    """The schedule with these times of its dumps; as it is where it does not list them, or says more of each."""
    if schedule.start is None or schedule.writes or schedule.reads or schedule.metadata is not None:
        return schedule
    lengths = [span.end - span.start for span in spans]
    computes = [min(t, length) for t, length in zip(schedule.compute_times(), lengths, strict=True)]
    times = {"start": [round(span.start, 6) for span in spans]}
    return schedule.model_copy(update=times | {"duration": alike(lengths), "compute_time": alike(computes)})


def alike(values: Sequence[float]) -> float | list[float]:
    """Times rounded to microseconds; one where all are equal."""
    rounded = [round(value, 6) for value in values]
    return rounded[0] if len(set(rounded)) == 1 else rounded
