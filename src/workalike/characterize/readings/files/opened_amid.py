"""A file that is closed and opened anew amid the operations of a dump."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workalike.characterize.readings.changes import with_contents
from workalike.characterize.readings.evidence import operations_of
from workalike.characterize.readings.reading import Case, Reading
from workalike.workload.model import Content, Direction, Family, Level
from workalike.workload.words import STAYS_OPEN


def candidates(case: Case) -> Iterator[Family]:
    contents = case.family.all_contents()
    yield from with_contents(case.family, _reopened(contents, [c.opens for c in contents], case.members))
    if case.family.use is not None or len(contents) != case.family.schedule.dumps:
        return
    for directions in (tuple(Direction), (Direction.WRITE,), (Direction.READ,)):
        opens = _by_operations(contents, case.members, directions)
        yield from with_contents(case.family, _reopened(contents, opens, case.members))


def _by_operations(contents: Sequence[Content], members: int, directions: Sequence[Direction]) -> list[int]:
    """The opens of all contents, of which a log has the sum, shared out as operations are.

    Contents that move data in none of the directions are opened once by each member.
    """
    takes = [any(content.moved(members, d) for d in directions) for content in contents]
    operations = [operations_of(c, members) if own else 0 for c, own in zip(contents, takes, strict=True)]
    whole = sum(content.opens for content in contents) - members * takes.count(False)
    ends = [whole * sum(operations[: i + 1]) // max(1, sum(operations)) for i in range(len(operations))]
    shares = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    return [share if own else members for share, own in zip(shares, takes, strict=True)]


def _reopened(contents: Sequence[Content], opens: Sequence[int], members: int) -> list[Content]:
    """The contents with these opens, spread over the operations where ranks have several."""
    return [
        content.model_copy(
            update={"opens": count, "reopen": count > members and bool(content.streams or content.table)}
        )
        for content, count in zip(contents, opens, strict=True)
    ]


READING = Reading(
    id="opened-amid",
    sentence="files: opened anew amid their operations (the predicted counters fit better)",
    evidence="Darshan counts sequential and consecutive operations anew with each open, so these are fewer.",
    rank=25,
    candidates=candidates,
    off=("CONSEC_", "SEQ_"),
    applies=lambda case: case.family.counted_at is Level.POSIX and case.family.lifetime not in STAYS_OPEN,
)
