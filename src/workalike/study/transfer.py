"""The factor `transfer`: the size of single operations, at the same bytes."""

from __future__ import annotations

from workalike.workload import model as wl
from workalike.workload.content import Content, Entry, Stream


def with_transfer(workload: wl.Workload, size: int) -> wl.Workload:
    """The workload with operations of `size` bytes; each rank's last one holds what remains of its bytes.

    Raises:
        ValueError: operations are not all those of contiguous or interleaved streams.
    """
    changed = workload.model_copy(deep=True)
    for family in changed.families:
        for content in family.all_contents():
            _refuse_other(content)
            for stream in content.streams:
                stream.sizes = resized(stream, size)
    operations = workload.operations
    if operations is not None and operations.table is not None:
        raise ValueError("transfer: the operations of this workload stand in a table")
    return wl.Workload.model_validate(changed.model_dump(mode="json", exclude_defaults=True))


def _refuse_other(content: Content) -> None:
    if content.fit or content.arrays or content.mesh or content.dataset or content.table:
        raise ValueError("transfer: sets the operations of streams, and this workload has other contents")


def resized(stream: Stream, size: int) -> list[Entry]:
    """A stream's operations, of `size` bytes each; the last one holds what remains of the bytes.

    Raises:
        ValueError: its blocks have a size of their own.
    """
    if stream.stride or stream.pieces > 1:
        raise ValueError("transfer: a strided stream has blocks of its own size")
    out = []
    for entry in stream.sizes:
        moved = entry.count * entry.size
        whole, rest = divmod(moved, size)
        out += [Entry(count=whole, size=size, per_rank=entry.per_rank)] if whole else []
        out += [Entry(count=1, size=rest, per_rank=entry.per_rank)] if rest else []
    return out or stream.sizes
