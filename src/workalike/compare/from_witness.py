"""The replica's side by two witnesses: what moved is the captured log's, where dumps begin and end the record's.

A log has one interval for a file, so dumps that follow each other in one file without a pause, as in a replica
that does not wait, are one in it. The engine knows its dumps; its word counts where its bytes are the log's.
"""

from __future__ import annotations

from collections.abc import Mapping

from workalike.characterize.result import Characterization
from workalike.compare.from_log import side_of_log
from workalike.compare.from_record import side_of_record
from workalike.compare.side import Key, Side, SideFamily
from workalike.facts.counters import bytes_name
from workalike.facts.records import MODULE_OF_LEVEL
from workalike.record.run_record import Record
from workalike.workload.model import Direction, Level


def side_of_witness(log: Characterization, record: Record, levels: Mapping[Key, Level]) -> Side:
    """The side of a log of our engine, with the record of the same run beside it."""
    side = side_of_log(log, ours=True, levels=levels)
    told = side_of_record(record, dict(levels))
    for key, family in side.families.items():
        known = told.families.get(key)
        if known is None:
            continue
        if known.level is not family.level and _counts(family, known):
            family.level, family.dumps, family.timed_by_record = known.level, known.dumps, True
        elif _bytes(known) != _bytes(family) and _agree(family, known):
            family.dumps, family.timed_by_record = known.dumps, True
    return side


def _counts(family: SideFamily, known: SideFamily) -> bool:
    """Whether the log's counters at the record's level are the record's bytes.

    A log has states of one file at the level that tells most of them, say of datasets, and the family may be counted below.
    """
    counters = family.modules.get(MODULE_OF_LEVEL[known.level], {})
    moved = {d: total for d in Direction if (total := sum(dump.bytes_of(d) for dump in known.dumps))}
    return bool(moved) and all(counters.get(bytes_name(d), 0) == total for d, total in moved.items())


def _bytes(family: SideFamily) -> list[tuple[int, int]]:
    return [(d.bytes_written, d.bytes_read) for d in family.dumps]


def _agree(family: SideFamily, known: SideFamily) -> bool:
    """Equal bytes in every direction that the engine's dumps move; what it wrote to have something to read is no dump."""
    moved = [d for d in Direction if any(dump.bytes_of(d) for dump in known.dumps)]
    return all(
        sum(dump.bytes_of(d) for dump in family.dumps) == sum(dump.bytes_of(d) for dump in known.dumps)
        for d in moved
    )
