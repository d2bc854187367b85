"""Logs made of the counters that the core predicts for a workload: what characterization finds can be held against it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from workalike import _core
from workalike.darshan import LogBuilder, layouts
from workalike.plan.plan_file import plan_text
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload

RANKS = 4
BLOCK = 4096
"""FILE_ALIGNMENT of the records, bytes."""
RUN_TIME = 20.0


def log_of(truth: Workload, path: Path) -> Path:
    """A log with the counters of a run of the workload: one record per file, reduced if several ranks have one."""
    plan = _core.Plan(plan_text(resolve(truth, Options())))
    log = LogBuilder(nprocs=truth.ranks, run_time=RUN_TIME)
    for module, records in plan.predict([BLOCK] * len(truth.families), 10**6).items():
        _add_records(log, module, records)
    log.write(path)
    return path


def _add_records(log: LogBuilder, module: str, records: dict[str, Any]) -> None:
    names = layouts.FIXED[module].current.counters
    add = {"POSIX": log.posix, "MPI-IO": log.mpiio, "STDIO": log.stdio}[module]
    columns = (records[name].tolist() for name in ("counters", "ranks", "effective_ranks"))
    for file, row, ranks, effective in zip(records["file"], *columns, strict=True):
        counters = {name: value for name, value in zip(names, row, strict=True) if value}
        name, dump, rank = _named(file)
        times = {"F_OPEN_START_TIMESTAMP": 1.0 + dump, "F_CLOSE_END_TIMESTAMP": 1.9 + dump}
        for kind in ("READ", "WRITE"):
            if any(counters.get(f"{prefix}{kind}S") for prefix in ("", "INDEP_", "COLL_")):
                times[f"F_{kind}_START_TIMESTAMP"] = 1.1 + dump
                times[f"F_{kind}_END_TIMESTAMP"] = 1.8 + dump
                times[f"F_{kind}_TIME"] = 0.5
        if ranks > 1 and effective:
            moved = counters.get("BYTES_READ", 0) + counters.get("BYTES_WRITTEN", 0)
            times["F_VARIANCE_RANK_BYTES"] = (moved / ranks) ** 2 * (ranks / effective - 1)
        add(name, rank if ranks == 1 else -1, **counters, **times)


def _named(file: str) -> tuple[str, int, int]:
    """(a name as an application would give it, the dump, the rank if the file is one rank's) of a data file."""
    parsed = _core.parse_name(file)
    assert parsed is not None
    role, number, dump = parsed
    of_rank = re.search(r"\.r(\d+)\.", file)
    rank = int(of_rank[1]) if of_rank else 0
    group = re.search(r"\.g(\d+)\.", file)
    part = f".{rank:04d}" if of_rank else f".{group[1]}" if group else ""
    return f"/data/run/{role[:4]}{number}_{dump:04d}{part}", dump, rank
