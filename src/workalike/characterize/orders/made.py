"""Families whose order no reading gives: an order of operations that has the counters of each record.

Sizes and the number of operations of each dump are those of the family as it was read. Which operation goes back, goes on
or leaves a gap, and where it lies, is made so that the record's counters are met. The operations go into an operation
table. Any other order with these counters would do as well: `placement` stays assumed.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product

import numpy as np

from workalike.characterize.options import CounterGroup
from workalike.characterize.orders.counts import RecordCounts, counts_of
from workalike.characterize.orders.directions import Turns, in_turns
from workalike.characterize.orders.offsets import Place, offsets_of
from workalike.characterize.orders.places import Blocks
from workalike.characterize.orders.sizes import Sizes, sizes_of
from workalike.characterize.orders.sweeps import Gaps, Operation
from workalike.characterize.readings.changes import with_contents
from workalike.characterize.readings.evidence import Evidence, evidence_of
from workalike.characterize.readings.loss import Loss, Residuals, size_of
from workalike.characterize.readings.reading import OFFSETS
from workalike.characterize.result import DumpFacts, FamilyFacts
from workalike.characterize.rules import OrderRule
from workalike.characterize.traces.exact import TableBuilder, by_table, planned_rows, with_bytes
from workalike.facts.jobs import JobFacts
from workalike.facts.records import ModuleFacts
from workalike.facts.rules import by
from workalike.facts.thresholds import THRESHOLDS
from workalike.predict.agreement import WITHIN
from workalike.workload.model import Direction, Family
from workalike.workload.operation_table import MAX_ROWS, OperationTable, joined
from workalike.workload.words import STAYS_OPEN

ORDER = (*OFFSETS, "RW_SWITCHES", "STRIDE")
"""What the names of counters begin with that depend on the order of operations."""
SEQUENCES: tuple[Callable[[int], float], ...] = (lambda size: 0, lambda size: size or math.inf)
"""How operations of a dump are sorted before they are placed: not at all, or the smallest first and empty reads last."""

Size = tuple[int, tuple[int, float], int]
"""How much is off, for comparison."""
RecordKey = tuple[tuple[int, bool], int]
"""A file, and the row of its record."""


def with_order(
    facts: FamilyFacts, job: JobFacts, table: TableBuilder, leave_out: Collection[CounterGroup] = ()
) -> FamilyFacts:
    """The family with an order made from counters, if it is off in counters of the order, and then in fewer ones."""
    evidence = evidence_of(facts, job)
    if evidence is None or evidence.module != "POSIX":
        return facts
    loss = Loss(evidence, leave_out)
    operations = sum(evidence.log.counters.get(name, 0) for name in ("READS", "WRITES"))
    sequences = _sequences(evidence)
    before = _counters_off(loss, facts.family, sequences, operations)
    if not before or not any(row.counter.startswith(ORDER) for row in before):
        return facts
    if max(operations, job.nprocs) > THRESHOLDS.orders_most:
        return facts
    members = facts.family.members(job.nprocs)
    found: list[tuple[Size, Family, list[OperationTable], Residuals]] = []
    for own_sizes in (False, True):
        dumps = _rows(facts, evidence, own_sizes)
        if dumps is not None and table.rows + sum(map(len, dumps)) <= MAX_ROWS:
            for opened in _ways_to_open(facts.family):
                own = TableBuilder()
                after = loss.residuals(by_table(opened, dumps, own, members), own.operations(), sequences)
                if after is not None and _size_of(after) < _size_of(before):
                    found.append((_size_of(after), opened, dumps, after))
    if not found:
        return facts
    _, opened, dumps, after = min(found, key=lambda made: made[0])
    return replace(
        facts,
        family=by_table(opened, dumps, table, members),
        dumps=with_bytes(facts.dumps, dumps),
        rules=[*facts.rules, by(OrderRule.FROM_COUNTERS)],
        misfit=after,
        fitted=True,
    )


def _counters_off(loss: Loss, family: Family, sequences: int, operations: int) -> Residuals | None:
    """The counters that are off: of many operations, those that chance does not explain; of few, all of them.

    In between, chance explains counters that a verdict would not call alike: all of them count if any is so far off.
    """
    if operations <= THRESHOLDS.orders_small:
        return loss.residuals(family, sequences=sequences, chance=False)
    found = loss.residuals(family, sequences=sequences, chance=True)
    if found is None or operations > THRESHOLDS.orders_some:
        return found
    all_off = loss.residuals(family, sequences=sequences, chance=False) or []
    far = [
        row
        for row in all_off
        if row.counter.startswith(("SEQ_", "MAX_BYTE_"))
        and abs(row.found - row.expected) > WITHIN * row.expected
    ]
    return all_off if far else found


def _ways_to_open(family: Family) -> list[Family]:
    """The family, and with all opens at once: an order that goes back often may be that of several passes."""
    contents = family.all_contents()
    if not any(content.reopen for content in contents):
        return [family]
    at_once = [content.model_copy(update={"reopen": False}) for content in contents]
    return [family, *with_contents(family, at_once)]


def _size_of(residuals: Residuals) -> Size:
    """How much is off: first what storage is judged by; gaps come last, which are none of a family's in random order."""
    others = [row for row in residuals if not row.counter.startswith("STRIDE")]
    at_storage = sum(row.counter.startswith(OFFSETS) for row in residuals)
    return at_storage, size_of(others), len(residuals)


