"""What reaches the file system: the calls of POSIX and STDIO, over some files of a job.

Both modules see an application where it meets the file system, whatever library it called. Opens of both are added,
less calls on descriptors that are open already (docs/reference/darshan-meaning.md#opens). STDIO's calls are those of the
application, since the writes that the C library makes of them are in no log.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from workalike.darshan.bins import SIZE_BINS
from workalike.facts.amounts import CALLS
from workalike.facts.counters import NOT_OPENS
from workalike.facts.records import FileFacts, IntArray, ModuleFacts, exact_sum

Measure = tuple[str, str]
"""Module and counter; the module is BOTH where POSIX and STDIO are added."""
Measures = dict[Measure, int]

STORAGE = ("POSIX", "STDIO")
RENAMES = "RENAME_SOURCES"
BOTH = "POSIX+STDIO"
OPENS, FILES, EXTENT, STATS = (BOTH, "OPENS"), (BOTH, "FILES"), (BOTH, "EXTENT"), ("POSIX", "STATS")
OPERATIONS = {"READ": ("BYTES_READ", "MAX_BYTE_READ"), "WRITE": ("BYTES_WRITTEN", "MAX_BYTE_WRITTEN")}

_SUMS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "POSIX": (
        *((name, (name,)) for name in ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN")),
        *((name, (name,)) for name in ("SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES")),
        *((f"SIZE_{k}_{bin_}", (f"SIZE_{k}_{bin_}",)) for k in ("READ", "WRITE") for bin_ in SIZE_BINS),
        ("FSYNCS", ("FSYNCS", "FDSYNCS")),
        ("STATS", ("STATS",)),
        ("MMAPS", ("MMAPS",)),
        (RENAMES, (RENAMES,)),
    ),
    "STDIO": tuple((name, (name,)) for name in ("READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "FLUSHES")),
}
"""The measures of each module, as sums of its counters."""


def measures_of(files: Sequence[FileFacts]) -> Measures:
    """The measures of some files together; those of a module without records are left out.

    EXTENT is the sum of the files' highest offset that was read or written, plus one, in bytes. FILES are those with
    any call that a log counts, but for renames: a name that only renames had is one of another file, or of a folder.
    Each rename takes another file away from a name that POSIX opened.
    """
    out: Counter[Measure] = Counter()
    used: set[int] = set()
    extents: dict[int, int] = defaultdict(int)
    renamed: Counter[int] = Counter()
    for module in STORAGE:
        parts = [(place, file.modules[module]) for place, file in enumerate(files) if module in file.modules]
        for names, group in _by_layout(parts):
            counters = np.concatenate([facts.counters for _, facts in group]).clip(0)
            file_of = np.repeat([place for place, _ in group], [len(facts.counters) for _, facts in group])
            places = {name: column for column, name in enumerate(names)}
            out[OPENS] += max(
                0, _sum(counters, places, ("OPENS",)) - _sum(counters, places, NOT_OPENS[module])
            )
            for measure, terms in _SUMS[module]:
                if any(term in places for term in terms):
                    out[module, measure] += _sum(counters, places, terms)
            calls = [places[name] for name in ("OPENS", *CALLS[module]) if name in places and name != RENAMES]
            used.update(np.unique(file_of[counters[:, calls].any(axis=1)]).tolist())
            if RENAMES in places:
                rows = np.flatnonzero((counters[:, [places["OPENS"], places[RENAMES]]] > 0).all(axis=1))
                for place, times in zip(
                    file_of[rows].tolist(), counters[rows, places[RENAMES]].tolist(), strict=True
                ):
                    renamed[place] += times
            for moved, last in OPERATIONS.values():
                rows = np.flatnonzero(counters[:, places[moved]] > 0)
                ends = counters[rows, places[last]].tolist()
                for place, end in zip(file_of[rows].tolist(), ends, strict=True):
                    extents[place] = max(extents[place], end + 1)
    out[FILES] = len(used) + sum(times - 1 for times in renamed.values())
    out[EXTENT] = sum(extents.values())
    return dict(out)


def _by_layout(
    parts: Sequence[tuple[int, ModuleFacts]],
) -> Iterable[tuple[tuple[str, ...], list[tuple[int, ModuleFacts]]]]:
    """The records by the counters that they have: logs of one job may be of several versions."""
    groups: dict[tuple[str, ...], list[tuple[int, ModuleFacts]]] = defaultdict(list)
    for place, facts in parts:
        groups[facts.counter_names].append((place, facts))
    return groups.items()


def _sum(counters: IntArray, places: dict[str, int], names: Sequence[str]) -> int:
    return sum(exact_sum(counters[:, places[name]]) for name in names if name in places)
