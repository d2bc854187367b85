"""When dumps and loads of the same files in turn are, by the first and last times of all.

Counters say how many there were, and their times are taken to be even. The first dump ends before the first read, and
the last load begins after the last write: this says more where the first dump takes longer than the others, because it
makes the file. Files that are closed after each of them say more: when the first dump ended, and the last load began.
Where a heatmap has the bytes of these files alone, each dump and load is in the bins that have its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.times.heatmap_bins import bins_of
from workalike.facts.jobs import JobFacts
from workalike.facts.records import MODULE_OF_LEVEL, FileFacts
from workalike.facts.times import Interval, access_interval, closed_interval
from workalike.workload.model import Assumption, Direction, Level


@dataclass(frozen=True)
class _Known:
    """Moments that the log has, in seconds since the job's start."""

    start: float
    first_read: float
    last_write: float
    end: float


def in_turn(facts: FamilyFacts, job: JobFacts) -> FamilyFacts:
    """The family with dumps and loads at even distances between the times of the log; others are left as they are."""
    family, dumps = facts.family, facts.dumps
    schedule = family.schedule
    if Assumption.SCHEDULE not in family.assumed or len(dumps) != schedule.dumps or not _take_turns(dumps):
        return facts
    level, files, run_time = family.counted_at, dumps[0].files, job.run_time
    reads = [access_interval(file, level, Direction.READ, run_time) for file in files]
    writes = [access_interval(file, level, Direction.WRITE, run_time) for file in files]
    first_read = min((found.start for found in reads if found is not None), default=-1.0)
    last_write = max((found.end for found in writes if found is not None), default=-1.0)
    starts = schedule.starts()
    known = _Known(starts[0], first_read, last_write, schedule.ends()[-1])
    if not known.start < first_read < last_write <= max(starts[-1], last_write) < known.end:
        return facts
    spans = _closed_each_time(known, files, level, len(dumps), run_time)
    if spans is None:
        spans = _one_after_another(known, len(dumps), max(starts[-1], last_write))
    else:
        spans = _in_bins(spans, facts, job)
    return _with_times(facts, spans)


def _one_after_another(known: _Known, dumps: int, last: float) -> list[Interval]:
    """Each lasts until the next one; the last load begins at `last`."""
    step = (known.last_write - known.first_read) / (dumps - 2)
    begins = [known.start, *(known.first_read + k * step for k in range(dumps - 2)), last]
    ends = [known.first_read, *(known.first_read + (k + 1) * step for k in range(dumps - 2)), known.end]
    return [Interval(begin, end) for begin, end in zip(begins, ends, strict=True)]


def _closed_each_time(
    known: _Known, files: Sequence[FileFacts], level: Level, dumps: int, run_time: float
) -> list[Interval] | None:
    """As long as the first dump, and as the last load; None where files are not closed between them.

    Loads are at even distances. Dumps come before them as long as the last one, which ends with the last write.
    """
    found = [closed_interval(file, level, run_time) for file in files]
    closed = [interval for interval in found if interval is not None]
    first_closes = [interval.start for interval in closed]
    last_opens = [interval.end for interval in closed]
    if len(closed) < len(files) or not all(known.start < close <= known.first_read for close in first_closes):
        return None
    last_load = min(last_opens)
    if not known.last_write <= last_load < known.end:
        return None
    of_each = all((file.modules[MODULE_OF_LEVEL[level]].ranks >= 0).all() for file in files)
    # The first close of a record of all ranks is that of the fastest one.
    first_end = max(first_closes) if of_each else known.first_read
    dump, load = max(first_closes) - known.start, known.end - last_load
    pairs = dumps // 2
    step = (last_load - known.first_read) / (pairs - 1)
    ahead = last_load - (known.last_write - dump)
    spans = [Interval(known.start, first_end)]
    for pair in range(pairs):
        read = known.first_read + pair * step
        if pair:
            begin = max(read - ahead, spans[-1].end)
            end = known.last_write if pair == pairs - 1 else min(begin + dump, read)
            spans.append(Interval(min(begin, end), end))
        after = known.end if pair == pairs - 1 else read + step
        spans.append(Interval(read, min(read + load, after)))
    return spans


def _in_bins(spans: Sequence[Interval], facts: FamilyFacts, job: JobFacts) -> list[Interval]:
    """The spans, moved into the bins of the heatmap that have their bytes, if it has no others."""
    out = list(spans)
    for direction in Direction:
        moved = [dump.bytes_in(direction) for dump in facts.dumps]
        bins = bins_of(job, facts.family.counted_at, direction, sum(moved))
        if bins is None:
            continue
        before = 0
        for place, size in enumerate(moved):
            if size and 0 < place < len(moved) - 1:
                within = bins.within(before, before + size)
                out[place] = _into(out[place], within, ends=place == len(moved) - 2)
            before += size
    return _ascending(out)


def _into(span: Interval, bins: Interval, *, ends: bool) -> Interval:
    """The span moved into some bins; one that `ends` where it does begins there later."""
    if ends:
        return Interval(min(max(span.start, bins.start), span.end), span.end)
    length = span.end - span.start
    begin = max(bins.start, min(span.start, bins.end - length))
    return Interval(begin, max(begin, min(begin + length, bins.end)))


def _ascending(spans: Sequence[Interval]) -> list[Interval]:
    """The spans such that each ends before the next one begins."""
    out = [spans[0]]
    for span in spans[1:]:
        start = max(span.start, out[-1].start)
        out[-1] = Interval(out[-1].start, min(out[-1].end, start))
        out.append(Interval(start, max(start, span.end)))
    return out


def _with_times(facts: FamilyFacts, spans: Sequence[Interval]) -> FamilyFacts:
    schedule = facts.family.schedule
    lengths = [span.end - span.start for span in spans]
    computing = [
        min(length, seconds) for length, seconds in zip(lengths, schedule.compute_times(), strict=True)
    ]
    timed = schedule.model_copy(
        update={
            "start": [round(span.start, 6) for span in spans],
            "duration": [round(length, 6) for length in lengths],
            "compute_time": [round(seconds, 6) for seconds in computing] if any(computing) else 0.0,
        }
    )
    made = [
        replace(dump, start_s=span.start, end_s=span.end)
        for dump, span in zip(facts.dumps, spans, strict=True)
    ]
    return replace(facts, family=facts.family.model_copy(update={"schedule": timed}), dumps=made)


def _take_turns(dumps: Sequence[DumpFacts]) -> bool:
    """Whether each second dump only reads what the one before it has only written, twice or more."""
    keys = {tuple(file.key for file in dump.files) for dump in dumps}
    writes = [(bool(dump.bytes_written), bool(dump.bytes_read)) for dump in dumps]
    # Two have no step between the first read and the last write.
    return len(dumps) > 2 and len(keys) == 1 and writes == [(True, False), (False, True)] * (len(dumps) // 2)
