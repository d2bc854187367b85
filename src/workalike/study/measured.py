"""What a record says about a trial: its values, the rows of its dumps, and whether the plan was performed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from workalike.record.run_record import Record, RecordDump
from workalike.study.journal import Finished
from workalike.study.objective import Objective
from workalike.study.prepare import Prepared
from workalike.study.statistics.table import Trials
from workalike.study.statistics.tails import percentile95

Row = dict[str, Any]
MOST_REASONS = 5
EXACT = ("posix", "stdio", "mpiio")
"""Backends that move the planned bytes, no library's metadata."""
MOST_FITTED_DUMP, MOST_FITTED_FAMILY = 0.01, 0.001
"""Of the bytes of one dump, and of all dumps of a family, whose payload is fitted to what the library adds to it."""


def values_of(record: Record) -> Row:
    """The measured values of a trial.

    `bandwidth` (bytes per second) is bytes / `io_time_s`; `io_time_s` the time in which at least one dump was open, from
    its first open to its last close; `slowest_dump_s` the longest such time of one dump; `transfer_time_s` the sum of
    the dumps' times from first to last data operation; `write_time_s` the time in calls that write, summed over all
    processes; `slowest_call_s` and `slowest_call_bytes` those of the longest read or write; `wall_s` the engine's run. Times that a counting backend does
    not have are None.
    """
    moved = sum(dump.bytes_written + dump.bytes_read for dump in record.dumps)
    times: Row = dict.fromkeys(
        (
            *("io_time_s", "slowest_dump_s", "transfer_time_s", "write_time_s", "bandwidth"),
            *("slowest_call_s", "slowest_call_bytes"),
        )
    )
    if not record.counts_only and record.dumps:
        open_s = united((dump.end_s - dump.io_s, dump.end_s) for dump in record.dumps)
        times = {
            "io_time_s": open_s,
            "slowest_dump_s": max(dump.io_s for dump in record.dumps),
            "transfer_time_s": sum(dump.transfer_s for dump in record.dumps),
            "write_time_s": sum(_write_time_s(dump) for dump in record.dumps),
            "bandwidth": moved / open_s if open_s > 0 else None,
            **_slowest_call(record.dumps),
        }
    return {
        "wall_s": record.wall_s,
        **times,
        "bytes_written": sum(dump.bytes_written for dump in record.dumps),
        "bytes_read": sum(dump.bytes_read for dump in record.dumps),
        "processes": record.processes,
    }


def counted_value(row: Row, name: str) -> float:
    """A value of a trial's row for the statistics; NaN if the trial does not count or the value was not measured."""
    value: Any = row.get(name) if row.get("counted") else None
    return math.nan if value is None else float(value)


def objective_value(finished: Finished, objective: Objective) -> float:
    """What a trial is compared by; NaN if the trial does not count or the value was not measured.

    The 95th percentile is over the times of the trial's dumps. A counting backend has no times.
    """
    row = finished.trial
    if objective is Objective.P95_DUMP:
        times = [dump["io_time_s"] for dump in finished.dumps] if row.get("counted") else []
        known = [seconds for seconds in times if seconds is not None]
        return percentile95(np.array(known)) if known else math.nan
    if objective is Objective.WALL_TIME and row.get("io_time_s") is None:
        return math.nan
    return counted_value(row, objective.column)


def trials_of(finished: Sequence[Finished], objective: Objective) -> Trials:
    """Blocks, settings and values for the statistics; a trial that does not count is a failed one."""
    return Trials(
        np.array([row.trial["block"] for row in finished], dtype=np.int64),
        [str(row.trial["setting"]) for row in finished],
        np.array([objective_value(row, objective) for row in finished], dtype=np.float64),
    )


