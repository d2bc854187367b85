"""What the test of conflicts looks at: accesses, opens, closes and syncs of files, and MPI calls between ranks.

Times are seconds on the clock of the event's own rank. They order the events of one rank, and never those of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

ACCESS = np.dtype(
    [
        ("file", np.int64),
        ("rank", np.int64),
        ("write", np.bool_),
        ("offset", np.int64),
        ("end", np.int64),
        ("start_s", np.float64),
        ("end_s", np.float64),
    ]
)
"""A read or write of the bytes [offset, end) of a file, between two moments."""

Accesses = npt.NDArray[np.void]


class FileCall(StrEnum):
    """A call that a consistency model may ask for."""

    OPEN = "open"
    CLOSE = "close"
    SYNC = "sync"


class Flow(StrEnum):
    """Between which ranks an MPI call orders: who waits for whom."""

    ALL = "all"
    FROM_ROOT = "from-root"
    TO_ROOT = "to-root"
    PREFIX = "prefix"
    SEND = "send"
    RECEIVE = "receive"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """An open, close or sync of a file by a rank."""

    file: int
    rank: int
    call: FileCall
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Message:
    """An MPI call. `size` ranks are in the communicator `comm`.

    `peer` is the rank in the job of the root, destination or source; -1 without one. A receive starts when it is
    posted, and ends when it is complete.
    """

    rank: int
    flow: Flow
    comm: int
    size: int
    start: float
    end: float
    peer: int = -1
    tag: int = 0


@dataclass
class Trace:
    """All that is known of a job. `gaps` are reasons why an order of ranks may be missing."""

    ranks: int
    accesses: Accesses
    file_events: Sequence[FileEvent] = ()
    messages: Sequence[Message] = ()
    gaps: list[str] = field(default_factory=list)
