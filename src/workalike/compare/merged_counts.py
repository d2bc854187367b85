"""Counts of sizes in reduced records: what a log's table of four says of operations by several ranks.

The record of a shared file has the four most frequent of all ranks' four values. A rank that had a value among its
others counts for none, so a value's count is a lower bound; how many operations no value counts is known
(`Determined.lost`). The workload's operations are known, whatever ranks they are of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workalike.predict.agreement import DeterminedRow
from workalike.predict.determined import Determined
from workalike.workload import units
from workalike.workload.model import Content, Family, TableReference

TABLE = "ACCESS"


def with_lost_counts(
    rows: Sequence[DeterminedRow], log: Determined, sizes: Counter[int] | None
) -> list[DeterminedRow]:
    """The rows of the families' own module, with the sizes of their operations; the log's may be more by what it lost.

    All sizes together have what the log lost; those that need the least get it first. `sizes` are all operations of the
    model by size, None where they are not known.
    """
    found = list(rows)
    if sizes is None or not log.lost[TABLE]:
        return found
    of_table = {place: sizes[size_in(row)] for place, row in enumerate(found) if is_of_table(row)}
    left = log.lost[TABLE]
    for place, count in sorted(of_table.items(), key=lambda item: item[1] - found[item[0]].expected):
        beyond = max(0, count - found[place].expected)
        unknown = beyond if beyond <= left else 0
        found[place] = replace(found[place], found=count, unknown=unknown)
        left -= unknown
    return found


def is_of_table(row: DeterminedRow) -> bool:
    """Whether a row counts the operations of one size."""
    return row.counter.startswith(f"{TABLE} of ")


def size_in(row: DeterminedRow) -> int:
    """The size of such a row, in bytes."""
    return int(row.counter.split()[2])


def sizes_of(
    families: Sequence[Family], ranks: int, operations: TableReference | None
) -> Counter[int] | None:
    """How many operations of each size the families have; None where not all are of streams or of the table."""
    out: Counter[int] = Counter()
    for family in families:
        uses = Counter(family.content_number(dump) for dump in range(family.schedule.dumps))
        for number, content in enumerate(family.all_contents()):
            of_content = _of_content(content, family.members(ranks), operations)
            if of_content is None or family.sizes is not None:
                return None
            for size, count in of_content.items():
                out[size] += count * uses[number]
    return out


def _of_content(content: Content, members: int, operations: TableReference | None) -> Counter[int] | None:
    out: Counter[int] = Counter()
    if content.table is not None:
        if operations is None or operations.table is None:
            return None
        lengths = operations.table.part(content.table.first, content.table.count).lengths
        out.update(dict(zip(*(a.tolist() for a in np.unique(lengths, return_counts=True)), strict=True)))
        return out
    if content.arrays or content.fit or content.mesh or content.dataset:
        return None
    for stream in content.streams:
        own = members if stream.ranks is None else units.count_ranks(stream.ranks)
        for entry in stream.sizes:
            out[entry.size] += entry.total(own) * stream.repeat * content.passes
    return out
