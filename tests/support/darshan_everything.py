"""Reads everything from a log, and builds a log with every kind of record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workalike.darshan import Log, LogBuilder, layouts, open_log


def digest(log: Log) -> dict[str, Any]:
    """Read every part of a log; logs with equal parts have equal contents."""
    parts: dict[str, Any] = {"job": repr(log.job), "names": sorted(log.names.items())}
    for module in layouts.FIXED:
        table = log.records(module)
        if table is not None:
            files = None if table.file_ids is None else table.file_ids.tobytes()
            assert len(table.ids) == len(table.ranks) == len(table.counters) == len(table.fcounters)
            # A module without records equals an absent one.
            if len(table):
                arrays = (table.ids, table.ranks, table.counters, table.fcounters)
                parts[module] = ([array.tobytes() for array in arrays], files)
    records = [
        (record.id, record.rank, record.osts.tobytes(), [repr(part) for part in record.components])
        for record in log.lustre()
    ]
    if records:
        parts["LUSTRE"] = records
    for api, heatmap in log.heatmaps().items():
        assert heatmap.write.shape == heatmap.read.shape
        assert len(heatmap.ranks) == len(heatmap.write)
        arrays = (heatmap.ranks, heatmap.write, heatmap.read)
        parts[f"HEATMAP {api}"] = (heatmap.bin_width, [array.tobytes() for array in arrays])
    for module in ("DXT_POSIX", "DXT_MPIIO"):
        trace = log.dxt(module)
        if trace is not None and len(trace):
            segments = [tuple(part.tolist() for part in trace.segments(row)) for row in range(len(trace))]
            parts[module] = (trace.ids.tobytes(), trace.ranks.tobytes(), trace.hostnames.tolist(), segments)
    return parts


def read(path: Path) -> tuple[dict[str, Any], set[str]]:
    """The digest of a log and its warnings."""
    log = open_log(path)
    return digest(log), set(log.warnings)


def builder() -> LogBuilder:
    """A log with several records of every module of the writer."""
    log = LogBuilder(nprocs=4, run_time=100.25, exe="./app in", mounts=[("ext4", "/"), ("lustre", "/lus")])
    for rank in range(4):
        log.posix(f"/lus/part.{rank}", rank, OPENS=1, WRITES=8 + rank, BYTES_WRITTEN=800, F_WRITE_TIME=0.5)
        log.stdio(f"/lus/log.{rank}", rank, OPENS=1, WRITES=3, F_OPEN_START_TIMESTAMP=0.125)
        log.heatmap("POSIX", rank, 0.5, [100, 0, rank, 7], [1, 2, 3, 4])
        log.heatmap("MPIIO", rank, 0.5, [10, 20, 30, 40])
        log.dxt_posix(
            f"/lus/part.{rank}",
            rank,
            writes=[(100 * k, 100, k + 0.25, k + 0.5) for k in range(8 + rank)],
            reads=[(0, 10, 20.5, 20.75)],
            hostname=f"node{rank // 2}",
        )
        log.dxt_mpiio("/lus/shared.h5", rank, writes=[(1000 * rank, 1000, 1.0, 2.0)])
    log.posix("/lus/shared.h5", OPENS=4, WRITES=4, BYTES_WRITTEN=4096, F_META_TIME=0.25)
    log.mpiio("/lus/shared.h5", COLL_OPENS=4, COLL_WRITES=4, BYTES_WRITTEN=4000, F_CLOSE_END_TIMESTAMP=9.5)
    log.h5f("/lus/shared.h5", OPENS=4, USE_MPIIO=1)
    for name in ("rho", "u", "v"):
        log.h5d(f"/lus/shared.h5:/{name}", file="/lus/shared.h5", OPENS=4, WRITES=4, DATASPACE_NDIMS=3)
    log.pnetcdf_file("/lus/out.nc", CREATES=4, WAIT_FAILURES=1)
    log.pnetcdf_var("/lus/out.nc:t", file="/lus/out.nc", PUT_VARA=4, IS_RECORD_VAR=1)
    log.lustre("/lus/shared.h5", stripe_size=1 << 22, osts=[3, 5, 8])
    log.lustre("/lus/part.0", 0, osts=[1])
    return log