def united(spans: Iterable[tuple[float, float]]) -> float:
    """The length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def dump_rows(record: Record, prepared: Prepared) -> list[Row]:
    """A row for each dump. `planned_bytes` are written and read by the plan; None for a dump that it does not have."""
    planned = {key: dump["bytes_written"] + dump["bytes_read"] for key, dump in prepared.counted.items()}
    return [
        _dump_row(dump, record.counts_only) | {"planned_bytes": planned.get((dump.family, dump.index))}
        for dump in record.dumps
    ]


def _dump_row(dump: RecordDump, counts_only: bool) -> Row:
    moved = dump.bytes_written + dump.bytes_read
    return {
        "family": dump.family,
        "role": dump.role.value,
        "number": dump.number,
        "index": dump.index,
        "processes": dump.ranks,
        "bytes_written": dump.bytes_written,
        "bytes_read": dump.bytes_read,
        "fsyncs": dump.kinds["fsync"].count if "fsync" in dump.kinds else 0,
        "start_s": dump.start_s,
        "end_s": dump.end_s,
        "late_s": dump.late_s,
        "io_time_s": None if counts_only else dump.io_s,
        "transfer_time_s": None if counts_only else dump.transfer_s,
        "write_time_s": None if counts_only else _write_time_s(dump),
        "bandwidth": moved / dump.io_s if dump.io_s > 0 and not counts_only else None,
        **_slowest_call([] if counts_only else [dump]),
    }


def _slowest_call(dumps: Sequence[RecordDump]) -> Row:
    """The longest read or write; None for both where there is none."""
    calls = [dump.kinds[kind] for dump in dumps for kind in ("read", "write") if kind in dump.kinds]
    known = [call for call in calls if call.count]
    if not known:
        return {"slowest_call_s": None, "slowest_call_bytes": None}
    slowest = max(known, key=lambda call: (call.max_s, call.max_bytes))
    return {"slowest_call_s": slowest.max_s, "slowest_call_bytes": slowest.max_bytes}


def _write_time_s(dump: RecordDump) -> float:
    """Seconds in calls that write, summed over the processes."""
    return dump.kinds["write"].total_s if "write" in dump.kinds else 0.0


def plan_deviations(prepared: Prepared, record: Record) -> list[str]:
    """How the record differs from its plan: dumps, bytes, and numbers of reads and writes. None: it was performed."""
    reasons = []
    if record.incomplete:
        reasons.append("the run did not end")
    if not prepared.counts_only and record.processes != prepared.plan.ranks:
        reasons.append(f"{prepared.plan.ranks} ranks planned, {record.processes} processes found")
    planned = prepared.counted
    found = {(dump.family, dump.index): dump for dump in record.dumps}
    if planned.keys() != found.keys() or len(record.dumps) != len(found):
        reasons.append(f"{len(planned)} dumps planned, {len(record.dumps)} found")
    plan = prepared.plan
    fitted = {(dump.family, dump.index) for dump in plan.dumps if plan.contents[dump.content].fit is not None}
    both = sorted(planned.keys() & found.keys())
    exact = {family.id for family in plan.families if family.backend in EXACT}
    for key in both:
        reasons += _dump_deviations(planned[key], found[key], is_fitted=key in fitted)
        if key[0] in exact and key not in fitted:
            reasons += _bytes_deviations(planned[key], found[key], 0)
    reasons += _family_deviations([(planned[key], found[key]) for key in both if key in fitted])
    return reasons[:MOST_REASONS]


def _where(planned: Row) -> str:
    return f"{planned['role']} {planned['number']}, dump {planned['index']}"


def _bytes_deviations(planned: Row, found: RecordDump, most: float) -> list[str]:
    moved = (found.bytes_written, found.bytes_read)
    return _moved_deviations(_where(planned), _moved(planned), moved, most)


def _dump_deviations(planned: Row, found: RecordDump, *, is_fitted: bool) -> list[str]:
    where = _where(planned)
    reasons = []
    if planned["payload_bytes"] != found.payload_bytes:
        if not is_fitted:
            reasons.append(
                f"{where}: {planned['payload_bytes']:,} bytes of payload planned, {found.payload_bytes:,} found"
            )
        else:
            # The payload was chosen so that it comes to the planned bytes with what the library writes around it.
            reasons += _bytes_deviations(planned, found, MOST_FITTED_DUMP)
    for kind in ("write", "read"):
        asked = planned["kinds"].get(kind, {}).get("count", 0)
        got = found.kinds[kind].count if kind in found.kinds else 0
        if asked != got:
            reasons.append(f"{where}: {asked} {kind}s planned, {got} found")
    return reasons


def _family_deviations(fitted: Sequence[tuple[Row, RecordDump]]) -> list[str]:
    """Families whose fitted dumps do not come to the planned bytes together: single dumps have a wider limit."""
    sums: dict[str, list[int]] = {}
    for planned, found in fitted:
        total = sums.setdefault(f"{planned['role']} {planned['number']}", [0, 0, 0, 0])
        moved = (*_moved(planned), found.bytes_written, found.bytes_read)
        total[:] = [a + b for a, b in zip(total, moved, strict=True)]
    return [
        reason
        for where, (written, read, *got) in sums.items()
        for reason in _moved_deviations(where, (written, read), (got[0], got[1]), MOST_FITTED_FAMILY)
    ]


def _moved(planned: Row) -> tuple[int, int]:
    return planned["bytes_written"], planned["bytes_read"]


def _moved_deviations(where: str, asked: tuple[int, int], found: tuple[int, int], most: float) -> list[str]:
    limit = f"; the limit is {most:.1%}" if most else ""
    return [
        f"{where}: {wanted:,} bytes {word} planned, {got:,} found{limit}"
        for word, wanted, got in zip(("written", "read"), asked, found, strict=True)
        if abs(got - wanted) > most * wanted
    ]
