"""Which moment of one rank happened before which moment of another, by the MPI calls between them.

Vector clocks (Mattern 1989): after each call a rank knows how many steps of every other rank precede it. A call has a
step where it gives (its start) and one where it has waited (its end).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workalike.diagnose.conflicts.events import Flow, Message

MOST_CELLS = 50_000_000
"""Numbers in all vector clocks; beyond that a job is too large to be ordered."""

Clock = npt.NDArray[np.int32]


@dataclass(frozen=True)
class _Step:
    time: float
    message: int
    waits: bool


@dataclass
class _Meeting:
    """The calls that belong together. Of a collective call (`together`) all members wait for the same ranks."""

    givers: set[int]
    together: bool = False
    given: dict[int, tuple[Clock, int]] = field(default_factory=dict)
    merged: Clock | None = None

    def has(self, needed: set[int] | None) -> bool:
        """Whether the ranks of `needed` (None: all) have given."""
        return len(self.given) >= len(self.givers) if needed is None else needed <= self.given.keys()


class Order:
    """The order of the moments of a job's ranks. `gaps` says which calls had no counterpart.

    Args:
        ranks: number of ranks.
        messages: their MPI calls, in any order.
    """

    def __init__(self, ranks: int, messages: Sequence[Message]) -> None:
        self.gaps: list[str] = []
        self._messages = messages
        self._ranks = ranks
        self._steps: list[list[_Step]] = [[] for _ in range(ranks)]
        self._gives: list[list[float]] = [[] for _ in range(ranks)]
        self._numbers: list[list[int]] = [[] for _ in range(ranks)]
        self._waited: list[list[float]] = [[] for _ in range(ranks)]
        self._clocks: list[list[Clock]] = [[] for _ in range(ranks)]
        self._lay_out()
        self._meetings, self._of = _match(messages, self.gaps)
        self._run()

    def before(self, rank: int, time: float, other: int, later: float) -> bool:
        """Whether all that `rank` did until `time` precedes all that `other` does from `later` on."""
        if rank == other:
            return time <= later
        first = bisect_left(self._gives[rank], time)
        if first == len(self._gives[rank]):
            return False
        known = bisect_right(self._waited[other], later)
        return bool(known) and int(self._clocks[other][known - 1][rank]) > self._numbers[rank][first]

    def _lay_out(self) -> None:
        by_rank: list[list[int]] = [[] for _ in range(self._ranks)]
        for at, message in enumerate(self._messages):
            by_rank[message.rank].append(at)
        for rank, of_rank in enumerate(by_rank):
            of_rank.sort(key=lambda at: (self._messages[at].start, self._messages[at].end))
            keyed = []
            for place, at in enumerate(of_rank):
                message = self._messages[at]
                if message.flow is not Flow.RECEIVE:
                    keyed.append((message.start, place, _Step(message.start, at, waits=False)))
                if message.flow is not Flow.SEND:
                    keyed.append((message.end, place, _Step(message.end, at, waits=True)))
            keyed.sort(key=lambda item: (item[0], item[1], item[2].waits))
            self._steps[rank] = [step for _, _, step in keyed]

    def _run(self) -> None:
        """Performs the steps of all ranks, each as soon as the steps that it waits for are done."""
        nothing = np.zeros(self._ranks, dtype=np.int32)
        now: list[Clock] = [nothing] * self._ranks
        place = [0] * self._ranks
        asleep: dict[int, set[int]] = defaultdict(set)
        ready = list(range(self._ranks))
        cells = 0
        while ready:
            rank = ready.pop()
            while place[rank] < len(self._steps[rank]):
                number = place[rank]
                step = self._steps[rank][number]
                meeting = self._meetings[self._of[step.message]]
                if not step.waits:
                    self._gives[rank].append(step.time)
                    self._numbers[rank].append(number)
                    meeting.given[rank] = (now[rank], number + 1)
                    if not meeting.together or meeting.has(None):
                        ready += asleep.pop(self._of[step.message], ())
                else:
                    needed = self._needed(meeting, self._messages[step.message])
                    if not meeting.has(needed):
                        asleep[self._of[step.message]].add(rank)
                        break
                    cells += 0 if needed is None and meeting.merged is not None else self._ranks
                    if cells > MOST_CELLS:
                        self.gaps.append("too many MPI calls to order all of them")
                        return
                    now[rank] = self._merge(meeting, needed, now[rank])
                    self._waited[rank].append(step.time)
                    self._clocks[rank].append(now[rank])
                place[rank] += 1
        stuck = sum(place[rank] < len(steps) for rank, steps in enumerate(self._steps))
        if stuck:
            self.gaps.append(f"MPI calls of {stuck} ranks wait for each other")

    def _needed(self, meeting: _Meeting, message: Message) -> set[int] | None:
        """The ranks that a call waits for; None for all that give."""
        match message.flow:
            case Flow.FROM_ROOT:
                return {message.peer} & meeting.givers
            case Flow.TO_ROOT:
                return None if message.rank == message.peer else set()
            case Flow.PREFIX:
                return {rank for rank in meeting.givers if rank <= message.rank}
            case _:
                return None

    def _merge(self, meeting: _Meeting, needed: set[int] | None, own: Clock) -> Clock:
        if needed is None and meeting.merged is not None:
            return meeting.merged  # of all members, this rank among them
        out = own.copy()
        last = own
        for rank in meeting.givers if needed is None else needed:
            clock, number = meeting.given[rank]
            if clock is not last:  # after a barrier all ranks have the same one
                np.maximum(out, clock, out=out)
            last = clock
            out[rank] = max(int(out[rank]), number)
        if needed is None and meeting.together:
            meeting.merged = out
        return out


def _match(messages: Sequence[Message], gaps: list[str]) -> tuple[dict[int, _Meeting], list[int]]:
    """The meetings by number, and the number of each call's meeting.

    The n-th collective call of a communicator on one rank belongs to the n-th on another; the n-th message of a pair
    of ranks, communicator and tag to the n-th receive (MPI does not let messages overtake).
    """
    counted: dict[Hashable, int] = defaultdict(int)
    numbers: dict[Hashable, int] = {}
    meetings: dict[int, _Meeting] = {}
    meeting_of = [0] * len(messages)
    calls: dict[int, list[Message]] = defaultdict(list)
    for at in sorted(range(len(messages)), key=lambda at: (messages[at].start, messages[at].end)):
        message = messages[at]
        key: tuple[Hashable, ...]
        if message.flow is Flow.SEND:
            key = (message.comm, message.rank, message.peer, message.tag)
        elif message.flow is Flow.RECEIVE:
            key = (message.comm, message.peer, message.rank, message.tag)
        else:
            key = (message.comm,)
        side: Hashable = (key, message.flow) if len(key) > 1 else (key, message.rank)
        whole: Hashable = (key, counted[side])
        counted[side] += 1
        meeting_of[at] = numbers.setdefault(whole, len(numbers))
        calls[meeting_of[at]].append(message)
    unmatched = unlike = 0
    for number, found in calls.items():
        flows = {message.flow for message in found}
        givers = {m.rank for m in found if m.flow is not Flow.RECEIVE}
        meetings[number] = _Meeting(givers, together=flows == {Flow.ALL})
        if flows & {Flow.SEND, Flow.RECEIVE}:
            unmatched += flows == {Flow.RECEIVE}
        elif len(flows) > 1 or len({m.peer for m in found}) > 1:
            unlike += 1
            meetings[number] = _Meeting(set())
        elif len(found) != found[0].size:
            unmatched += 1
    if unmatched:
        gaps.append(f"{unmatched} MPI calls have no counterpart in the log")
    if unlike:
        gaps.append(f"{unlike} collective MPI calls differ between ranks")
    return meetings, meeting_of