def _sequences(evidence: Evidence) -> int:
    """Files, each as often as ranks have them."""
    ranks = [module.ranks for module in evidence.modules()]
    return sum(evidence.nprocs if rank < 0 else 1 for of_file in ranks for rank in of_file.tolist())


@dataclass
class _OfRecord:
    """The operations on one file by one rank: of each dump that uses it, their directions' sizes and the first one."""

    counts: RecordCounts
    own_sizes: list[Sizes] | None = None
    places: list[int] = field(default_factory=list)
    sizes: dict[Direction, list[list[int]]] = field(default_factory=lambda: {d: [] for d in Direction})
    turns: list[Turns] = field(default_factory=list)


def _rows(facts: FamilyFacts, evidence: Evidence, own_sizes: bool) -> list[OperationTable] | None:
    """The rows of each dump; None where records do not tell, or no order meets them.

    With `own_sizes`, sizes are those that each record has by itself, not those that dumps have in the mean.
    """
    planned = planned_rows(facts.family, evidence.job)
    if planned is None or len(planned) != len(facts.dumps):
        return None
    records: dict[tuple[RecordKey, int], _OfRecord] = {}
    for place, (dump, rows) in enumerate(zip(facts.dumps, planned, strict=True)):
        for rank in np.unique(rows.ranks).tolist():
            key = _record_of(dump, rank, evidence)
            if key is None:
                return None
            if (key, rank) not in records:
                module = next(f for f in dump.files if f.key == key[0]).modules[evidence.module]
                counts = counts_of(module, key[1])
                if counts is None:
                    return None
                sizes = _own_sizes(module, key[1], counts, evidence) if own_sizes else None
                records[key, rank] = _OfRecord(counts, sizes)
            _add(records[key, rank], place, rows.chosen(rows.ranks == rank))
    parts: list[list[OperationTable]] = [[] for _ in planned]
    for (_, rank), record in sorted(records.items(), key=lambda item: item[0][1]):
        made = _made(record, rank, stays_open=facts.family.lifetime in STAYS_OPEN)
        if made is None:
            return None
        for place, rows in zip(record.places, made, strict=True):
            parts[place].append(rows)
    return [joined(part) for part in parts] if all(parts) else None


