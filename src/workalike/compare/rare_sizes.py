"""Sizes as rare as the rarest that a log names: which of them a record names is chance, and no difference.

A record names its four most frequent sizes. Where the fourth is there once, as many others may be. A model that has an
operation of a named size agrees with the log, although a log of its run might name another one; not so a model with a size
that is more frequent than those that the log names, since the log would name it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from workalike.compare.merged_counts import TABLE, is_of_table, size_in
from workalike.predict.agreement import DeterminedRow
from workalike.predict.determined import Determined


def with_rare_sizes(
    rows: Sequence[DeterminedRow], log: Determined, model: Determined, sizes: Counter[int] | None
) -> list[DeterminedRow]:
    """The rows with what the model has of each size that the log names, and of sizes that it would name.

    Args:
        rows: of one module and group.
        log: its counters.
        model: those that a log of the model's run would have.
        sizes: all operations of the model by size; None where they are not known.
    """
    if not rows or sizes is None or TABLE not in log.cut or log.lost[TABLE]:
        return list(rows)
    out = []
    for row in rows:
        if is_of_table(row) and row.found < row.expected:
            row = replace(row, found=max(row.found, min(row.expected, sizes[size_in(row)])))
        out.append(row)
    most = log.rarest[TABLE]
    first = rows[0]
    for size, count in sorted(model.common[TABLE].items()):
        if size not in log.common[TABLE] and count > most:
            out.append(DeterminedRow(first.group, first.module, f"{TABLE} of {size} B", most, count))
    return out
