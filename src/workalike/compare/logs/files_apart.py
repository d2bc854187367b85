"""Files that only the new log has, or only the baseline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from workalike.compare.logs.names import kind_of_name
from workalike.compare.logs.pairing import Files
from workalike.compare.logs.ranges import Run, distances
from workalike.compare.logs.schema import Change, Kind
from workalike.compare.logs.side import DIRECTION_BITS, SHARING_BITS
from workalike.facts.records import BoolArray, IntArray

MOST_FILES = 2000


@dataclass(frozen=True)
class Apart:
    """How many files there are more and less than in the baseline, and the largest of them."""

    more: int
    less: int
    changes: list[Change]


def more_and_less(
    files: Files,
    runs: Sequence[Run],
    which: BoolArray,
    moved: IntArray,
    names: Sequence[tuple[str, str | None]],
) -> Apart:
    """The files of `which` that one side lacks; a file that only some runs of the baseline have is none.

    Where the runs of a baseline have different numbers of files of a kind, the number of files is judged.
    """
    new = runs[-1].has
    in_any = np.any([run.has for run in runs[:-1]], axis=0)
    in_all = np.all([run.has for run in runs[:-1]], axis=0)
    more = np.flatnonzero(which & new & ~in_any)
    less = np.flatnonzero(which & ~new & in_all)
    if len(runs) > 2 and len(more) + len(less):
        usual = _usual_kinds(files, runs, which)
        more = np.array([row for row in more.tolist() if _kind(files, row) not in usual], dtype=np.int64)
        less = np.array([row for row in less.tolist() if _kind(files, row) not in usual], dtype=np.int64)
    changes = _changes("file more", more, moved, names) + _changes("file less", less, moved, names)
    return Apart(len(more), len(less), changes)


def _kind(files: Files, row: int) -> Hashable:
    """Files of one series: the pattern of the name, directions and sharing."""
    low = (1 << (SHARING_BITS + DIRECTION_BITS)) - 1
    return kind_of_name(files.names[row]), int(files.shape[row]) & low


def _usual_kinds(files: Files, runs: Sequence[Run], which: BoolArray) -> set[Hashable]:
    """Kinds of which the baseline has varying numbers of files, and the new log a number that is alike."""
    rows = np.flatnonzero(which & ~np.all([run.has for run in runs], axis=0))
    counts: dict[Hashable, Counter[int]] = defaultdict(Counter)
    for row in rows.tolist():
        counts[_kind(files, row)].update(number for number, run in enumerate(runs) if run.has[row])
    usual = set()
    for kind, by_run in counts.items():
        earlier = [by_run[number] for number in range(len(runs) - 1)]
        low, high = min(earlier), max(earlier)
        _, changed = distances(
            np.array([low]), np.array([high]), np.array([by_run[len(runs) - 1]]), len(earlier)
        )
        if low != high and not changed[0]:
            usual.add(kind)
    return usual


def _changes(
    kind: Kind, rows: IntArray, moved: IntArray, names: Sequence[tuple[str, str | None]]
) -> list[Change]:
    largest = rows[np.argsort(-moved[rows], kind="stable")][:MOST_FILES].tolist()
    out = []
    for row in largest:
        size = int(moved[row])
        sizes = {"now": size} if kind == "file more" else {"before": size, "before_most": size}
        out.append(
            Change(kind=kind, module="FILE", counter="BYTES", file=names[row][0], off_pct=100.0, **sizes)
        )
    return out
