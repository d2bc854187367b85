"""Sizes of operations that are nearly those of the log: 2,947 B in place of 2,944 B is off by 0.1 %, not by all.

A log names the sizes of operations to the byte, and the model may have them from bytes and counts. An operation that has
about the size of one that is missing stands for it. The error is then by how much the sizes differ, so that the counter
is not equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from workalike.compare.merged_counts import TABLE, is_of_table, size_in
from workalike.predict.agreement import DeterminedRow
from workalike.predict.determined import Determined

NEAREST = 0.15
"""Sizes further apart are two sizes: no grade but `different` allows for more."""


def with_near_sizes(rows: Sequence[DeterminedRow], model: Determined) -> list[DeterminedRow]:
    """The rows, with the operations of near sizes in place of those that the model lacks; each stands for one.

    Args:
        rows: of one module and group, the log's counters against the model's.
        model: the counters of the model, with the sizes that no row is about.
    """
    of_table = {size_in(row): row for row in rows if is_of_table(row)}
    lacks = Counter({n: row.expected - row.found for n, row in of_table.items() if row.found < row.expected})
    spare = Counter({n: count for n, count in model.common[TABLE].items() if n not in of_table})
    spare.update({n: row.found - row.expected for n, row in of_table.items() if row.found > row.expected})
    near = [
        (abs(other - size) / size, size, other)
        for size in lacks
        for other in spare
        if abs(other - size) <= NEAREST * size
    ]
    taken, given, furthest = Counter[int](), Counter[int](), dict[int, float]()
    for apart, size, other in sorted(near):
        number = min(lacks[size] - taken[size], spare[other] - given[other])
        if number > 0:
            taken[size] += number
            given[other] += number
            furthest[size] = apart
    out = []
    for row in rows:
        if not is_of_table(row):
            out.append(row)
            continue
        size = size_in(row)
        left = replace(row, found=row.found + taken[size] - given[size])
        if size in furthest:
            left = replace(left, counter=f"{row.counter}, and near it", size_error=furthest[size])
        if left.expected or left.found:
            out.append(left)
    return out
