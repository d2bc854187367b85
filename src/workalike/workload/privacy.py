"""`characterize --privacy LEVEL`: how much the numbers of a workload say of its application.

* `names`: all numbers; a workload never has names.
* `rounded`: bytes, extents of datasets and hyperslabs (in elements) and seconds have two significant digits. A size with
  at most two digits in a binary unit (`64 MiB`) is kept, because its alignment is part of the pattern.
* `summary`: sizes are powers of two, times have one digit; lists of dumps (sizes, growth, gaps, durations) and of the
  sizes of operations become their mean.

Counts, ranks and strides of hyperslabs are kept at all levels, because they are the pattern.
docs/confidentiality.md has what each level hides, measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import ValidationError

from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload import units
from workalike.workload.model import (
    MAX_OPERATION_BYTES,
    Arrays,
    Content,
    Entry,
    Family,
    Privacy,
    Processes,
    Schedule,
    Slab,
    Stream,
    Window,
    Workload,
)
from workalike.workload.workload_file import first_error

AnyStream = TypeVar("AnyStream", bound=Stream)


class Grain(Protocol):
    """How numbers are rounded."""

    @property
    def lists(self) -> bool:
        """Whether lists of dumps and of sizes stay lists."""

    def size(self, size: int) -> int:
        """A size in bytes, or an extent in elements."""

    def more(self, size: int) -> int:
        """The same, not less than it was."""

    def time(self, seconds: float) -> float:
        """A time in seconds."""


@dataclass(frozen=True)
class Digits:
    """Significant digits."""

    digits: int
    lists: bool = True

    def size(self, size: int) -> int:
        """Rounded half up; unchanged if the size's shortest text has no more digits.

        If rounding up would exceed the limit of an operation, the size is rounded down.
        """
        mantissa = units.format_size(size).split()[0].replace(".", "").strip("0")
        excess = len(str(size)) - self.digits
        if excess <= 0 or len(mantissa) <= self.digits:
            return size
        unit: int = 10**excess
        rounded = (size + unit // 2) // unit * unit
        return (
            rounded if rounded <= MAX_OPERATION_BYTES or size > MAX_OPERATION_BYTES else size // unit * unit
        )

    def more(self, size: int) -> int:
        rounded = self.size(size)
        return rounded if rounded >= size else self.size(size + 10 ** (len(str(size)) - self.digits))

    def time(self, seconds: float) -> float:
        return units.round_time(seconds, self.digits)


@dataclass(frozen=True)
class Powers:
    """Powers of two for sizes, one digit for times, means for lists."""

    lists: bool = False

    def size(self, size: int) -> int:
        """The nearest power of two, the larger one of two that are as near; sizes up to 2 stay."""
        if size <= 2:
            return size
        below = 1 << (size.bit_length() - 1)
        return below if size - below < 2 * below - size else 2 * below

    def more(self, size: int) -> int:
        return size if size <= 2 else 1 << (size - 1).bit_length()

    def time(self, seconds: float) -> float:
        return units.round_time(seconds, 1)


GRAINS: dict[Privacy, Grain] = {Privacy.ROUNDED: Digits(2), Privacy.SUMMARY: Powers()}


def disclosing_less(workload: Workload, privacy: Privacy) -> Workload:
    """The workload at a level of privacy; it stays valid, and doing it again changes nothing.

    Growth becomes a list of rounded sizes, because a product of rounded factors would be inaccurate; then their mean.

    Raises:
        WorkalikeError: USAGE if the rounded workload is not valid (the message has the field), or for an operation
            table, which has exact numbers.
    """
    if privacy is Privacy.NAMES:
        return workload
    if workload.operations is not None:
        raise WorkalikeError(
            ErrorKind.USAGE,
            "the numbers of an operation table are exact, and cannot be rounded",
            hint="characterize with --no-tables",
        )
    grain = GRAINS[privacy]
    rounded = workload.model_copy(
        update={
            "privacy": privacy,
            "runtime": grain.time(workload.runtime),
            "processes": [_processes(group, grain) for group in workload.processes],
            "families": [_family(family, grain) for family in workload.families],
            "uncovered": [
                u.model_copy(update={"bytes": grain.size(u.bytes), "seconds": grain.time(u.seconds)})
                for u in workload.uncovered
            ],
        }
    )
    try:
        return Workload.model_validate(rounded.model_dump())
    except ValidationError as error:
        place, message = first_error(error)
        raise WorkalikeError(
            ErrorKind.USAGE,
            f"the workload is not valid at `--privacy {privacy.value}`: {message}",
            place=place,
            hint="choose another level of privacy",
        ) from error


def _processes(group: Processes, grain: Grain) -> Processes:
    return group.model_copy(update={name: _times(getattr(group, name), grain) for name in ("start", "end")})


def _family(family: Family, grain: Grain) -> Family:
    sizes: int | list[int] | None = family.sizes
    if family.growth is not None:
        sizes = family.dump_sizes()
    if isinstance(sizes, list) and not grain.lists:
        sizes = sum(sizes) // len(sizes)
    if isinstance(sizes, list):
        sizes = [grain.size(size) for size in sizes]
    elif sizes is not None:
        sizes = grain.size(sizes)
    return family.model_copy(
        update={
            "sizes": sizes,
            "growth": None,
            "schedule": _schedule(family.schedule, grain),
            "content": None if family.content is None else _content(family.content, grain),
            "contents": [_content(content, grain) for content in family.contents],
        }
    )


def _schedule(schedule: Schedule, grain: Grain) -> Schedule:
    changes: dict[str, object] = {
        name: _times(getattr(schedule, name), grain) for name in ("start", "first", "every", "gaps")
    }
    for name in ("duration", "compute_time", "metadata"):
        changes[name] = _times_of_dumps(getattr(schedule, name), grain)
    for name in ("writes", "reads"):
        changes[name] = _window(getattr(schedule, name), grain)
    return schedule.model_copy(update=changes | ({} if grain.lists else _evenly(schedule, grain)))


def _evenly(schedule: Schedule, grain: Grain) -> dict[str, object]:
    """The fields of a schedule in which as many dumps come at their mean interval."""
    starts = schedule.starts()
    if len(starts) < 2:
        return {}
    first = min(starts)
    every = (max(starts) - first) / (len(starts) - 1)
    return {
        "count": len(starts),
        "start": None,
        "gaps": None,
        "first": grain.time(first),
        "every": grain.time(every),
    }


def _window(window: Window | None, grain: Grain) -> Window | None:
    """A window with rounded times; it stays in order, because rounding keeps the order of numbers."""
    if window is None:
        return None
    times: dict[str, object] = {
        name: _times_of_dumps(getattr(window, name), grain) for name in ("first", "last", "busy")
    }
    times["skew"] = [
        late.model_copy(update={"delay": grain.time(late.delay)})
        for late in window.skew
        if grain.lists or late.dump is None
    ]
    return window.model_copy(update=times)


def _times(value: float | list[float] | None, grain: Grain) -> float | list[float] | None:
    if isinstance(value, list):
        return [grain.time(v) for v in value]
    return None if value is None else grain.time(value)


def _times_of_dumps(value: float | list[float] | None, grain: Grain) -> float | list[float] | None:
    """The same of a value for each dump, or for all."""
    if isinstance(value, list) and not grain.lists:
        value = sum(value) / len(value)
    return _times(value, grain)


def _content(content: Content, grain: Grain) -> Content:
    return content.model_copy(
        update={
            "streams": [_stream(stream, grain) for stream in content.streams],
            "buffered": [_stream(stream, grain) for stream in content.buffered],
            "arrays": [_arrays(arrays, grain) for arrays in content.arrays],
        }
    )


def _stream(stream: AnyStream, grain: Grain) -> AnyStream:
    sizes = _entries(stream.sizes, grain, stream.pieces)
    stride = grain.size(stream.stride)
    if stride:
        stride = max(stride, *(entry.size for entry in sizes))
    base = None if stream.base is None else grain.size(stream.base)
    return stream.model_copy(update={"sizes": sizes, "stride": stride, "base": base})


def _entries(entries: list[Entry], grain: Grain, pieces: int) -> list[Entry]:
    """Rounded entries, equal neighbours merged; of an operation in pieces, the size of a piece is rounded."""
    out: list[Entry] = []
    for entry in entries if grain.lists else _means(entries):
        size = grain.size(entry.size // pieces) * pieces
        if out and (out[-1].size, out[-1].per_rank) == (size, entry.per_rank):
            out[-1] = out[-1].model_copy(update={"count": out[-1].count + entry.count})
        else:
            out.append(entry.model_copy(update={"size": size}))
    return out


def _means(entries: list[Entry]) -> list[Entry]:
    """One entry of the mean size for the operations of each rank, and one for those of all."""
    out = []
    for per_rank in (True, False):
        of_a_kind = [entry for entry in entries if entry.per_rank is per_rank]
        count = sum(entry.count for entry in of_a_kind)
        if count:
            size = sum(entry.count * entry.size for entry in of_a_kind) // count
            out.append(Entry(count=count, size=size, per_rank=per_rank))
    return out


def _arrays(arrays: Arrays, grain: Grain) -> Arrays:
    """Arrays with rounded extents, in elements; a dimension grows if a rounded hyperslab would not fit."""
    dims = [grain.size(n) for n in arrays.dims]
    rounded = []
    for access in arrays.access:
        slabs = [
            slab.model_copy(update={"shape": [grain.size(n) for n in slab.shape]}) for slab in access.slabs
        ]
        rounded.append(access.model_copy(update={"slabs": slabs}))
        for slab in slabs:
            dims = [d if d >= n else grain.more(n) for d, n in zip(dims, _spans(slab), strict=True)]
    chunk = None if arrays.chunk is None else [grain.size(n) for n in arrays.chunk]
    return arrays.model_copy(update={"dims": dims, "chunk": chunk, "access": rounded})


def _spans(slab: Slab) -> list[int]:
    strides = slab.stride or [1] * len(slab.shape)
    return [(n - 1) * stride + 1 for n, stride in zip(slab.shape, strides, strict=True)]
