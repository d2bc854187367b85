"""The core's counts of a plan in the form of a record. Nothing is performed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workalike import _core
from workalike.plan.core import counts_of
from workalike.plan.plan_schema import Plan
from workalike.version import VERSION

_SCALARS = (
    *("OPENS", "READS", "WRITES", "COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES"),
    *("STATS", "SEEKS", "FSYNCS", "FLUSHES", "MMAPS", "BYTES_READ", "BYTES_WRITTEN"),
    *("MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES"),
)
_BINS = ("SIZE_READ", "SIZE_WRITE")


def counted_dumps(plan: Plan, core: _core.Plan) -> list[dict[str, Any]]:
    """One dump of a record for each dump of the plan, in the plan's order; all times are 0.

    Raises:
        WorkalikeError: as `counts_of`.
    """
    counts = {name: column.tolist() for name, column in counts_of(core).items()}
    families = {family.id: (family, level) for family, level in zip(plan.families, core.levels, strict=True)}
    out = []
    for row, dump in enumerate(plan.dumps):
        family, level = families[dump.family]
        written, read = counts["BYTES_WRITTEN"][row], counts["BYTES_READ"][row]
        out.append(
            {
                "type": "dump",
                "family": family.id,
                "role": family.role.value,
                "number": family.number,
                "index": dump.index,
                "file": dump.file,
                "ranks": counts["ranks"][row],
                "bytes_written": written,
                "bytes_read": read,
                "payload_bytes": counts["payload_written"][row] + counts["payload_read"][row],
                "levels": {
                    level: {
                        "bytes_written": counts["payload_written"][row],
                        "bytes_read": counts["payload_read"][row],
                    }
                },
                "due_s": 0.0,
                "start_s": 0.0,
                "end_s": 0.0,
                "late_s": 0.0,
                "kinds": {kind: {"count": counts[f"calls_{kind}"][row]} for kind in _core.kinds},
                "counters": {name: counts[name][row] for name in (*_SCALARS, *_BINS)},
            }
        )
    return out


def record_lines(plan: Plan, core: _core.Plan, backend: str) -> Iterator[dict[str, Any]]:
    """The lines of `run.jsonl` for a counting backend. At a time-scale above 0 each dump waits until it is due."""
    yield {
        "type": "run",
        "format": "workalike-record",
        "version": 1,
        "plan_ranks": plan.ranks,
        "processes": 1,
        "backend": backend,
        "clock": plan.clock,
        "time_scale": plan.time_scale,
        "scale": plan.scale.model_dump(mode="json"),
        "environment": {"engine": VERSION},
    }
    lines = counted_dumps(plan, core)
    begins = core.times()["start_s"] * plan.time_scale
    zero = time.monotonic()
    for position in begins.argsort(kind="stable").tolist():
        due = float(begins[position])
        while (left := zero + due - time.monotonic()) > 0:
            time.sleep(min(left, 0.5))
        start = time.monotonic() - zero
        times = {"due_s": due if plan.time_scale else start, "start_s": start, "end_s": start}
        yield lines[position] | times | {"late_s": max(0.0, start - times["due_s"])}
    yield {"type": "end", "wall_s": time.monotonic() - zero, "files": []}


def write_lines(lines: Iterator[dict[str, Any]], path: Path) -> None:
    """Write and flush line by line, so that an interrupted run leaves complete lines."""
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
            file.flush()
