"""Where collective calls lie, by what reached POSIX: an MPI library merges the calls of all ranks into few large ones.

Of calls through a file view nothing else says where they are. The order of POSIX's calls is not that of any rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from workalike.facts.counters import STRIDE_COUNTS, STRIDES, bytes_name, collective_of, kind_of, operations_of
from workalike.facts.placement import Order, Placement, placed
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.workload.model import Direction, Level


def place_of_calls(
    files: Sequence[FileFacts], level: Level, direction: Direction, nprocs: int
) -> Placement | None:
    """The placement of collective calls of all ranks; None where other calls are made, or POSIX does not show it.

    One run of bytes for each call: the ranks' parts follow each other in it. Where the runs do not follow each other,
    `stride` is their distance. As many runs at equal distances as ranks, in a single call: each rank's part is one. A run
    for each rank in each call, as far from the next as the calls of a rank are long: each rank has a region of its own.
    """
    if level is not Level.MPIIO or nprocs < 2:
        return None
    places = {_of_file(file, direction, nprocs) for file in files if _moves(file, direction)}
    return places.pop() if len(places) == 1 else None


def _moves(file: FileFacts, direction: Direction) -> bool:
    facts = file.modules.get("MPI-IO")
    return facts is not None and facts.total(bytes_name(direction)) > 0


def _of_file(file: FileFacts, direction: Direction, nprocs: int) -> Placement | None:
    facts, below = file.modules["MPI-IO"], file.modules.get("POSIX")
    operations, moved = operations_of(facts, direction), facts.total(bytes_name(direction))
    if below is None or collective_of(facts, direction) < operations or operations % nprocs:
        return None
    calls, runs = operations // nprocs, operations_of(below, direction)
    if not runs or below.total(bytes_name(direction)) != moved or moved % runs:
        return None
    length = moved // runs
    if not _all_of(below, direction, length, runs):
        return None
    extent = below.largest(f"MAX_{bytes_name(direction).replace('BYTES', 'BYTE')}") + 1
    distance, uneven = divmod(extent - length, runs - 1) if runs > 1 else (length, 0)
    apart = not uneven and (distance <= length or _is_stride(below, distance - length))
    if runs == calls and apart and distance >= length // nprocs:
        return placed(Order(one_rank=False, round=0 if distance == length else distance))
    if calls == 1 and runs == nprocs and apart and distance > length:
        return placed(Order(one_rank=True, stride=distance))  # POSIX's calls are one rank's
    if (
        runs == operations
        and extent == moved
        and calls > 1
        and _have_regions(below, direction, calls, nprocs)
    ):
        return placed(Order(one_rank=False, follow=True))
    return None


def _have_regions(below: ModuleFacts, direction: Direction, calls: int, nprocs: int) -> bool:
    """Whether each rank has a region of its own: it makes its calls itself, or one rank makes those of all regions in turn."""
    runs = calls * nprocs
    length = below.total(bytes_name(direction)) // runs
    one_after_another = below.total(f"CONSEC_{kind_of(direction)}S") == runs - nprocs
    return one_after_another or _is_stride(below, (calls - 1) * length)


def _all_of(facts: ModuleFacts, direction: Direction, length: int, runs: int) -> bool:
    """Whether all calls of a direction have one length, as far as the four common ones tell."""
    common = {facts.largest(f"ACCESS{k}_ACCESS"): facts.largest(f"ACCESS{k}_COUNT") for k in range(1, 5)}
    return common.get(length, 0) >= runs


def _is_stride(facts: ModuleFacts, gap: int) -> bool:
    """Whether a distance is among the common ones between the end of a call and the next."""
    return any(
        facts.largest(stride) == gap and facts.largest(count)
        for stride, count in zip(STRIDES, STRIDE_COUNTS, strict=True)
    )
