"""Reads the events that `profile --events` wrote beside a log: calls on files, and MPI calls between ranks.

The file is as untrusted as the log.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workalike.capture.side_file import LONGEST_NAME, MAX_BYTES, MAX_SECONDS
from workalike.file_kind import side_file_of

MOST_RANKS = 2**31


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    rank: int = Field(ge=0, lt=MOST_RANKS)


class FileCallRow(_Row):
    """An open, close or sync; times in seconds of the job."""

    file: str
    module: str
    event: Literal["open", "close", "sync"]
    start: float = Field(ge=-MAX_SECONDS, le=MAX_SECONDS)
    end: float = Field(ge=-MAX_SECONDS, le=MAX_SECONDS)


class MessageRow(_Row):
    """An MPI call (capture/mpi/messages.h). `unseen`: the rank made calls that were not recorded."""

    flow: Literal["all", "from-root", "to-root", "prefix", "send", "receive", "unseen"]
    comm: int = 0
    size: int = Field(default=0, ge=0, lt=MOST_RANKS)
    peer: int = Field(default=-1, ge=-1, lt=MOST_RANKS)
    tag: int = 0
    start: float = Field(default=0.0, ge=-MAX_SECONDS, le=MAX_SECONDS)
    end: float = Field(default=0.0, ge=-MAX_SECONDS, le=MAX_SECONDS)


class _Events(BaseModel):
    model_config = ConfigDict(extra="ignore")

    events: list[FileCallRow] = []
    messages: list[MessageRow] = []
    clocks: list[dict[str, float]] = []


@dataclass
class EventList:
    """`complete` is whether the job reached MPI_Finalize, or had no MPI: a killed job has lost its messages."""

    file_calls: list[FileCallRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    complete: bool = True


def read_events(log: Path, nprocs: int, warnings: list[str]) -> EventList | None:
    """The events of a log of `nprocs` ranks; None if they were not recorded.

    `warnings` gets a line about a file that is damaged, or too large.
    """
    path = side_file_of(log)
    try:
        if len(path.name) > LONGEST_NAME or not path.is_file():
            return None
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        found = _Events.model_validate_json(path.read_bytes())
        rows: list[FileCallRow | MessageRow] = [*found.events, *found.messages]
        if any(row.rank >= nprocs or row.start > row.end for row in rows):
            raise ValueError(f"a rank beyond {nprocs}, or an event that ends before it starts")
        if any(row.peer >= nprocs for row in found.messages):
            raise ValueError(f"a peer beyond {nprocs} ranks")
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        warnings.append(f"the events of {path.name} are not used: {place}: {error.errors()[0]['msg']}")
        return None
    except (OSError, ValueError) as error:
        warnings.append(f"the events of {path.name} are not used: {str(error).splitlines()[0]}")
        return None
    if not found.events:
        return None
    return EventList(found.events, found.messages, complete=nprocs == 1 or bool(found.clocks))
