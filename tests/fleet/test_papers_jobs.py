"""The three worst jobs of the Cray XE6 paper, as logs and workloads with its figures: what metrics and diagnosis say of each.

The paper's readers name a cause for each: files that all ranks read again, many small files with stats, small writes into
shared files. Where its figures contradict each other, the test says which are taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fleets import START, builder, plain_log, query, stored, tables

from workalike.darshan import open_log
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Severity
from workalike.fleet.report.period import Period
from workalike.fleet.report.rankings import coverage
from workalike.fleet.site import Site
from workalike.fleet.tables_in import read_accounting
from workalike.plan.core import core_plan
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Workload

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40

READERS, READ = 6138, int(548.6 * TIB)
HELD, FILE, LARGEST = int(1.2 * TIB), int(1.1 * GIB), 8 * GIB
READ_S, RUN_S = 27 * 60.0, 6.5 * 3600


def physics(folder: Path) -> Path:
    """Table 3: 6,138 processes read 548.6 TiB of files with 1.2 TiB, in 8 KiB, for 27 minutes each of 6.5 hours."""
    log = builder(1, nprocs=READERS, run=RUN_S)
    sizes = [LARGEST, *[FILE] * ((HELD - LARGEST) // FILE)]
    for place, size in enumerate(sizes):
        read = READ * size // sum(sizes)
        reads = read // (8 * KIB)
        seconds = READ_S * READERS * size / sum(sizes)
        log.posix(
            f"/scratch/lattice/{place:04d}.dat",
            rank=-1,
            OPENS=READERS,
            READS=reads,
            BYTES_READ=read,
            MAX_BYTE_READ=size - 1,
            SEQ_READS=reads * 9 // 10,
            CONSEC_READS=reads * 9 // 10,
            SIZE_READ_1K_10K=reads,
            ACCESS1_ACCESS=8 * KIB,
            ACCESS1_COUNT=reads,
            F_READ_TIME=seconds,
            F_SLOWEST_RANK_TIME=READ_S / len(sizes),
        )
    return log.write(folder / "physics.darshan")


WRITERS, FILES = 40_960, 204_803
STATS = 614_649
SHARE = 64
"""The log has one in 64 of the climate job's processes: a record of each file would make it large."""


def climate(folder: Path) -> Path:
    """Table 4: each process writes five files of 406 KiB by three fwrites and stats each three times, in over 45 s."""
    ranks = WRITERS // SHARE
    log = builder(2, nprocs=ranks, run=229.0)
    for rank in range(ranks):
        for place in range(5):
            name = f"/scratch/history/{rank:05d}.{place}.nc"
            log.stdio(
                name,
                rank=rank,
                OPENS=1,
                WRITES=3,
                BYTES_WRITTEN=406 * KIB,
                F_WRITE_TIME=0.01,
                F_META_TIME=4.0,
            )
            log.posix(name, rank=rank, STATS=3, F_META_TIME=5.0)
    return log.write(folder / "climate.darshan")


TURBULENT, SMALL, OTHERS = 128, 5_600_000_000, 2_900_000
SMALL_S, LARGE_S = 264.67, 0.55
SHARED_SLOWEST_S = 12 * 60.0


def turbulence(folder: Path) -> Path:
    """Table 5: seven shared files by small independent writes, and a file of each process by large ones."""
    log = builder(3, nprocs=TURBULENT, run=1800.0)
    writes = [SMALL, *[OTHERS] * 6]
    moved = 280 * MIB * TURBULENT
    for place, number in enumerate(writes):
        share = number / sum(writes)
        log.posix(
            f"/scratch/flow/shared{place}.dat",
            rank=-1,
            OPENS=TURBULENT,
            WRITES=number,
            BYTES_WRITTEN=int(moved * share),
            MAX_BYTE_WRITTEN=int(moved * share) - 1,
            SIZE_WRITE_0_100=number,
            F_WRITE_TIME=SMALL_S * TURBULENT * share,
            F_SLOWEST_RANK_TIME=SHARED_SLOWEST_S * share,
        )
    for rank in range(TURBULENT):
        log.posix(
            f"/scratch/flow/own.{rank:03d}",
            rank=rank,
            OPENS=1,
            WRITES=62,
            BYTES_WRITTEN=245 * MIB,
            MAX_BYTE_WRITTEN=245 * MIB - 1,
            SEQ_WRITES=61,
            CONSEC_WRITES=61,
            SIZE_WRITE_4M_10M=62,
            F_WRITE_TIME=LARGE_S,
        )
    return log.write(folder / "turbulence.darshan")


def first_finding(path: Path) -> Any:
    return diagnose([open_log(path)]).findings[0]


def counted(document: dict[str, Any]) -> dict[str, int]:
    """The calls of all ranks of a workload, counted."""
    core = core_plan(resolve(Workload.model_validate(document), Options()))
    counts = core.count()
    return {
        name: int(sum(counts[name].tolist()))
        for name in ("OPENS", "READS", "WRITES", "STATS", "BYTES_READ", "BYTES_WRITTEN")
    }


def test_physics_job_reads_its_files_again(tmp_path: Path) -> None:
    path = physics(tmp_path)
    store, _ = stored(tmp_path / "db", tmp_path)
    ((redundant, read),) = query(store, "SELECT redundant_read, bytes_read FROM log")
    assert read == pytest.approx(READ, rel=1e-6)
    assert redundant == pytest.approx(READ - HELD, rel=0.001)
    assert read / (read - redundant) == pytest.approx(457, rel=0.01)
    (metric,) = [m for m in tables(store).metrics if m.jobs]
    assert metric.largest == redundant
    found = first_finding(path)
    assert (found.rule, found.severity) == ("redundant-reads", Severity.HIGH)
    assert found.cost.rank_seconds == pytest.approx(READ_S * READERS, rel=0.01)


