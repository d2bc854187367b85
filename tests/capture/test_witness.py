"""Two witnesses of one run: the engine's record and the capture library's log have the same numbers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.conftest import content, dump, family, find_engine, make_plan, sharing, stream
from workalike import _core
from workalike.compare.from_record import counters_of
from workalike.darshan import Log, LogBuilder, layouts, open_log
from workalike.predict.agreement import rows_of
from workalike.predict.determined import Determined
from workalike.record.run_record import Record, read_record

from .conftest import MPI_ENVIRONMENT, WORKALIKE

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no MPI"),
    pytest.mark.skipif(find_engine() is None, reason="the engine is not built"),
]

COUNTED_BY_BOTH = {
    "posix": ("BYTES_READ", "BYTES_WRITTEN", "OPENS", "READS", "WRITES", "SEEKS", "FSYNCS", "MMAPS"),
    "stdio": ("BYTES_READ", "BYTES_WRITTEN", "OPENS", "READS", "WRITES", "SEEKS", "FLUSHES"),
    "mpiio": ("BYTES_READ", "BYTES_WRITTEN", "COLL_READS", "COLL_WRITES", "INDEP_READS", "INDEP_WRITES"),
    "hdf5": ("BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES"),
}
MODULE = {"posix": "POSIX", "stdio": "STDIO", "mpiio": "MPI-IO", "hdf5": "H5D"}


def workalike(*words: Path | str, folder: Path) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [*WORKALIKE, *map(str, words)], cwd=folder, env={**os.environ, **MPI_ENVIRONMENT},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def seen(log: Log, module: str, name: str) -> int:
    """A counter over all records of the log."""
    table = log.records(module)
    return 0 if table is None else int(table[name].clip(min=0).sum())


def recorded(record: Record, module: str, name: str) -> int:
    return sum(counters_of(row, module).get(name, 0) for row in record.dumps)


def plan_of(backend: str, ranks: int) -> dict[str, Any]:
    """Two dumps: many small writes, a few large ones, some read back; one file of all and one of each."""
    collective = backend == "mpiio"
    streams = [
        stream([[6 * ranks, 1000], [ranks, 777]], collective=collective),
        stream([[2 * ranks, 300_000]], base=10**6, pattern="interleaved"),
        stream([[3 * ranks, 500]], direction="read"),
    ]
    families = [family(backend, sharing=sharing(), number=1)]
    if backend != "mpiio":
        families.append(family(backend, id=1, sharing=sharing("per-rank"), number=2))
    families.append(family(backend, id=len(families), role="input", sharing=sharing("per-rank")))
    dumps = [dump(i, family=row["id"]) for row in families[:-1] for i in range(2)]
    dumps.append(dump(0, family=len(families) - 1, content=1, prepare=True))
    maps = {"maps": ranks + 1} if backend == "posix" else {}
    contents = [
        content(*streams, fsyncs=0, opens=2 * ranks + ranks // 2, **maps),
        content(stream([[2 * ranks, 4000]], direction="read")),
    ]
    return make_plan(ranks, families, contents, dumps)


def hdf5_plan(ranks: int) -> dict[str, Any]:
    access = {
        "ranks": "all", "direction": "write", "collective": True, "entries": [[ranks, [8 // ranks, 6, 4], [1, 1, 1]]],
    }  # fmt: skip
    arrays = {
        "datasets": 3, "element": 8, "dims": [8, 6, 4], "chunk": None, "extendible": False, "access": [access],
    }  # fmt: skip
    return make_plan(ranks, [family("hdf5")], [content(arrays=[arrays])], [dump(0), dump(1)])


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("backend", COUNTED_BY_BOTH)
def test_record_and_log_agree_exactly(
    library: Path, tmp_path: Path, backend: str, ranks: int, verify: bool
) -> None:
    """Also where the engine reads everything back, and makes a file before the run that is read in it."""
    plan = hdf5_plan(ranks) if backend == "hdf5" else plan_of(backend, ranks)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    options = ["--verify"] if verify else []
    done = workalike(
        "run", "plan.json", "--dir", "data", "-o", "out", "--capture", "-q", *options, folder=tmp_path
    )
    if backend == "hdf5" and "backend" in done.stderr:
        pytest.skip("the engine has no hdf5 backend")
    assert done.returncode == 0, done.stderr
    record, log = read_record(tmp_path / "out/run.json"), open_log(tmp_path / "out/replica.darshan")
    module = MODULE[backend]
    both = {
        name: (recorded(record, module, name), seen(log, module, name)) for name in COUNTED_BY_BOTH[backend]
    }
    assert {name: a for name, (a, _) in both.items()} == {name: b for name, (_, b) in both.items()}
    assert both["BYTES_WRITTEN"][0] > 0
    if backend != "hdf5":
        assert both["BYTES_READ"][0] == sum(row.bytes_read for row in record.dumps) > 0
    if verify:
        assert record.verified is not None
        assert record.verified.errors == 0
        moved = [(row.payload_bytes - row.bytes_read, row.bytes_read) for row in record.dumps]
        assert record.verified.bytes == sum(written or read for written, read in moved)
    assert log.job.nprocs == ranks
    assert all("/data/" in name for number, name in log.names.items() if name.startswith("/"))
    if backend == "hdf5":  # the library's own calls below, as the engine counts them
        below = [row.levels["mpiio"] for row in record.dumps]  # type: ignore[index]
        for name in ("BYTES_WRITTEN", "COLL_WRITES", "INDEP_WRITES"):
            assert sum(getattr(row, name.lower()) or 0 for row in below) == seen(log, "MPI-IO", name)


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_the_log_holds_the_counters_that_were_predicted(library: Path, tmp_path: Path, backend: str) -> None:
    """Every counter that the plan determines, file by file."""
    plan = plan_of(backend, 4)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = workalike("run", "plan.json", "--dir", "data", "-o", "out", "--capture", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    log = open_log(tmp_path / "out/replica.darshan")
    module = MODULE[backend]
    table = log.records(module)
    assert table is not None
    posix = log.records("POSIX")
    block = 0 if posix is None else int(posix["FILE_ALIGNMENT"].max())
    core = _core.Plan(json.dumps(plan))
    records = core.predict([block] * len(plan["families"]), 10**6)[module]
    names = layouts.FIXED[module].current.counters
    expected = {}
    for file, row in zip(records["file"], records["counters"].tolist(), strict=True):
        found = Determined()
        found.add_records(module, np.array([row]), names)
        expected[file] = found
    seen_files = {}
    for file in expected:
        (number,) = [n for n, name in log.names.items() if name.endswith(f"/data/{file}")]
        rows = np.flatnonzero(table.ids == number)
        seen_files[file] = Determined()
        seen_files[file].add_records(module, table.counters[rows], table.counter_names)
    off = [
        f"{file} {row.counter}: {row.expected} predicted, {row.found} in the log"
        for file in expected
        for row in rows_of((), module, expected[file], seen_files[file])
        if row.error
    ]
    assert not off


def test_replicate_is_measured_by_the_log(library: Path, tmp_path: Path) -> None:
    log = LogBuilder(nprocs=4, run_time=20.0)
    for i in range(3):
        log.posix(
            f"/data/out/chk_{i:04d}", OPENS=4, WRITES=64, BYTES_WRITTEN=64 * 4096, MAX_BYTE_WRITTEN=64 * 4096 - 1,
            SIZE_WRITE_1K_10K=64, ACCESS1_ACCESS=4096, ACCESS1_COUNT=64, SEQ_WRITES=60, CONSEC_WRITES=60,
            F_OPEN_START_TIMESTAMP=5.0 * i + 1, F_WRITE_START_TIMESTAMP=5.0 * i + 1.1,
            F_WRITE_END_TIMESTAMP=5.0 * i + 2, F_CLOSE_END_TIMESTAMP=5.0 * i + 2.1, F_WRITE_TIME=0.5,
        )  # fmt: skip
    log.write(tmp_path / "app.darshan")
    done = workalike(
        "replicate", "app.darshan", "-o", "out", "--capture", "--time-scale", "0", "-q",
        "--require", "bytes=0.1%,ops=1%", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    fidelity = json.loads((tmp_path / "out/fidelity.json").read_text())
    assert fidelity["basis"] == "log"
    (only,) = fidelity["families"]
    assert (only["dumps_original"], only["dumps_replica"], only["bytes_error_max_pct"]) == (3, 3, 0.0)


@pytest.mark.parametrize("backend", ["posix", "stdio", "mpiio"])
def test_syncs_amid_writes_are_where_the_plan_has_them(library: Path, tmp_path: Path, backend: str) -> None:
    """The log has as many as predicted, of ranks that write unequally often."""
    streams = [stream([[10, 1000]]), stream([[5, 200]], ranks=[[1, 1, 1]], base=10000)]
    spec = content(*streams, sync=[2, 2], flush=[3, 1], fsyncs=4)
    item = family(backend, level=backend, sharing=sharing("per-rank" if backend != "mpiio" else "shared"))
    plan = make_plan(4, [item], [spec], [dump(0), dump(1)])
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    done = workalike("run", "plan.json", "--dir", "data", "-o", "out", "--capture", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    log = open_log(tmp_path / "out/replica.darshan")
    records = _core.Plan(json.dumps(plan)).predict([0], 10**6)[MODULE[backend]]
    names = layouts.FIXED[MODULE[backend]].current.counters
    expected = dict(zip(names, records["counters"].sum(axis=0).tolist(), strict=True))
    # Rank 1 has 8 writes, the others 3, 2 and 2; through MPI-IO all follow rank 1, in the first stream rank 0.
    syncs = {"posix": 2 * (14 + 3 + 4), "stdio": 2 * (14 + 4), "mpiio": 2 * 4 * (8 + 2 + 1)}
    if backend == "posix":
        assert seen(log, "POSIX", "FSYNCS") == expected["FSYNCS"] == syncs["posix"]
    elif backend == "stdio":
        assert seen(log, "POSIX", "FSYNCS") == syncs["stdio"]
        assert seen(log, "STDIO", "FLUSHES") == expected["FLUSHES"] > 0
    else:
        assert seen(log, "MPI-IO", "SYNCS") == expected["SYNCS"] == syncs["mpiio"]
