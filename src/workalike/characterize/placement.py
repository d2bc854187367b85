"""Where the operations of a stream land."""

from __future__ import annotations

from dataclasses import dataclass

from workalike.workload.model import Pattern


@dataclass(frozen=True)
class Placement:
    """A pattern, as counters or a trace tell it."""

    pattern: Pattern
    stride: int = 0
    pieces_per_rank: float = 1.0  # separate contiguous pieces of a rank, in the interleaved case
