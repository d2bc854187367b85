"""Every pattern of two ranks against a table written by hand from the definitions of the four models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from workalike.diagnose.conflicts.analysis import Conflicts, conflicts
from workalike.diagnose.conflicts.events import ACCESS, FileCall, FileEvent, Flow, Message, Trace
from workalike.diagnose.conflicts.models import Model

# What each rank does, in order; `x` is its access of the file, `|` a barrier. Both open first and close last.
PATTERNS = {
    "none": ("open x close", "open x close"),
    "close-to-open": ("open x close |", "| open x close"),
    "fsync": ("open x sync | close", "open | x close"),
    "sync-barrier-sync": ("open x sync | close", "open | sync x close"),
    "barrier only": ("open x | close", "open | x close"),
    # Each lacks one thing that a model asks for.
    "fsync without barrier": ("open x sync close", "open sync x close"),
    "close-to-open without barrier": ("open x close", "open x close"),
    "sync too early": ("open sync x | close", "open | sync x close"),
    "sync of the reader too late": ("open x sync | close", "open | x sync close"),
    "opened before the barrier": ("open x close |", "open | x close"),
    "barrier before the sync": ("open x | sync close", "open | sync x close"),
    "barrier on one side of both": ("open | x close", "open x | close"),
}

P, C, M, S = Model.POSIX, Model.COMMIT, Model.MPI_IO, Model.SESSION
WRITE_FIRST = {
    "none": set(),
    "close-to-open": {P, C, M, S},
    "fsync": {P, C},
    "sync-barrier-sync": {P, C, M},
    "barrier only": {P},
    "fsync without barrier": set(),
    "close-to-open without barrier": set(),
    "sync too early": {P},
    "sync of the reader too late": {P, C},
    "opened before the barrier": {P, C},
    "barrier before the sync": {P},
    "barrier on one side of both": {P},  # here rank 1 is first
}
"""The models that order a write of rank 0 before an access of rank 1."""

READ_FIRST = {name: {P, C, M, S} if models else set() for name, models in WRITE_FIRST.items()}
"""A read before a write must only happen before it."""

PLACES = {"overlap": (0, 100, 50, 150), "touch": (0, 100, 100, 200), "apart": (0, 100, 300, 400)}


def trace_of(pattern: str, kinds: str, place: str, skew: float = 0.0) -> Trace:
    """`kinds` are the accesses of the two ranks, `w` or `r`; the clock of rank 1 is `skew` seconds ahead."""
    files, messages, rows = [], [], []
    for rank, text in enumerate(PATTERNS[pattern]):
        for step, word in enumerate(text.split()):
            start, end = 10.0 * step + rank * skew, 10.0 * step + 5 + rank * skew
            if word == "|":
                messages.append(Message(rank, Flow.ALL, comm=1, size=2, start=start, end=end))
            elif word == "x":
                first, last = PLACES[place][2 * rank : 2 * rank + 2]
                rows.append((0, rank, kinds[rank] == "w", first, last, start, end))
            else:
                files.append(FileEvent(0, rank, FileCall(word), start, end))
    return Trace(2, np.array(rows, dtype=ACCESS), files, messages)


def holding(found: Conflicts) -> set[Model]:
    return {model for model, count in found.broken.items() if not count}


@pytest.mark.parametrize("skew", [0.0, -1000.0, 1000.0])
@pytest.mark.parametrize(("pattern", "kinds", "place"), list(product(PATTERNS, ("ww", "wr", "rw"), PLACES)))
def test_every_pattern(pattern: str, kinds: str, place: str, skew: float) -> None:
    found = conflicts(trace_of(pattern, kinds, place, skew))
    if place != "overlap":
        assert found.overlaps == 0 and found.weakest is Model.SESSION and not found.examples
        return
    first = kinds[1] if pattern == "barrier on one side of both" else kinds[0]
    expected = (WRITE_FIRST if first == "w" else READ_FIRST)[pattern]
    assert found.overlaps == 1 and not found.gaps
    assert holding(found) == expected
    assert found.weakest is max(expected, key=[P, C, M, S].index, default=None)
    if expected == {P, C, M, S}:
        assert not found.examples
    else:
        (example,) = found.examples
        assert (example.file, set(example.ranks), example.offset, example.end) == (0, {0, 1}, 50, 100)
        assert set(example.holds) == expected


def test_reads_alone_and_one_rank_alone_are_no_conflict() -> None:
    trace = trace_of("none", "rr", "overlap")
    assert conflicts(trace).overlaps == 0
    trace = trace_of("none", "ww", "overlap")
    trace.accesses["rank"] = 1
    assert conflicts(trace).overlaps == 0


def test_different_files_are_no_conflict() -> None:
    trace = trace_of("none", "ww", "overlap")
    trace.accesses["file"] = [0, 1]
    assert conflicts(trace).overlaps == 0


def test_a_cap_is_said() -> None:
    rows = [(0, rank, True, 0, 10, 0.0, 1.0) for rank in range(20)]
    found = conflicts(Trace(20, np.array(rows, dtype=ACCESS)), most_pairs=100)
    assert found.overlaps == 100 and "more than 100" in found.gaps[0]
