"""Records and files made by hand, without a log."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workalike.darshan import layouts, record_id
from workalike.facts.records import FileFacts, ModuleFacts


def module_facts(
    module: str, per_rank: Mapping[int, Mapping[str, float]], *, partial: bool = False
) -> ModuleFacts:
    """The records of one file, from the counters of either kind by rank (-1 is reduced); all others are 0."""
    names = layouts.FIXED[module].current.counters
    times = layouts.FIXED[module].current.fcounters
    counters = np.zeros((len(per_rank), len(names)), dtype=np.int64)
    seconds = np.zeros((len(per_rank), len(times)))
    for row, values in enumerate(per_rank.values()):
        for name, value in values.items():
            if name in names:
                counters[row, names.index(name)] = value
            else:
                seconds[row, times.index(name)] = value
    return ModuleFacts(
        module,
        np.zeros(len(per_rank), dtype=np.uint64),
        np.array(list(per_rank), dtype=np.int64),
        counters,
        seconds,
        names,
        times,
        partial,
    )


def file_facts(name: str, *modules: ModuleFacts, ranks: int = 4) -> FileFacts:
    return FileFacts(record_id(name), name, ranks, {facts.module: facts for facts in modules})
