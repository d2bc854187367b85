"""Does a plan do what a complete trace (DXT) shows? Segments per rank and file, read independently by PyDarshan.

    python benchmarks/traced_segments.py [LOG ...]

Each log with DXT is characterized, its full-scale plan expanded (nothing is run), and the operations of every rank in
every file of the workload are set beside the log's segments: direction, offset, length and order. A trace of a file is
complete where its segments have the number and the bytes of the counters, and offsets: DXT_MPIIO version 1 has none, and
below a file view there is only that of a call's first piece, so that writes overlap. Traces of files that the workload
replicates at another level (datasets, STDIO) are not counted. Versions of DXT that PyDarshan refuses are read by our own
reader. Target: all segments of complete traces.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from full_scale import known_logs
from results import Results

import darshan
from workalike import _core
from workalike.characterize import Characterization, characterize
from workalike.darshan import Log, open_log
from workalike.darshan.dxt import DxtTable
from workalike.errors import WorkalikeError
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Level
from workalike.workload.operation_table import MAX_ROWS

MODULES = {Level.POSIX: ("DXT_POSIX", "POSIX"), Level.MPIIO: ("DXT_MPIIO", "MPI-IO")}
CALLS = {
    "POSIX": {"write": ("WRITES",), "read": ("READS",)},
    "MPI-IO": {
        kind: tuple(f"{how}_{kind.upper()}S" for how in ("INDEP", "COLL", "SPLIT", "NB"))
        for kind in ("write", "read")
    },
}
Segments = np.ndarray
"""int64[operations, 3]: whether it writes, offset, length; in order of time."""
Key = tuple[str, int, int]
"""DXT module, record id, rank."""


@dataclass
class Score:
    """What a log's complete traces have, and how much of it the plan has, too; files without a complete trace."""

    segments: int = 0
    bytes: int = 0
    equal_segments: int = 0
    equal_bytes: int = 0
    incomplete: int = 0

    def add(self, wanted: Segments, found: Segments) -> None:
        """Count the segments of a rank and file: all of them, and those before the first that differs."""
        length = min(len(wanted), len(found))
        same = (wanted[:length] == found[:length]).all(axis=1)
        equal = length if same.all() else int(np.argmin(same))
        self.segments += len(wanted)
        self.bytes += int(wanted[:, 2].sum())
        self.equal_segments += equal if len(found) <= len(wanted) else 0
        self.equal_bytes += int(wanted[:equal, 2].sum()) if len(found) <= len(wanted) else 0


def traced(path: Path, log: Log) -> dict[Key, dict[str, Segments]]:
    """Offsets, lengths and starts by direction, of files whose trace has the calls and bytes of the counters."""
    report = darshan.DarshanReport(str(path), read_all=False)
    out: dict[Key, dict[str, Segments]] = defaultdict(dict)
    for module, counted in MODULES.values():
        own = log.dxt(module)
        if own is None or not own.offsets_valid or counted not in report.modules:
            continue
        report.mod_read_all_records(counted, dtype="numpy")
        totals = counters_of(report.records[counted], counted)
        found: dict[tuple[int, str], list[tuple[int, Segments]]] = defaultdict(list)
        for file, rank, kind, rows in of_pydarshan(report, module, own) or of_reader(own):
            found[file, kind].append((rank, rows))
        viewed: set[int] = set()
        for (file, kind), parts in sorted(found.items(), reverse=True):  # writes before reads
            rows = np.concatenate([part for _, part in parts])
            if through_views(module, kind, rows):
                viewed.add(file)
            if totals[file, kind] == (len(rows), int(rows[:, 1].sum())) and file not in viewed:
                for rank, part in parts:
                    out[module, file, rank][kind] = part
    return out


def of_pydarshan(report: Any, module: str, own: DxtTable) -> list[tuple[int, int, str, Segments]]:
    """(record id, rank, direction, segments) as PyDarshan reads them; nothing where it refuses the version."""
    if module == "DXT_POSIX" and own.version > 1:
        return []
    report.mod_read_all_dxt_records(module, dtype="pandas")
    return [
        (record["id"], record["rank"], kind, part[["offset", "length", "start_time"]].to_numpy())
        for record in report.records[module]
        for kind in ("write", "read")
        if len(part := record[f"{kind}_segments"])
    ]


def of_reader(own: DxtTable) -> list[tuple[int, int, str, Segments]]:
    """The same by our own reader."""
    return [
        (int(own.ids[i]), int(own.ranks[i]), kind, np.column_stack([p["offset"], p["length"], p["start"]]))
        for i in range(len(own))
        for kind, p in zip(("write", "read"), own.segments(i), strict=True)
        if len(p)
    ]


def through_views(module: str, kind: str, rows: Segments) -> bool:
    """Whether writes at MPI-IO overlap by more than a twentieth, as those through a file view seem to."""
    if module != "DXT_MPIIO" or kind != "write":
        return False
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    reach = np.maximum.accumulate(rows[:, 0] + rows[:, 1])
    twice = np.clip(np.minimum(reach[:-1], rows[1:, 0] + rows[1:, 1]) - rows[1:, 0], 0, None)
    return bool(20 * twice.sum() > rows[:, 1].sum())


