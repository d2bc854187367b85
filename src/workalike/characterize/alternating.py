"""When dumps and loads of the same files in turn are, by the first read and the last write of all.

Counters say how many there were, and their times are taken to be even. The first dump ends before the first read, and
the last load begins after the last write: this says more where the first dump takes longer than the others, because it
makes the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.facts.times import access_interval
from workalike.workload.model import Assumption, Direction


def in_turn(facts: FamilyFacts, run_time: float) -> FamilyFacts:
    """The family with dumps from the first read to the last write at even distances; others are left as they are."""
    family, dumps = facts.family, facts.dumps
    schedule = family.schedule
    if Assumption.SCHEDULE not in family.assumed or len(dumps) != schedule.dumps or not _take_turns(dumps):
        return facts
    level, files = family.counted_at, dumps[0].files
    reads = [access_interval(file, level, Direction.READ, run_time) for file in files]
    writes = [access_interval(file, level, Direction.WRITE, run_time) for file in files]
    first_read = min((found.start for found in reads if found is not None), default=-1.0)
    last_write = max((found.end for found in writes if found is not None), default=-1.0)
    starts, end = schedule.starts(), schedule.ends()[-1]
    last = max(starts[-1], last_write)
    if not starts[0] < first_read < last_write <= last < end:
        return facts
    step = (last_write - first_read) / (len(dumps) - 2)
    begins = [starts[0], *(first_read + k * step for k in range(len(dumps) - 2)), last]
    lengths = [first_read - starts[0], *[step] * (len(dumps) - 2), end - last]
    computing = [
        min(length, seconds) for length, seconds in zip(lengths, schedule.compute_times(), strict=True)
    ]
    timed = schedule.model_copy(
        update={
            "start": [round(start, 6) for start in begins],
            "duration": [round(length, 6) for length in lengths],
            "compute_time": [round(seconds, 6) for seconds in computing] if any(computing) else 0.0,
        }
    )
    made = [
        replace(dump, start_s=start, end_s=start + length)
        for dump, start, length in zip(dumps, begins, lengths, strict=True)
    ]
    return replace(facts, family=family.model_copy(update={"schedule": timed}), dumps=made)


def _take_turns(dumps: Sequence[DumpFacts]) -> bool:
    """Whether each second dump only reads what the one before it has only written, twice or more."""
    keys = {tuple(file.key for file in dump.files) for dump in dumps}
    writes = [(bool(dump.bytes_written), bool(dump.bytes_read)) for dump in dumps]
    # Two have no step between the first read and the last write.
    return len(dumps) > 2 and len(keys) == 1 and writes == [(True, False), (False, True)] * (len(dumps) // 2)
