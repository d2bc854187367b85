"""A header at the file's beginning that is written again after each block of data.

Of the writes of one file, those that go back (writes - 1 - SEQ) are of the header, which is the size that occurs once
more: it begins the file, or the first write does not begin at offset 0, which counts as one that goes forward. The other
writes follow each other within a block (CONSEC).
"""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import Sizes, valid, writes_by_size
from workalike.characterize.readings.reading import Case, Reading
from workalike.facts.thresholds import THRESHOLDS
from workalike.plan.scale import split_even
from workalike.workload.model import Direction, Entry, Family, Stream


def candidates(case: Case) -> Iterator[Family]:
    content = case.family.content
    if content is None:
        return
    writes, others, ranks = writes_by_size(content, case.members)
    counters = case.evidence.determined
    files = max(1, len(case.evidence.files))
    back, rest = divmod(counters.get("WRITES", 0) - counters.get("SEQ_WRITES", 0), files)
    back -= 1  # a file's first write follows none
    if rest or not 1 < back <= THRESHOLDS.runs_places:
        return
    for count, size in writes:
        data = [pair for pair in writes if pair[1] != size]
        for first, last in ((True, True), (True, False), (False, True)) if data and count == back + 1 else ():
            streams = _streams(size, data, count - (first and last), first, last, ranks)
            made = content.model_copy(update={"streams": [*streams, *others], "passes": 1})
            yield from valid(case.family, content=made)


def _streams(header: int, data: Sizes, blocks: int, first: bool, last: bool, ranks: object) -> list[Stream]:
    """The header (at the beginning if `first`, at the end if `last`) and blocks of data in turn."""

    def stream(count: int, size: int, base: int) -> Stream:
        entry = Entry(count=count, size=size, per_rank=True)
        return Stream.model_validate(
            {"direction": Direction.WRITE, "sizes": [entry], "base": base, "ranks": ranks}
        )

    out = [stream(1, header, 0)] if first else []
    end = header
    dealt = [
        [(share, size) for times, share in split_even(count, blocks) for _ in range(times)]
        for count, size in data
    ]
    for number, block in enumerate(zip(*dealt, strict=True)):
        for count, size in block:
            if count:
                out.append(stream(count, size, end))
                end += count * size
        if last or number + 1 < blocks:
            out.append(stream(1, header, 0))
    return out


READING = Reading(
    id="header-rewritten",
    sentence="operations: a header at the file's beginning, written again after each block of data (the predicted counters "
    "fit better)",
    evidence="As many writes go back as one size occurs, and the largest offset is that of the other sizes and one of it.",
    rank=135,
    candidates=candidates,
    off=("CONSEC_WRITES", "SEQ_WRITES", "MAX_BYTE_WRITTEN"),
    applies=lambda case: case.writes_alone,
)