def counters_of(records: Any, module: str) -> dict[tuple[int, str], tuple[int, int]]:
    """(calls, bytes) of each file and direction."""
    out: dict[tuple[int, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
    names = darshan.backend.cffi_backend.counter_names(module)
    prefix = "MPIIO" if module == "MPI-IO" else module
    places = {name.removeprefix(f"{prefix}_"): place for place, name in enumerate(names)}
    for record in records:
        values = record["counters"]
        for kind, past in (("write", "WRITTEN"), ("read", "READ")):
            calls = sum(int(values[places[name]]) for name in CALLS[module][kind])
            known = out[record["id"], kind]
            out[record["id"], kind] = (known[0] + calls, known[1] + int(values[places[f"BYTES_{past}"]]))
    return out


def in_order(parts: dict[str, Segments]) -> Segments:
    """Both directions in order of their start."""
    rows = np.concatenate(
        [np.column_stack([np.full(len(p), kind == "write"), p]) for kind, p in sorted(parts.items())]
    )
    return rows[np.argsort(rows[:, 3], kind="stable")][:, :3].astype(np.int64)


def planned(found: Characterization, ranks_of: dict[tuple[str, int], set[int]]) -> dict[Key, Segments]:
    """The plan's operations of each rank in each file of the log, in order.

    `ranks_of` are the ranks in the trace of each file: a file per rank is that of the rank.
    """
    plan = resolve(found.workload, Options())
    core = core_plan(plan)
    kinds = (_core.kinds.index("read"), _core.kinds.index("write"))
    out: dict[Key, list[Segments]] = defaultdict(list)
    for rank in range(plan.ranks):
        calls = core.operations(rank, MAX_ROWS)
        moves = np.flatnonzero(np.isin(calls["kind"], kinds) & (calls["offset"] >= 0))
        columns = (calls["kind"][moves] == kinds[1], calls["offset"][moves], calls["length"][moves])
        rows = np.column_stack(columns).astype(np.int64)
        dump_of = calls["dump"][moves]
        for place in np.unique(dump_of).tolist():
            dump = plan.dumps[place]
            facts = found.families[dump.family]
            if facts.family.counted_at in MODULES:
                module = MODULES[facts.family.counted_at][0]
                files = [f.record_id for f in facts.dumps[dump.index].files]
                own = [f for f in files if rank in ranks_of.get((module, f), ())] or files
                out[module, own[0], rank].append(rows[dump_of == place])
    return {key: np.concatenate(parts) for key, parts in out.items()}


def replicated(found: Characterization) -> Iterator[tuple[str, int, set[str]]]:
    """(DXT module, record id, directions) of the files that the workload replicates at a level that DXT traces."""
    for facts in found.families:
        if facts.family.counted_at not in MODULES:
            continue
        module = MODULES[facts.family.counted_at][0]
        moved = {
            kind
            for kind in ("write", "read")
            if any(dump.bytes_written if kind == "write" else dump.bytes_read for dump in facts.dumps)
        }
        for file in facts.files():
            yield module, file.record_id, moved


def score(path: Path, log: Log, found: Characterization) -> Score:
    """The segments of complete traces that the plan has."""
    truth = traced(path, log)
    ranks_of: dict[tuple[str, int], set[int]] = defaultdict(set)
    for module, file, rank in truth:
        ranks_of[module, file].add(rank)
    plans = planned(found, ranks_of)
    out = Score()
    for module, file, moved in replicated(found):
        ranks = sorted(ranks_of[module, file])
        out.incomplete += not ranks
        for rank in ranks:
            parts = {kind: part for kind, part in truth[module, file, rank].items() if kind in moved}
            if parts:
                none = np.zeros((0, 3), dtype=np.int64)
                out.add(in_order(parts), plans.get((module, file, rank), none))
    return out


def main() -> int:
    warnings.simplefilter("ignore")
    total = Score()
    logs = slowest = 0.0
    print(f"{'log':45} {'segments':>9} {'equal':>9} {'bytes':>7} {'table':>9} {'partly':>6} {'s':>6}")
    for path in [Path(word) for word in sys.argv[1:]] or known_logs():
        try:
            log = open_log(path)
            if all(log.dxt(module) is None for module, _ in MODULES.values()):
                continue
            begin = time.perf_counter()
            found = characterize([log])
        except WorkalikeError as error:
            print(f"{path.name[:45]:45} {error.one_line().replace(str(path), '')[:80]}")
            continue
        seconds = time.perf_counter() - begin
        scored = score(path, log, found)
        operations = found.workload.operations
        table = len(operations.table.encoded) if operations and operations.table else 0
        share = f"{100 * scored.equal_bytes / scored.bytes:.1f} %" if scored.bytes else "-"
        print(
            f"{path.name[:45]:45} {scored.segments:9,} {scored.equal_segments:9,} {share:>7} {table:7,} B"
            f" {scored.incomplete:6} {seconds:6.2f}"
        )
        logs += scored.segments > 0
        slowest = max(slowest, seconds)
        for name in ("segments", "bytes", "equal_segments", "equal_bytes"):
            setattr(total, name, getattr(total, name) + getattr(scored, name))
    reached = total.segments == total.equal_segments > 0
    print(
        f"{total.equal_segments:,} of {total.segments:,} segments, {total.equal_bytes:,} of {total.bytes:,} bytes"
    )
    results = Results()
    results.add(
        "segments of complete traces that the full-scale plan has: rank, file, direction, offset, length, order",
        f"{total.equal_segments:,} of {total.segments:,} in {logs:.0f} logs",
        target="all",
        reached=reached,
        segments=float(total.segments),
        equal=float(total.equal_segments),
    )
    results.add(
        "… bytes of them",
        f"{total.equal_bytes:,} of {total.bytes:,}",
        target="all",
        reached=total.bytes == total.equal_bytes,
        bytes=float(total.equal_bytes),
    )
    results.add(
        "characterize a log with DXT, the slowest",
        f"{slowest:.2f} s",
        target="< 2 s",
        reached=slowest < 2,
        s=slowest,
    )
    if len(sys.argv) == 1:
        results.write()
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
