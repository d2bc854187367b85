"""PNETCDF_VAR records -> the form of H5D records, so that variables become arrays by the same rules.

Dimension i (0 = slowest) of an access is in D(i+1) of PNETCDF_VAR, but in D(5-i) of H5D. NPOINTS of a record variable
are the elements of one record, or of the records that existed when the variable was inquired.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from workalike.characterize.contents.arrays.dataspace import (
    Geometry,
    common_slabs,
    guess_dims,
    rank_of,
)
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.levels import MAX_DIMS
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import MAX_OPERATION_BYTES, Direction, Slab

_RENAMED = {"NDIMS": "DATASPACE_NDIMS", "NPOINTS": "DATASPACE_NPOINTS"}


def as_datasets(facts: ModuleFacts) -> ModuleFacts:
    """The records with H5D's names for the counters of shapes."""
    if facts.module != "PNETCDF_VAR" or facts.has("DATASPACE_NDIMS"):
        return facts
    names = [_RENAMED.get(name, name) for name in facts.counter_names]
    for k in range(1, 5):
        for counter in ("LENGTH", "STRIDE"):
            prefix = f"ACCESS{k}_{counter}_D"
            places = [facts.counter_names.index(f"{prefix}{d}") for d in range(1, MAX_DIMS + 1)]
            for i, place in enumerate(places):
                names[place] = f"{prefix}{MAX_DIMS - i}"
    return dataclasses.replace(facts, counter_names=tuple(names))


def variable_geometry(facts: ModuleFacts, states: int) -> Geometry | None:
    """The geometry of one variable's record. A record variable has as many records per state as its bytes require.

    It is None for what a workload cannot hold.
    """
    rank = rank_of(facts)
    points, element = facts.largest("DATASPACE_NPOINTS"), facts.largest("DATATYPE_SIZE")
    if rank > MAX_DIMS or points < 1 or not 1 <= element <= THRESHOLDS.element_most:
        return None
    slabs = common_slabs(facts, rank)
    longest = tuple(max((slab.span[i] for slab in slabs), default=1) for i in range(rank))
    usual = max(
        (slab for slab in slabs if set(slab.stride) == {1}), key=lambda slab: slab.count, default=None
    )
    shape = usual.shape if usual else ()
    if not facts.largest("IS_RECORD_VAR"):
        dims = guess_dims(points, longest, shape, tiled=True)
    else:
        moved = max(facts.total(bytes_name(direction)) for direction in Direction)
        if moved == element * points and points % states == 0:
            points //= states  # the records of all states existed when the variable was inquired
        fixed = guess_dims(points, longest[1:], shape[1:], tiled=True) if rank > 1 else ()
        records = -(-moved // (element * math.prod(fixed) * states))
        dims = (max(1, longest[0], records), *fixed)
    if element * math.prod(dims) > MAX_OPERATION_BYTES:
        return None
    return Geometry(dims, element, None, bool(facts.largest("IS_RECORD_VAR")))


def access_kinds(
    file: FileFacts, records: Sequence[tuple[ModuleFacts, int]], direction: Direction, slabs: list[Slab]
) -> Iterator[tuple[bool, bool, list[Slab]]]:
    """(collective, non-blocking, slabs) for each kind of access to equal variables.

    Args:
        records: records of the variables, with the number of records equal to each.
        slabs: the hyperslabs of all accesses.

    Collective counters include ranks that only join. So collective slabs are those that other kinds leave. Non-blocking
    calls are collective if most waits on the file are.
    """
    kind = f"{kind_of(direction)}S"
    independent, nonblocking = (
        sum(facts.total(f"{call_kind}_{kind}") * times for facts, times in records)
        for call_kind in ("INDEP", "NB")
    )
    waits = file.modules.get("PNETCDF_FILE")
    waits_collective = waits is None or waits.total("COLL_WAITS") >= waits.total("INDEP_WAITS")
    left = list(slabs)
    kinds = [(False, False, _take(left, independent)), (waits_collective, True, _take(left, nonblocking))]
    yield from (kind_slabs for kind_slabs in [(True, False, left), *kinds] if kind_slabs[2])


def _take(slabs: list[Slab], wanted: int) -> list[Slab]:
    """Remove `wanted` operations from the end of the slabs, and return them."""
    taken: list[Slab] = []
    while wanted and slabs:
        last = slabs.pop()
        count = min(wanted, last.count)
        wanted -= count
        taken.append(last.model_copy(update={"count": count}))
        if last.count > count:
            slabs.append(last.model_copy(update={"count": last.count - count}))
    return taken
