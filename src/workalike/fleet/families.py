"""The families of a log: rows of the `family` table, and the family of each file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workalike.facts import naming
from workalike.facts.columns import CallColumns, Facts
from workalike.facts.file_table import NOTHING, FileTable, file_table
from workalike.facts.records import BoolArray, IntArray
from workalike.facts.signature import FamilySignature, families_of
from workalike.workload.words import Role, SharingMode

Row = dict[str, Any]
LONGEST_PATTERN = 300
"""Characters of a name pattern that are stored."""


@dataclass(frozen=True)
class Families:
    """`rows` are those of the table, without `log_id`; `of_file` int64[N] is the family of each file, -1 without."""

    rows: list[Row]
    of_file: IntArray


def families(facts: Facts, kept: BoolArray, *, names: bool) -> Families:
    """The families of those files that are `kept` and that moved data; patterns of names only with `names`."""
    which = np.flatnonzero(kept & _moved(facts))
    part = restricted(facts, which)
    table = file_table(part, placed=False)
    of_file = np.full(len(facts), -1, dtype=np.int64)
    rows = []
    for number, (signature, places) in enumerate(families_of(table, part.nprocs)):
        of_file[which[table.file[places]]] = number
        pattern = naming.pattern_of(part.names[int(table.file[places[0]])]) if names else ""
        rows.append(_row(number, signature, table, places, pattern[:LONGEST_PATTERN]))
    return Families(rows, of_file)


def restricted(facts: Facts, which: IntArray) -> Facts:
    """The facts of some files only; `which` int64 are their rows, ascending."""
    number = np.full(len(facts), -1, dtype=np.int64)
    number[which] = np.arange(len(which))
    modules = {}
    for name, records in facts.modules.items():
        rows = np.flatnonzero(number[records.file] >= 0)
        if len(rows):
            modules[name] = replace(
                records,
                file=number[records.file[rows]],
                ids=records.ids[rows],
                ranks=records.ranks[rows],
                counters=records.counters[rows],
                fcounters=records.fcounters[rows],
                first_rank=records.first_rank[rows],
                members=records.members[rows],
                doubted=records.doubted[rows],
                partial=records.partial[rows],
            )
    nothing = np.zeros(0, dtype=np.int64)
    return replace(
        facts,
        record_ids=facts.record_ids[which],
        names=tuple(facts.names[i] for i in which.tolist()),
        stripe_size=facts.stripe_size[which],
        stripe_count=facts.stripe_count[which],
        truncations=facts.truncations[which],
        removals=facts.removals[which],
        modules=modules,
        calls=CallColumns(nothing, nothing, nothing, nothing, nothing),
    )


def _moved(facts: Facts) -> BoolArray:
    """bool[N]: whether any module moved bytes of each file."""
    moved = np.zeros(len(facts), dtype=bool)
    for records in facts.modules.values():
        for name in ("BYTES_READ", "BYTES_WRITTEN"):
            if name in records.counter_names:
                moved[records.file[records.column(name) > 0]] = True
    return moved


def _row(
    number: int,
    signature: FamilySignature,
    table: FileTable,
    places: np.typing.NDArray[np.intp],
    pattern: str,
) -> Row:
    files = len(places)
    per_rank = signature.sharing is SharingMode.PER_RANK
    dumps = max(1, round(files / signature.ranks)) if per_rank else files
    starts = np.sort(table.start[places])
    firsts = starts[:: max(1, files // dumps)]
    return {
        "family": number,
        "signature": signature.text(),
        "role": _role(table, places),
        "interface": signature.interface.value,
        "level": signature.level.value,
        "sharing": signature.sharing.value,
        "ranks": signature.ranks,
        "files": files,
        "dumps": dumps,
        "interval_s": float(np.median(np.diff(firsts))) if len(firsts) > 1 else None,
        "bytes_written": sum(table.bytes_written[places].tolist()),
        "bytes_read": sum(table.bytes_read[places].tolist()),
        "writes": sum(table.writes[places].tolist()),
        "reads": sum(table.reads[places].tolist()),
        "first_s": float(starts[0]),
        "last_s": float(table.end[places].max()),
        "pattern": pattern,
    }


def _role(table: FileTable, places: np.typing.NDArray[np.intp]) -> str:
    """The role that the names say for most files; else by direction."""
    codes, counts = np.unique(table.role_by_name[places], return_counts=True)
    named = codes != NOTHING
    if named.any() and counts[named].max() * 2 > len(places):
        return list(Role)[int(codes[named][counts[named].argmax()])].value
    if not table.bytes_read[places].any():
        return Role.OUTPUT.value
    return Role.OTHER.value if table.bytes_written[places].any() else Role.INPUT.value