def test_its_73_billion_reads_are_counted() -> None:
    reads = READ // (8 * KIB)
    assert reads == pytest.approx(73e9, rel=0.01)
    each = reads // READERS
    content = {"opens": READERS, "streams": [{"direction": "read", "sizes": [f"{each}/rank x 8 KiB"]}]}
    document = {
        "workalike": 2,
        "ranks": READERS,
        "families": [
            {
                "role": "input",
                "interface": "posix",
                "sharing": "shared",
                "schedule": {"count": 1, "first": 0.0, "every": 1.0},
                "content": content,
            }
        ],
    }
    found = counted(document)
    assert found["READS"] == each * READERS == pytest.approx(73e9, rel=0.01)


def test_climate_job_has_its_calls_at_full_scale() -> None:
    per_file = {"direction": "write", "sizes": ["2/rank x 4 B", f"1/rank x {406 * KIB - 8} B"]}
    document = {
        "workalike": 2,
        "ranks": WRITERS,
        "families": [
            {
                "role": "visualization",
                "interface": "stdio",
                "sharing": "per-rank",
                "schedule": {"count": 5, "first": 0.0, "every": 1.0},
                "content": {"opens": WRITERS, "stats": 3 * WRITERS, "streams": [per_file]},
            }
        ],
    }
    found = counted(document)
    assert found["OPENS"] == pytest.approx(FILES, rel=0.001)
    assert found["STATS"] == pytest.approx(STATS, rel=0.001)  # 3 x 204,803 is 614,409: the paper has 240 more
    assert found["WRITES"] == 3 * found["OPENS"]
    assert found["BYTES_WRITTEN"] == found["OPENS"] * 406 * KIB


def test_climate_job_spends_its_time_on_metadata(tmp_path: Path) -> None:
    path = climate(tmp_path)
    store, _ = stored(tmp_path / "db", tmp_path)
    ((metadata,),) = query(store, "SELECT all_meta_per_rank_s FROM job")
    assert metadata == pytest.approx(45.0)
    (metric,) = [m for m in tables(store).metrics if m.jobs]
    assert metric.largest > 0.99
    found = diagnose([open_log(path)]).findings
    rules = [rule for finding in found for rule in (finding.rule, *finding.also)]
    assert {"metadata-share", "stat-storm"} <= set(rules), rules


def test_turbulence_job_writes_small_pieces_into_shared_files(tmp_path: Path) -> None:
    path = turbulence(tmp_path)
    store, _ = stored(tmp_path / "db", tmp_path)
    assert query(store, "SELECT small_shared_writes, collective_writes FROM log") == [(SMALL + 6 * OTHERS, 0)]
    (metric,) = [m for m in tables(store).metrics if m.jobs]
    assert metric.largest == SMALL + 6 * OTHERS
    found = first_finding(path)
    assert found.rule == "small-writes", (found.rule, found.also)
    assert "collective" in found.advice.lower()
    own = SMALL_S / LARGE_S
    assert own == pytest.approx(481, rel=0.01)
    assert found.cost.rank_seconds == pytest.approx(SMALL_S * TURBULENT, rel=0.1)


def test_its_overhead_test_moves_1_5_tib_in_128_kib() -> None:
    """IOR on 12,288 processes: a shared file, written and read back by collective calls."""
    ranks, size = 12_288, 128 * KIB
    each = int(1.5 * TIB) // size // ranks
    streams = [
        {
            "direction": direction,
            "sizes": [f"{each}/rank x 128 KiB"],
            "collective": True,
            "pattern": "interleaved",
        }
        for direction in ("write", "read")
    ]
    family = {
        "role": "scratch",
        "interface": "mpiio",
        "sharing": "shared",
        "schedule": {"count": 1, "first": 0.0, "every": 1.0},
        "content": {"opens": ranks, "streams": streams},
    }
    found = counted({"workalike": 2, "ranks": ranks, "families": [family]})
    assert found["BYTES_WRITTEN"] == found["BYTES_READ"] == int(1.5 * TIB)
    assert found["WRITES"] == found["READS"] == 12_582_912


def test_coverage_of_its_last_weeks(tmp_path: Path) -> None:
    """Fig. 7 and 8, late March 2013: 60 % of the active users and 30 % of the compute hours had a log."""
    (tmp_path / "logs").mkdir()
    for job in range(6):
        plain_log(tmp_path / "logs", job, uid=1000 + job)
    store, _ = stored(tmp_path / "db", tmp_path / "logs")
    users = [f"uid {1000 + job}" for job in range(10)]
    hours = [5.0] * 6 + [17.5] * 4  # 30 of 100 node-hours
    lines = [
        f"{job if job < 6 else 10**6 + job},{user},{START},{START + 3600 * spent},1"
        for job, (user, spent) in enumerate(zip(users, hours, strict=True))
    ]
    (tmp_path / "jobs.csv").write_text("job_id,user,start,end,nodes\n" + "\n".join(lines) + "\n")
    assert read_accounting(store, tmp_path / "jobs.csv", Site()).rows == 10
    (day,) = coverage(store.connect(), Period())
    assert (day["users_percent"], day["hours_percent"]) == (pytest.approx(60), pytest.approx(30))
