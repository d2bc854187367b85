"""Planted problems are found with the cost that follows from their timers; half of a threshold is silent."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from workalike.darshan import open_log
from workalike.darshan.write import LogBuilder
from workalike.diagnose.diagnosis import diagnose
from workalike.diagnose.finding import Diagnosis, Severity
from workalike.diagnose.site import Site, default_text, read_site
from workalike.errors import WorkalikeError

GIB = 2**30
SCHEMA = Path(__file__).parents[2] / "schema" / "diagnosis.schema.json"


def diagnosed(log: LogBuilder, folder: Path) -> Diagnosis:
    return diagnose([open_log(log.write(folder / "x.darshan"))])


def redundant(times: float) -> LogBuilder:
    """Sixteen ranks read a file of 4 GiB, and so much of it again; 40 s of 400 s of rank time."""
    again = int(times * GIB)
    return LogBuilder(nprocs=16, run_time=25.0).posix(
        "/data/mesh", OPENS=4, READS=4000, BYTES_READ=4 * GIB + again, MAX_BYTE_READ=4 * GIB - 1,
        CONSEC_READS=3900, SEQ_READS=3990, F_READ_TIME=40.0, F_SLOWEST_RANK_TIME=2.5,
    )  # fmt: skip


def test_redundant_reads_cost_their_share_of_the_read_time(tmp_path: Path) -> None:
    found = diagnosed(redundant(4), tmp_path)
    (finding,) = found.findings
    assert finding.rule == "redundant-reads"
    assert finding.cost.rank_seconds == pytest.approx(20.0)  # half of the bytes, half of 40 s
    assert finding.severity is Severity.HIGH
    assert finding.gain_at_most_s <= 10.0


def test_half_a_threshold_of_redundant_reads_is_silent(tmp_path: Path) -> None:
    assert diagnosed(redundant(0.5), tmp_path).findings == []


def chunks_read_for_rows(mpiio: bool) -> LogBuilder:
    """HDF5 was asked for 0.25 GiB in rows; it read whole chunks, 4 GiB, and many of them again."""
    log = LogBuilder(nprocs=16, run_time=25.0)
    log.h5d("/data/mesh:/x", file="/data/mesh", READS=1000, BYTES_READ=GIB // 4, F_READ_TIME=41.0)
    if mpiio:
        log.mpiio("/data/mesh", INDEP_OPENS=16, INDEP_READS=4000, BYTES_READ=4 * GIB, F_READ_TIME=41.0)
    return log.posix(
        "/data/mesh", OPENS=16, READS=4000, BYTES_READ=4 * GIB, MAX_BYTE_READ=2 * GIB - 1,
        CONSEC_READS=3900, SEQ_READS=3990, F_READ_TIME=40.0, F_SLOWEST_RANK_TIME=2.5,
    )  # fmt: skip


@pytest.mark.parametrize("mpiio", [False, True])
def test_chunks_that_are_read_for_rows_are_the_cause_of_bytes_read_again(tmp_path: Path, mpiio: bool) -> None:
    (finding,) = diagnosed(chunks_read_for_rows(mpiio), tmp_path).findings
    assert finding.rule == "read-amplification"
    assert (finding.evidence["asked"], finding.evidence["read"]) == (GIB / 4, 4 * GIB)
    assert "redundant-reads: redundant_bytes" in finding.evidence


def syncing(per_write: float) -> LogBuilder:
    return LogBuilder(nprocs=4, run_time=100.0).posix(
        "/data/out", OPENS=4, WRITES=1000, FSYNCS=int(1000 * per_write), CONSEC_WRITES=996, SEQ_WRITES=996,
        BYTES_WRITTEN=GIB, MAX_BYTE_WRITTEN=GIB - 1, SIZE_WRITE_1M_4M=1000, F_WRITE_TIME=8.0,
    )  # fmt: skip


def test_sync_after_each_write(tmp_path: Path) -> None:
    (finding,) = diagnosed(syncing(1.0), tmp_path).findings
    assert (finding.rule, finding.severity) == ("sync-each-write", Severity.MEDIUM)
    assert finding.cost.share == pytest.approx(0.02)
    assert finding.evidence == {"syncs": 1000, "writes": 1000}


def test_a_sync_for_each_fourth_write_is_silent(tmp_path: Path) -> None:
    assert diagnosed(syncing(0.25), tmp_path).findings == []


def test_a_partial_module_is_said_first_and_with_each_finding(tmp_path: Path) -> None:
    found = diagnosed(syncing(1.0).partial("POSIX"), tmp_path)
    assert [finding.rule for finding in found.findings] == ["partial-log", "sync-each-write"]
    assert found.findings[1].partial == ["POSIX"]


def test_bytes_without_timers_are_said(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, run_time=9.0).posix("/o", OPENS=1, WRITES=1, BYTES_WRITTEN=GIB)
    assert [finding.rule for finding in diagnosed(log, tmp_path).findings] == ["partial-log"]


def test_zero_run_time_weighs_nothing(tmp_path: Path) -> None:
    found = diagnosed(
        LogBuilder(nprocs=1, run_time=0.0).posix("/o", OPENS=1, WRITES=500, FSYNCS=500), tmp_path
    )
    assert found.findings == []
    assert any("run time" in warning for warning in found.warnings)
    assert {unknown.reason for unknown in found.cannot_tell} == {"the run time is zero"}


def test_clocks_that_run_backwards_are_said(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, run_time=9.0).posix(
        "/o", OPENS=1, WRITES=1, BYTES_WRITTEN=9, F_WRITE_START_TIMESTAMP=5.0, F_WRITE_END_TIMESTAMP=2.0
    )
    assert any("backwards" in warning for warning in diagnosed(log, tmp_path).warnings)


def test_logs_of_several_jobs_are_said(tmp_path: Path) -> None:
    paths = [LogBuilder(job_id=n).posix("/o", OPENS=1).write(tmp_path / f"{n}.darshan") for n in (1, 2)]
    found = diagnose([open_log(path) for path in paths])
    assert any("2 job numbers" in warning for warning in found.warnings)


def test_counters_that_were_not_measured_count_nothing(tmp_path: Path) -> None:
    log = LogBuilder(nprocs=1, run_time=9.0).posix("/o", OPENS=1, WRITES=500, FSYNCS=-1, FDSYNCS=-1, MMAPS=-1)
    assert "sync-each-write" not in [finding.rule for finding in diagnosed(log, tmp_path).findings]


def test_a_site_file_changes_a_threshold(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("[sync-each-write]\nsyncs = 2000\n")
    log = open_log(syncing(1.0).write(tmp_path / "x.darshan"))
    assert diagnose([log], read_site(tmp_path / "site.toml")).findings == []


@pytest.mark.parametrize(
    "text",
    [
        "[sync-each-wriet]\n",
        "[sync-each-write]\nsinks = 1\n",
        "[job]\nhigh = 7\n",
        "[job]\nmedium = 0.2\n",
        "[job",
    ],
)
def test_a_wrong_site_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(WorkalikeError, match=r"site\.toml"):
        read_site(tmp_path / "site.toml")


def test_the_printed_site_file_is_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(default_text())
    assert read_site(tmp_path / "site.toml").document == Site().document


def test_the_command(tmp_path: Path) -> None:
    log = syncing(1.0).write(tmp_path / "x.darshan")
    command = [sys.executable, "-m", "workalike", "diagnose", str(log)]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    document = json.loads(done.stdout)
    assert document["findings"][0]["rule"] == "sync-each-write"
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "MEDIUM  sync-each-write" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "write time 8 s, syncs 1,000, writes 1,000, ranks 4, run time 100 s" in " ".join(
        done.stdout.split()
    )
    assert "sure: certain" in done.stdout
    assert "    | fsync(fd);  /* once */" in done.stdout.splitlines()