def _record_of(dump: DumpFacts, rank: int, evidence: Evidence) -> RecordKey | None:
    """The record of a rank's file in a dump; None if there is none of its own, or several."""
    found = [
        (file.key, row)
        for file in dump.files
        if evidence.module in file.modules
        for row, of_record in enumerate(file.modules[evidence.module].ranks.tolist())
        if of_record == rank or (of_record < 0 and evidence.nprocs == 1)
    ]
    return found[0] if len(found) == 1 else None


def _own_sizes(module: ModuleFacts, row: int, counts: RecordCounts, evidence: Evidence) -> list[Sizes]:
    """The sizes of a record as they may be; the more records and operations a family has, the fewer ways are tried."""
    reach = {d: counts.by_direction[d].reach for d in Direction}
    operations = sum(evidence.log.counters.get(name, 0) for name in ("READS", "WRITES"))
    lists = min(THRESHOLDS.orders_sizes, max(1, THRESHOLDS.orders_most // max(1, operations)))
    ways = max(1, THRESHOLDS.orders_shares // _sequences(evidence))
    return list(islice(sizes_of(module, row, evidence.module, reach, ways), lists))


def _with_sizes(record: _OfRecord, own: Sizes) -> _OfRecord | None:
    """The record with its own sizes, those of each direction dealt to the dumps in turn; None if these are not as many."""
    if any(sum(map(len, record.sizes[d])) != len(own[d]) for d in Direction):
        return None
    return replace(
        record, sizes={d: _dealt(own[d], [len(sizes) for sizes in record.sizes[d]]) for d in Direction}
    )


def _dealt(sizes: Sequence[int], numbers: Sequence[int]) -> list[list[int]]:
    """The sizes to as many as each dump has, so that each gets large and small ones alike."""
    places = sorted((place / number, dump) for dump, number in enumerate(numbers) for place in range(number))
    out: list[list[int]] = [[] for _ in numbers]
    for size, (_, dump) in zip(sizes, places, strict=True):
        out[dump].append(size)
    return out


def _add(record: _OfRecord, place: int, rows: OperationTable) -> None:
    record.places.append(place)
    for direction in Direction:
        of_direction = rows.writes == (direction is Direction.WRITE)
        record.sizes[direction].append(rows.lengths[of_direction].tolist())
    writes = int(np.count_nonzero(rows.writes))
    first = Direction.WRITE if rows.writes[0] else Direction.READ
    record.turns.append(Turns(len(rows) - writes, writes, first))


def _made(record: _OfRecord, rank: int, stays_open: bool) -> list[OperationTable] | None:
    """The rows of each dump of a record; None where its sizes are not as many as its operations.

    Where no order has its counters, each operation goes back: an operation that follows an open may be counted as one
    that goes on, which no order of one open can have. The record is off then, but others of the family are not.
    """
    sized = [record]
    if record.own_sizes is not None:
        sized = [made for own in record.own_sizes if (made := _with_sizes(record, own)) is not None]
    back = [replace(made, counts=made.counts.all_back()) for made in sized[:1]]
    placed = next((found for made in [*sized, *back] if (found := _placed(made, stays_open))), None)
    if placed is None:
        return None
    turns = in_turns(record.turns, record.counts.switches)
    return [
        _table(rank, order, {direction: placed[direction][dump] for direction in Direction})
        for dump, order in enumerate(turns)
    ]


def _placed(record: _OfRecord, stays_open: bool) -> dict[Direction, list[list[Place]]] | None:
    """Where the operations of each direction are in each dump: with all gaps that are known, or else with none of them."""
    of_direction = record.counts.by_direction
    if any(sum(map(len, record.sizes[d])) != of_direction[d].operations for d in Direction):
        return None
    for gaps in _shares_of_gaps(record.counts):
        out: dict[Direction, list[list[Place]]] = {}
        for direction in sorted(Direction, key=lambda d: (of_direction[d].back, d.value)):
            blocks = _blocks(record.counts, direction, out)
            found = _in_direction(record, direction, gaps[direction], stays_open, blocks)
            if found is None:
                break
            out[direction] = found
        else:
            return out
    return None


def _blocks(
    counts: RecordCounts, direction: Direction, placed: Mapping[Direction, list[list[Place]]]
) -> Blocks:
    """The blocks that a direction should begin: its share of the operations, or what the other direction has left."""
    if not placed:
        operations = {d: of_direction.operations for d, of_direction in counts.by_direction.items()}
        share = counts.aligned * operations[direction] // max(1, sum(operations.values()))
        return Blocks(counts.block, share)
    before = [offset for dumps in placed.values() for dump in dumps for offset, _ in dump]
    return Blocks(counts.block, counts.aligned - sum(offset % counts.block == 0 for offset in before))


def _in_direction(
    record: _OfRecord, direction: Direction, gaps: Gaps, stays_open: bool, blocks: Blocks
) -> list[list[Place]] | None:
    for key in SEQUENCES:
        sizes = [_full_first(sorted(of_dump, key=key)) for of_dump in record.sizes[direction]]
        dumps = [[Operation(size, dump) for size in of_dump] for dump, of_dump in enumerate(sizes)]
        found = offsets_of(
            [[operation for of_dump in dumps for operation in of_dump]] if stays_open else dumps,
            record.counts.by_direction[direction],
            gaps,
            seed=zlib.crc32(repr((record.counts, direction.value)).encode()),
            blocks=blocks,
        )
        if found is not None:
            rest = iter([operation for of_open in found for operation in of_open])
            return [[next(rest) for _ in of_dump] for of_dump in dumps]
    return None


def _full_first(sizes: list[int]) -> list[int]:
    """The sizes, with none that is 0 before the first other one: there, at offset 0, it would count as going back."""
    first = next((place for place, size in enumerate(sizes) if size), 0)
    return [*sizes[first : first + 1], *sizes[:first], *sizes[first + 1 :]]


def _shares_of_gaps(counts: RecordCounts) -> Iterator[dict[Direction, Gaps]]:
    """The gaps of each direction as they may be, those last that do not all fit.

    A record counts the gaps of both directions together, each value with its number.
    """
    ahead = {direction: counts.by_direction[direction].ahead for direction in Direction}
    values = Counter(counts.gaps)
    rare = counts.rare_gap or None
    for owners in product(Direction, repeat=len(values)):
        shares: dict[Direction, list[int]] = {direction: [] for direction in Direction}
        for (gap, times), owner in zip(values.items(), owners, strict=True):
            shares[owner] += [gap] * times
        if all(len(shares[direction]) <= ahead[direction] for direction in Direction):
            yield {d: Gaps(tuple(known), counts.all_gaps, less_than=rare) for d, known in shares.items()}
    mixed: dict[Direction, list[int]] = {direction: [] for direction in Direction}
    for gap in counts.gaps:
        mixed[max(Direction, key=lambda d: ahead[d] - len(mixed[d]))].append(gap)
    for complete, fit in ((counts.all_gaps, True), (False, False)):
        yield {d: Gaps(tuple(known), complete, fit, rare) for d, known in mixed.items()}
    yield dict.fromkeys(Direction, Gaps())


def _table(rank: int, order: Sequence[Direction], placed: dict[Direction, list[Place]]) -> OperationTable:
    """The rows of one dump, in an order of directions."""
    writes = np.array([direction is Direction.WRITE for direction in order], dtype=bool)
    where = np.zeros((len(order), 2), dtype=np.int64)
    for direction, operations in placed.items():
        where[writes == (direction is Direction.WRITE)] = np.reshape(operations, (-1, 2))
    return OperationTable(
        np.full(len(order), rank, dtype=np.int64),
        writes,
        where[:, 0],
        where[:, 1],
        np.zeros(len(order), dtype=bool),
    )
