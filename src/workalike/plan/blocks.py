"""Contents of direct families at another scale: bytes past the page cache are whole blocks, so they are scaled in blocks."""

from __future__ import annotations

from collections.abc import Sequence

from workalike.plan.plan_schema import PlanStream
from workalike.workload.model import Content, Entry

BLOCK = 512
"""Bytes: the smallest block of a device (engine/core/plan/limits.hpp)."""


def in_blocks(content: Content) -> Content | None:
    """A content of streams with blocks in place of bytes; None where its bytes are no whole blocks."""
    streams = []
    for stream in content.streams:
        numbers = [*(entry.size for entry in stream.sizes), stream.stride, stream.base or 0]
        if any(number % BLOCK for number in numbers):
            return None
        changes = {
            "sizes": [
                Entry(count=entry.count, size=entry.size // BLOCK, per_rank=entry.per_rank)
                for entry in stream.sizes
            ],
            "stride": stream.stride // BLOCK,
            "base": None if stream.base is None else stream.base // BLOCK,
        }
        streams.append(stream.model_copy(update=changes))
    return content.model_copy(update={"streams": streams})


def in_bytes(streams: Sequence[PlanStream]) -> list[PlanStream]:
    """The plan's streams of such a content."""
    return [
        stream.model_copy(
            update={
                "base": stream.base * BLOCK,
                "entries": [(count, size * BLOCK) for count, size in stream.entries],
                "stride": stream.stride * BLOCK,
            }
        )
        for stream in streams
    ]
