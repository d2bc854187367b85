"""When a rank makes each of its calls, by the core's agenda with a virtual clock: nothing is performed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workalike import _core
from workalike.plan.core import core_plan, refusal
from workalike.plan.plan_schema import Plan

MOST_CALLS = 10_000_000
AT_ONCE = 100_000
"""Calls that are made into objects at a time, since an object takes ten times the memory of its columns."""

COLUMNS = ("start_s", "busy_s", "dump", "kind", "file", "offset", "length")


@dataclass(frozen=True)
class TimedCall:
    """A call of a rank. Times are seconds of the original run, offset and length bytes (None: the call has none)."""

    start_s: float
    busy_s: float
    role: str
    number: int
    dump: int
    call: str
    file: str
    offset: int | None
    length: int | None


def timeline(plan: Plan, rank: int, most: int = MOST_CALLS) -> Iterator[TimedCall]:
    """The calls of a rank in all dumps, in the order of time.

    Raises:
        WorkalikeError: USAGE if the core refuses the plan, or the rank has more than `most` calls.
    """
    try:
        columns = core_plan(plan).timeline(rank=rank, most=most)
    except _core.PlanError as error:
        raise refusal(error, None) from error
    return _calls(plan, columns)


def _calls(plan: Plan, columns: dict[str, Any]) -> Iterator[TimedCall]:
    families = {family.id: family for family in plan.families}
    names = columns.pop("names")
    for first in range(0, len(columns["start_s"]), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        rows = (columns[name][part].tolist() for name in COLUMNS)
        for start, busy, position, kind, file, offset, length in zip(*rows, strict=True):
            dump = plan.dumps[position]
            family = families[dump.family]
            word = _core.kinds[kind]
            moves = word in ("read", "write")
            yield TimedCall(
                start_s=start,
                busy_s=busy,
                role=family.role.value,
                number=family.number,
                dump=dump.index,
                call=word,
                file=names[file],
                offset=offset if offset >= 0 else None,
                length=length if moves else None,
            )
