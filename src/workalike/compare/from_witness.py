"""The replica's side from a captured log and a record of the same run.

Bytes and counters are the log's. A log has one interval per file, so dumps that follow each other in one file without
a pause are one dump in it. Beginning and end of dumps are therefore the record's, where its bytes are the log's.

The log's clock starts with the process, the record's with the run of the plan. The first call of a family that moves data
is one moment on both: times of the log are moved by the difference, so that all are on the record's clock, as those of
the plan are. A log has no times of stat, so that a family may begin later in it than in the record, and the smallest
difference counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from workalike.characterize.result import Characterization
from workalike.characterize.times.heatmap_bins import moved_into_bins
from workalike.compare.from_log import side_of_log
from workalike.compare.from_record import side_of_record
from workalike.compare.side import Side, SideFamily
from workalike.facts.counters import bytes_name
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.facts.times import Interval
from workalike.predict.prediction import Key
from workalike.record.run_record import Record
from workalike.workload.model import Direction, Level


def side_of_witness(
    log: Characterization, record: Record, levels: Mapping[Key, Level], new_files: Collection[Key] = ()
) -> Side:
    """The side of a log of the engine, with the dumps of the record where both agree in bytes.

    `new_files` are the families whose dumps have files of their own, as in `side_of_log`.
    """
    side = side_of_log(log, by_name=True, levels=levels, new_files=new_files)
    recorded = side_of_record(record, dict(levels))
    _to_clock_of(recorded, side)
    for key, family in side.families.items():
        known = recorded.families.get(key)
        if known is None:
            continue
        family.lates = known.lates
        if known.level is not family.level and _same_bytes_at_level(family, known):
            family.level, family.dumps, family.timed_by_record = known.level, known.dumps, True
        elif _bytes(known) != _bytes(family) and _same_totals(family, known):
            family.dumps, family.timed_by_record = known.dumps, True
        else:
            _within_bins(family, known)
    return side


def _within_bins(family: SideFamily, known: SideFamily) -> None:
    """Time dumps that the log's heatmap has in bins by the record, each within its bins: up to a bin, the log cannot say."""
    dumps = [dump for dump in family.dumps if dump.bin_s]
    if not dumps or len(dumps) != len(family.dumps) or len(dumps) != len(known.dumps):
        return
    own = [Interval(dump.start_s, dump.end_s) for dump in known.dumps]
    bins = [Interval(dump.start_s, dump.end_s) for dump in dumps]
    for dump, span in zip(dumps, moved_into_bins(own, bins, dumps[0].bin_s), strict=True):
        dump.start_s, dump.end_s = span.start, span.end


def _to_clock_of(recorded: Side, side: Side) -> None:
    """Move the times of a log's side to the clock of the record's, and take its length of the run."""
    side.run_s = recorded.run_s if recorded.run_s is not None else side.run_s
    if side.calls is None or recorded.calls is None:
        return
    later = min(
        (
            min(dump.start_s for dump in family.dumps) - min(dump.start_s for dump in known.dumps)
            for key, family in side.families.items()
            if (known := recorded.families.get(key)) is not None
            and _moves_data(family)
            and _moves_data(known)
        ),
        default=side.calls.start - recorded.calls.start,
    )
    if later <= 0:  # the process starts before the run does: these are not the same calls
        return
    side.moved_s = later
    side.calls = Interval(side.calls.start - later, side.calls.end - later)
    for family in side.families.values():
        for dump in family.dumps:
            dump.start_s, dump.end_s = dump.start_s - later, dump.end_s - later


def _moves_data(family: SideFamily) -> bool:
    return any(dump.bytes_of(direction) for dump in family.dumps for direction in Direction)


def _same_bytes_at_level(family: SideFamily, known: SideFamily) -> bool:
    """Whether the log's counters at the record's level are the record's bytes.

    The level that the log chose (that of datasets, say) may be above the one at which the record counts the family.
    """
    counters = family.modules.get(MODULE_OF_LEVEL[known.level], {})
    moved = {d: total for d in Direction if (total := sum(dump.bytes_of(d) for dump in known.dumps))}
    return bool(moved) and all(counters.get(bytes_name(d), 0) == total for d, total in moved.items())


def _bytes(family: SideFamily) -> list[tuple[int, int]]:
    return [(d.bytes_written, d.bytes_read) for d in family.dumps]


def _same_totals(family: SideFamily, known: SideFamily) -> bool:
    """Whether the bytes are equal in every direction of the engine's dumps. Writing an input beforehand is not a dump."""
    moved = [d for d in Direction if any(dump.bytes_of(d) for dump in known.dumps)]
    return all(
        sum(dump.bytes_of(d) for dump in family.dumps) == sum(dump.bytes_of(d) for dump in known.dumps)
        for d in moved
    )
