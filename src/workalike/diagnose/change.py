"""What a finding asks to change, as a change of the characterized workload.

A rule names its change. The functions here change one content of a workload's document and say whether they did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Content = dict[str, Any]
"""A content of a workload's document, without defaults."""


@dataclass(frozen=True)
class Change:
    """`name` is a level of the study; `says` tells what becomes different. `apply` returns whether anything did.

    `of` are the interfaces of the families that it applies to; none: all.
    """

    name: str
    says: str
    apply: Callable[[Content], bool]
    of: tuple[str, ...] = ()


def contents_of(family: dict[str, Any]) -> Iterator[Content]:
    """All contents of a family's document."""
    if "content" in family:
        yield family["content"]
    yield from family.get("contents", ())


def _accesses(content: Content, direction: str | None = None) -> Iterator[dict[str, Any]]:
    """Streams and accesses of datasets, of one direction or both."""
    for array in content.get("arrays", ()):
        yield from (one for one in array["access"] if direction in (None, one["direction"]))
    yield from (one for one in content.get("streams", ()) if direction in (None, one["direction"]))


def _collective(content: Content) -> bool:
    changed = False
    for access in _accesses(content):
        changed |= not access.get("collective", False)
        access["collective"] = True
    return changed


def _sync_once(content: Content) -> bool:
    """Syncs amid the writes go; one at the end of the dump stays."""
    changed = False
    for amid, count in (("sync", "fsyncs"), ("flush", "flushes")):
        if content.pop(amid, None) is not None:
            content[count] = max(1, int(content.get(count, 0)))
            changed = True
    return changed


def _in_order(content: Content) -> bool:
    changed = False
    for stream in content.get("streams", ()):
        if stream.get("pattern") == "random":
            stream["pattern"] = "contiguous"
            changed = True
    return changed


def _no_fill(content: Content) -> bool:
    return sum(bool(array.pop("fill_values", False)) for array in content.get("arrays", ())) > 0


def _no_seeks(content: Content) -> bool:
    return bool(content.pop("seeks", 0))


COLLECTIVE = Change(
    "collective", "all transfers are collective", _collective, of=("mpiio", "hdf5", "pnetcdf")
)
SYNC_ONCE = Change("sync-once", "one sync at the end of a dump, none amid its writes", _sync_once)
IN_ORDER = Change("in-order", "each rank goes through the file in order", _in_order)
NO_FILL = Change("no-fill", "no fill values are written", _no_fill, of=("hdf5", "pnetcdf"))
NO_SEEKS = Change("no-seeks", "no seek precedes an operation", _no_seeks)
