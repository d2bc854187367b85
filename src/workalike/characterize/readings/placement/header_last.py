"""A header at the file's beginning that is written when all data are there, as of archives and sound files."""

from __future__ import annotations

from collections.abc import Iterator

from workalike.characterize.readings.changes import valid, writes_by_size
from workalike.characterize.readings.reading import OFFSETS, Case, Reading
from workalike.workload.model import Direction, Entry, Family, Stream


def candidates(case: Case) -> Iterator[Family]:
    content = case.family.content
    if content is None:
        return
    writes, others, ranks = writes_by_size(content, case.members)
    single = sorted(size for count, size in writes if count == 1)
    for header in single if len(writes) > 1 and len(single) == 1 else ():
        data = [pair for pair in writes if pair[1] != header]
        entries = [Entry(count=n, size=size, per_rank=True) for n, size in data]
        last = [Entry(count=1, size=header, per_rank=True)]
        streams = [
            Stream(direction=Direction.WRITE, sizes=entries, base=header, ranks=ranks),
            Stream(direction=Direction.WRITE, sizes=last, base=0, ranks=ranks),
        ]
        yield from valid(
            case.family, content=content.model_copy(update={"streams": [*streams, *others], "passes": 1})
        )


READING = Reading(
    id="header-last",
    sentence="operations: a header at the file's beginning, written last (the predicted counters fit better)",
    evidence="One write goes back, or follows none, and one size occurs once.",
    rank=132,
    candidates=candidates,
    off=OFFSETS,
    applies=lambda case: case.writes_alone,
)
