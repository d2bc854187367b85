"""`characterize --round N`: sizes and times with N significant digits, so that they identify less.

Bytes, extents of datasets and hyperslabs (in elements) and seconds are rounded. Counts, ranks and strides of hyperslabs
are kept, because they are the pattern. A size with at most N digits in a binary unit (`128 MiB`) is kept as well,
because its alignment is part of the pattern.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload import units
from workalike.workload.model import (
    MAX_OPERATION_BYTES,
    Arrays,
    Content,
    Entry,
    Family,
    Processes,
    Schedule,
    Slab,
    Stream,
    Window,
    Workload,
)
from workalike.workload.workload_file import first_error

AnyStream = TypeVar("AnyStream", bound=Stream)


def round_size(size: int, digits: int) -> int:
    """A size in bytes with `digits` significant digits, rounded half up; unchanged if its shortest text has no more.

    If rounding up would exceed the limit of an operation, the size is rounded down.
    """
    mantissa = units.format_size(size).split()[0].replace(".", "").strip("0")
    excess = len(str(size)) - digits
    if excess <= 0 or len(mantissa) <= digits:
        return size
    unit: int = 10**excess
    rounded = (size + unit // 2) // unit * unit
    return rounded if rounded <= MAX_OPERATION_BYTES or size > MAX_OPERATION_BYTES else size // unit * unit


def _round_up(size: int, digits: int) -> int:
    rounded = round_size(size, digits)
    return rounded if rounded >= size else round_size(size + 10 ** (len(str(size)) - digits), digits)


def round_time(seconds: float, digits: int) -> float:
    """Seconds with `digits` significant digits."""
    return float(f"{seconds:.{digits - 1}e}")


def round_workload(workload: Workload, digits: int) -> Workload:
    """The workload with every size and time rounded; it stays valid, and rounding it again changes nothing.

    Growth becomes a list of rounded sizes, because a product of rounded factors would be inaccurate.

    Raises:
        WorkalikeError: USAGE if digits is below 1, if the rounded workload exceeds a limit, or for an operation table, which
            has exact numbers.
    """
    if workload.operations is not None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "the numbers of an operation table are exact, and cannot be rounded",
            hint="characterize with --no-tables",
        )
    if digits < 1:
        raise WorkalikeError(ErrorKind.USAGE, "rounding needs at least one digit", hint="try --round 3")
    rounded = workload.model_copy(
        update={
            "runtime": round_time(workload.runtime, digits),
            "processes": [_processes(group, digits) for group in workload.processes],
            "families": [_family(family, digits) for family in workload.families],
            "uncovered": [
                u.model_copy(update={"bytes": round_size(u.bytes, digits)}) for u in workload.uncovered
            ],
        }
    )
    try:
        return Workload.model_validate(rounded.model_dump())
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"the rounded workload is not valid: {message}",
            place=place,
            hint="round to more digits",
        ) from error


def _processes(group: Processes, digits: int) -> Processes:
    return group.model_copy(update={name: _times(getattr(group, name), digits) for name in ("start", "end")})


def _family(family: Family, digits: int) -> Family:
    sizes: int | list[int] | None = family.sizes
    if family.growth is not None:
        sizes = family.dump_sizes()
    if isinstance(sizes, list):
        sizes = [round_size(size, digits) for size in sizes]
    elif sizes is not None:
        sizes = round_size(sizes, digits)
    return family.model_copy(
        update={
            "sizes": sizes,
            "growth": None,
            "schedule": _schedule(family.schedule, digits),
            "content": None if family.content is None else _content(family.content, digits),
            "contents": [_content(content, digits) for content in family.contents],
        }
    )


def _schedule(schedule: Schedule, digits: int) -> Schedule:
    fields = ("start", "first", "every", "gaps", "duration", "compute_time", "metadata")
    changes: dict[str, object] = {name: _times(getattr(schedule, name), digits) for name in fields}
    for name in ("writes", "reads"):
        changes[name] = _window(getattr(schedule, name), digits)
    return schedule.model_copy(update=changes)


def _window(window: Window | None, digits: int) -> Window | None:
    """A window with rounded times; it stays in order, because rounding keeps the order of numbers."""
    if window is None:
        return None
    times: dict[str, object] = {
        name: _times(getattr(window, name), digits) for name in ("first", "last", "busy")
    }
    times["skew"] = [
        late.model_copy(update={"delay": round_time(late.delay, digits)}) for late in window.skew
    ]
    return window.model_copy(update=times)


def _times(value: float | list[float] | None, digits: int) -> float | list[float] | None:
    if isinstance(value, list):
        return [round_time(v, digits) for v in value]
    return None if value is None else round_time(value, digits)


def _content(content: Content, digits: int) -> Content:
    return content.model_copy(
        update={
            "streams": [_stream(stream, digits) for stream in content.streams],
            "buffered": [_stream(stream, digits) for stream in content.buffered],
            "arrays": [_arrays(arrays, digits) for arrays in content.arrays],
        }
    )


def _stream(stream: AnyStream, digits: int) -> AnyStream:
    sizes = _entries(stream.sizes, digits, stream.pieces)
    stride = round_size(stream.stride, digits)
    if stride:
        stride = max(stride, *(entry.size for entry in sizes))
    base = None if stream.base is None else round_size(stream.base, digits)
    return stream.model_copy(update={"sizes": sizes, "stride": stride, "base": base})


def _entries(entries: list[Entry], digits: int, pieces: int) -> list[Entry]:
    """Rounded entries, equal neighbours merged; of an operation in pieces, the size of a piece is rounded."""
    out: list[Entry] = []
    for entry in entries:
        size = round_size(entry.size // pieces, digits) * pieces
        if out and (out[-1].size, out[-1].per_rank) == (size, entry.per_rank):
            out[-1] = out[-1].model_copy(update={"count": out[-1].count + entry.count})
        else:
            out.append(entry.model_copy(update={"size": size}))
    return out


def _arrays(arrays: Arrays, digits: int) -> Arrays:
    """Arrays with rounded extents, in elements; a dimension grows if a rounded hyperslab would not fit."""
    dims = [round_size(n, digits) for n in arrays.dims]
    rounded = []
    for access in arrays.access:
        slabs = [
            slab.model_copy(update={"shape": [round_size(n, digits) for n in slab.shape]})
            for slab in access.slabs
        ]
        rounded.append(access.model_copy(update={"slabs": slabs}))
        for slab in slabs:
            dims = [d if d >= n else _round_up(n, digits) for d, n in zip(dims, _spans(slab), strict=True)]
    chunk = None if arrays.chunk is None else [round_size(n, digits) for n in arrays.chunk]
    return arrays.model_copy(update={"dims": dims, "chunk": chunk, "access": rounded})


def _spans(slab: Slab) -> list[int]:
    strides = slab.stride or [1] * len(slab.shape)
    return [(n - 1) * stride + 1 for n, stride in zip(slab.shape, strides, strict=True)]
