"""PNETCDF_VAR records -> the shapes that H5D records have, so that variables become arrays by the same rules.

In PNETCDF_VAR dimension i (0 = slowest) of an access sits in D(i+1), in H5D in D(5-i). NPOINTS of a record variable
are the elements of one record, or of those that were there when the variable was looked at.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

from workalike.characterize.dataspace import (
    MAX_DIMS,
    Geometry,
    common_slabs,
    guess_dims,
    rank_of,
)
from workalike.facts.counters import bytes_name, kind_of
from workalike.facts.records import FileFacts, ModuleFacts
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.model import MAX_OPERATION_BYTES, Direction, Slab

_RENAMED = {"NDIMS": "DATASPACE_NDIMS", "NPOINTS": "DATASPACE_NPOINTS"}


def as_datasets(facts: ModuleFacts) -> ModuleFacts:
    """The records with the counters of shapes under the names that H5D has for them."""
    if facts.module != "PNETCDF_VAR" or facts.has("DATASPACE_NDIMS"):
        return facts
    names = [_RENAMED.get(name, name) for name in facts.counter_names]
    for k in range(1, 5):
        for what in ("LENGTH", "STRIDE"):
            prefix = f"ACCESS{k}_{what}_D"
            places = [facts.counter_names.index(f"{prefix}{d}") for d in range(1, MAX_DIMS + 1)]
            for i, place in enumerate(places):
                names[place] = f"{prefix}{MAX_DIMS - i}"
    return dataclasses.replace(facts, counter_names=tuple(names))


def variable_geometry(facts: ModuleFacts, states: int) -> Geometry | None:
    """Extents of one variable's record; a record variable has as many records as its bytes are, in each state.

    None for what a workload cannot hold.
    """
    rank = rank_of(facts)
    points, element = facts.largest("DATASPACE_NPOINTS"), facts.largest("DATATYPE_SIZE")
    if rank > MAX_DIMS or points < 1 or not 1 <= element <= THRESHOLDS.element_most:
        return None
    slabs = common_slabs(facts, rank)
    longest = tuple(max((slab.span[i] for slab in slabs), default=1) for i in range(rank))
    if not facts.largest("IS_RECORD_VAR"):
        dims = guess_dims(points, longest)
    else:
        fixed = guess_dims(points, longest[1:]) if rank > 1 else ()
        moved = max(facts.total(bytes_name(direction)) for direction in Direction)
        records = -(-moved // (element * math.prod(fixed) * states))
        dims = (max(1, longest[0], records), *fixed)
    if element * math.prod(dims) > MAX_OPERATION_BYTES:
        return None
    return Geometry(dims, element, None, bool(facts.largest("IS_RECORD_VAR")))


def access_kinds(
    file: FileFacts, records: Sequence[tuple[ModuleFacts, int]], direction: Direction, slabs: list[Slab]
) -> Iterator[tuple[bool, bool, list[Slab]]]:
    """(collective, non-blocking, their slabs) of equal variables' accesses.

    Args:
        records: of the variables, and how many are equal to each.
        slabs: of all accesses together.

    Collective calls also count those that only join, so that they are what the other kinds leave. Posted calls are
    as collective as the file's waits.
    """
    kind = f"{kind_of(direction)}S"
    alone, posted = (
        sum(facts.total(f"{how}_{kind}") * times for facts, times in records) for how in ("INDEP", "NB")
    )
    waits = file.modules.get("PNETCDF_FILE")
    waits_together = waits is None or waits.total("COLL_WAITS") >= waits.total("INDEP_WAITS")
    left = list(slabs)
    kinds = [(False, False, _take(left, alone)), (waits_together, True, _take(left, posted))]
    yield from (one for one in [(True, False, left), *kinds] if one[2])


def _take(slabs: list[Slab], wanted: int) -> list[Slab]:
    """As many operations off the end of the slabs."""
    taken: list[Slab] = []
    while wanted and slabs:
        last = slabs.pop()
        count = min(wanted, last.count)
        wanted -= count
        taken.append(last.model_copy(update={"count": count}))
        if last.count > count:
            slabs.append(last.model_copy(update={"count": last.count - count}))
    return taken
