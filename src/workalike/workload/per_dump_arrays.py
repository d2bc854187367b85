"""Values of each dump in arrays: shapes and numbers of datasets that change from dump to dump (see `per_dump`).

A shape is a list itself, so that the shapes of the dumps are a list of lists: `dims: [[3375], [3717], [4824]]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Document = dict[str, Any]

OF_ARRAY: Document = {"datasets": 1, "element": 8, "dims": None, "chunk": None}
"""Fields of an array that may be lists, and what an absent one means."""
OF_SLAB: Document = {"count": None, "shape": None, "stride": []}
"""The same of a slab."""
SHAPES = ("dims", "chunk", "shape", "stride")


def is_of_each_dump(key: str, value: Any) -> bool:
    """Whether a field's value is a list with that of each dump; a shape is a list itself."""
    if not isinstance(value, list):
        return False
    return key not in SHAPES or any(isinstance(item, list) for item in value)


def with_parts(arrays: Any, change: Callable[[Document, Document], Document]) -> Any:
    """The arrays, each and each of its slabs as `change(part, fields)` makes it; what is not a list as it is."""

    def changed(part: Any, fields: Document) -> Any:
        return change(part, fields) if isinstance(part, dict) else part

    def of_access(access: Any) -> Any:
        if not isinstance(access, dict) or not isinstance(access.get("slabs"), list):
            return access
        return access | {"slabs": [changed(slab, OF_SLAB) for slab in access["slabs"]]}

    def of_array(array: Any) -> Any:
        made = changed(array, OF_ARRAY)
        if not isinstance(made, dict) or not isinstance(made.get("access"), list):
            return made
        return made | {"access": [of_access(access) for access in made["access"]]}

    return [of_array(array) for array in arrays] if isinstance(arrays, list) else arrays


def lists_in(arrays: Any) -> Iterator[list[Any]]:
    """The lists of values of each dump."""
    found: list[list[Any]] = []

    def look(part: Document, fields: Document) -> Document:
        found.extend(part[key] for key in fields if is_of_each_dump(key, part.get(key)))
        return part

    with_parts(arrays, look)
    yield from found


def parts_in(arrays: Any) -> int:
    """How many arrays and slabs there are."""
    return sum(1 for _ in _parts(arrays))


def of_dump(arrays: Any, dump: int) -> Any:
    """The arrays of one dump; values that are the default of their field are left out, as in a dumped model."""

    def pick(part: Document, fields: Document) -> Document:
        out = {k: v[dump] if k in fields and is_of_each_dump(k, v) else v for k, v in part.items()}
        return {k: v for k, v in out.items() if k not in fields or v is None or v != fields[k]}

    return with_parts(arrays, pick)


def joined(all_arrays: Sequence[list[Document]]) -> list[Document] | None:
    """The arrays of several dumps as one list, with lists where they differ; None where they differ in anything else."""
    if len({_rest(arrays) for arrays in all_arrays}) > 1:
        return None
    parts = [list(_parts(arrays)) for arrays in all_arrays]
    columns = iter([_one(own, fields) for own, fields in _by_place(parts)])
    return list(with_parts(all_arrays[0], lambda part, fields: next(columns)))


def _parts(arrays: Any) -> Iterator[tuple[Document, Document]]:
    found: list[tuple[Document, Document]] = []

    def look(part: Document, fields: Document) -> Document:
        found.append((part, fields))
        return part

    with_parts(arrays, look)
    yield from found


def _by_place(
    parts: Sequence[list[tuple[Document, Document]]],
) -> Iterator[tuple[list[Document], Document]]:
    """The parts of all dumps at one place; all dumps have as many."""
    for row in zip(*parts, strict=True):
        yield [part for part, _ in row], row[0][1]


def _one(own: Sequence[Document], fields: Document) -> Document:
    """One part for the parts of all dumps."""
    out = dict(own[0])
    for key, absent in fields.items():
        values = [part.get(key, absent) for part in own]
        if any(value != values[0] for value in values):
            out[key] = values
    return out


def _rest(arrays: list[Document]) -> str:
    """What may not differ: all but the fields that may be lists. Whether there are chunks may not differ, too."""

    def rest(part: Document, fields: Document) -> Document:
        kept = {key: value for key, value in part.items() if key not in fields}
        return kept | {"chunked": part.get("chunk") is not None}

    return json.dumps(with_parts(arrays, rest), sort_keys=True, default=str)
