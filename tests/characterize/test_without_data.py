"""Files of which no data move: markers, locks, probed files. They are families, and nothing of them is dropped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from simulated_job import builder_of, log_of

from workalike.characterize import Characterization, characterize
from workalike.darshan import LogBuilder
from workalike.plan.resolve import Options, resolve
from workalike.predict.prediction import predicted
from workalike.workload.model import Coverage, Level, Role, SharingMode
from workalike.workload.summary import summarize
from workalike.workload.words import Reason
from workalike.workload.workload_file import workload_text

MIB = 2**20


def with_data(ranks: int = 1) -> LogBuilder:
    return builder_of(ranks).posix("/proj/data.bin", 0, OPENS=1, WRITES=64, BYTES_WRITTEN=64 * MIB)


def counted(found: Characterization, role: Role = Role.OTHER, number: int = 1) -> dict[str, int]:
    """What the plan at full scale comes to, for a family."""
    plan = resolve(found.workload, Options())
    return predicted(plan, [0] * len(plan.families))[role, number]["POSIX"].counters


def test_a_marker_is_opened_synced_and_asked_for_its_state() -> None:
    found = characterize([log_of(with_data().posix("/proj/marker", 0, OPENS=5000, STATS=5000, FSYNCS=5000))])
    marker = next(f for f in found.families if f.family.role is Role.OTHER).family
    content = marker.content_of(0)
    assert (content.opens, content.stats, content.fsyncs, content.streams) == (5000, 5000, 5000, [])
    counters = counted(found)
    assert (counters["OPENS"], counters["STATS"], counters["FSYNCS"]) == (5000, 5000, 5000)
    assert found.complete


def test_a_probed_file_is_not_opened() -> None:
    found = characterize([log_of(with_data().posix("/proj/probed", 0, STATS=40))])
    counters = counted(found)
    assert (counters.get("OPENS", 0), counters["STATS"]) == (0, 40)


@pytest.mark.parametrize("opens", [2, 0])
def test_a_file_that_is_only_mapped_is_in_the_workload(opens: int) -> None:
    """Also through a descriptor that the process inherited."""
    found = characterize([log_of(with_data().posix("/proj/index", 0, OPENS=opens, MMAPS=5000))])
    counters = counted(found)
    assert (counters["MMAPS"], counters["OPENS"] >= 1) == (5000, True)


@pytest.mark.parametrize(("maps", "stated"), [(-1, 0), (-7, 0), (10**18, 0), (2**63 - 1, 0), (40, 40)])
def test_maps_that_cannot_be_true_are_not_stated(maps: int, stated: int) -> None:
    log = with_data().posix("/proj/index", 0, OPENS=64, WRITES=64, BYTES_WRITTEN=64 * MIB, MMAPS=maps)
    found = characterize([log_of(log)])
    assert sum(content.maps for f in found.families for content in f.family.all_contents()) == stated


def test_streams_of_mapped_files_are_mapped() -> None:
    log = builder_of(1).stdio("/proj/lines", 0, OPENS=1, WRITES=64, BYTES_WRITTEN=64 * MIB)
    found = characterize([log_of(log.posix("/proj/lines", 0, MMAPS=2))])
    (family,) = (facts.family for facts in found.families)
    assert (family.interface.value, family.content_of(0).maps) == ("stdio", 2)
    plan = resolve(found.workload, Options())
    (modules,) = predicted(plan, [0] * len(plan.families)).values()
    assert modules["POSIX"].counters["MMAPS"] == 2


@pytest.mark.parametrize("written", [0, 64])
def test_reads_at_the_end_of_a_file_that_return_nothing_are_reads(written: int) -> None:
    log = with_data()
    log.posix(
        "/proj/new", 0, OPENS=1, READS=64, SIZE_READ_0_100=64, WRITES=written, BYTES_WRITTEN=written * MIB,
        SIZE_WRITE_100K_1M=written, MAX_BYTE_WRITTEN=max(0, written * MIB - 1),
    )  # fmt: skip
    found = characterize([log_of(log)])
    (family,) = (f.family for f in found.families if any(file.name == "/proj/new" for file in f.files()))
    counters = counted(found, family.role, family.number)
    assert (counters["READS"], counters["BYTES_READ"]) == (64, 0)
    assert (counters["WRITES"], counters["BYTES_WRITTEN"]) == (written, written * MIB)


@pytest.mark.parametrize(
    "counters",
    [
        {"STATS": 2**63 - 1},
        {"READS": -1, "OPENS": 1},
        {"OPENS": -1, "READS": -1, "WRITES": -1, "BYTES_READ": -1, "BYTES_WRITTEN": -1},
        {"OPENS": 1, "FSYNCS": 2**62},
        {"OPENS": 1, "BYTES_WRITTEN": 2**62, "WRITES": 1},
    ],
)
def test_counters_that_are_not_known_are_said(counters: dict[str, float]) -> None:
    found = characterize([log_of(with_data().posix("/proj/odd", 0, **counters))])
    (loss,) = (loss for loss in found.losses if loss.reason is Reason.UNKNOWN_COUNTERS)
    assert (loss.module, loss.files) == ("POSIX", 1)
    assert not found.complete


def test_a_counter_that_no_record_has_is_no_loss() -> None:
    """Darshan before 3.2 has no renames, and marks what it does not measure in all records."""
    log = builder_of(1)
    for name in "ab":
        log.posix(f"/proj/{name}", 0, OPENS=1, WRITES=1, BYTES_WRITTEN=10, RENAME_SOURCES=-1, FSYNCS=-1)
    assert characterize([log_of(log)]).complete


@pytest.mark.parametrize(("recovered", "lacking"), [("1 of 4", 3), ("4 of 4", 0), ("many", 0)])
def test_ranks_that_recovery_did_not_find_are_said(recovered: str, lacking: int) -> None:
    log = with_data(4)
    log.job.metadata.update(incomplete="a process ended", recovered_ranks=recovered)
    found = characterize([log_of(log)])
    losses = [loss for loss in found.losses if loss.reason is Reason.MISSING_RANKS]
    assert sum(loss.files for loss in losses) == lacking
    assert found.complete == (not lacking)


def test_files_of_one_name_are_one_family_of_many_dumps() -> None:
    log = with_data()
    for number in range(300):
        log.posix(f"/proj/lock.{number}", 0, OPENS=1)
    found = characterize([log_of(log)])
    locks = next(f for f in found.families if f.family.role is Role.OTHER)
    assert (locks.family.schedule.dumps, len(locks.files())) == (300, 300)
    assert counted(found)["OPENS"] == 300


def test_ranks_that_open_files_of_their_own() -> None:
    log = with_data(4)
    for rank in range(4):
        log.posix(f"/proj/lock{rank}", rank, OPENS=3)
    locks = next(f for f in characterize([log_of(log)]).families if f.family.role is Role.OTHER)
    assert (locks.family.sharing.mode, locks.family.counted_at) == (SharingMode.PER_RANK, Level.POSIX)


def test_a_log_of_metadata_alone_has_a_workload() -> None:
    log = builder_of(1)
    for number in range(200):
        log.posix(f"/proj/file.{number}", 0, OPENS=1, STATS=1)
    found = characterize([log_of(log)])
    counters = counted(found)
    assert (counters["OPENS"], counters["STATS"]) == (200, 200)
    assert found.workload.coverage == Coverage()


def test_seeks_in_an_inherited_descriptor_open_nothing() -> None:
    """As those of an interpreter in standard output that was sent to a file."""
    found = characterize([log_of(with_data().posix("/proj/stdout.txt", 0, STATS=2, SEEKS=4))])
    counters = counted(found)
    assert (counters.get("OPENS", 0), counters["STATS"]) == (0, 2)


def test_what_a_library_alone_moves_is_characterized_below_it() -> None:
    """Nothing is read through H5D, though the file is: all would be the library's metadata, and nothing be there."""
    log = builder_of(1)
    log.record("H5F", "/proj/run.nc", 0, OPENS=1)
    log.record("H5D", "/proj/run.nc:/v", 0, OPENS=1)
    log.posix(
        "/proj/run.nc", 0, OPENS=1, READS=30, BYTES_READ=90_000, MAX_BYTE_READ=90_000, SIZE_READ_1K_10K=30
    )
    (only,) = characterize([log_of(log)]).families
    assert only.family.counted_at is Level.POSIX
    assert sum(dump.bytes_read for dump in only.dumps) == 90_000


def test_coverage_is_stated_and_too_little_is_a_gap() -> None:
    """Names that only renames have made are in no family: half of the calls."""
    log = with_data().posix("/proj/old", 0, RENAME_SOURCES=66)
    found = characterize([log_of(log)])
    coverage = found.workload.coverage
    assert coverage is not None and coverage.calls == pytest.approx(100 * 65 / 131, abs=0.01)
    assert not found.complete
    assert any(
        line.startswith("covered: 100 % of the bytes, 50 % of the calls")
        for line in summarize(found.workload)
    )


@pytest.mark.parametrize("name", ["/proj/a\nb", "/proj/\x1b[31mred", "/proj/" + "x" * 4000, "/proj/\u202e"])
def test_names_of_probed_files_are_acted_upon_by_nobody(name: str) -> None:
    found = characterize([log_of(with_data().posix(name, 0, STATS=3))])
    assert name.rsplit("/", 1)[-1] not in workload_text(found.workload)
    assert counted(found)["STATS"] == 3


def test_a_million_stats_are_counted_and_not_listed(tmp_path: Path) -> None:
    log = with_data().posix("/proj/probed", 0, STATS=1_000_000)
    path = log.write(tmp_path / "app.darshan")
    command = [
        sys.executable,
        "-m",
        "workalike",
        "characterize",
        str(path),
        "--json",
        "-o",
        str(tmp_path / "w.yaml"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout)["ranks"] == 1
    assert len((tmp_path / "w.yaml").read_text()) < 2000


def test_records_that_contradict_each_other_are_no_crash() -> None:
    """MPI-IO has moved a hundred times what POSIX has, and the other way round."""
    log = builder_of(2)
    log.mpiio("/proj/a", -1, COLL_OPENS=2, COLL_WRITES=2, BYTES_WRITTEN=100 * MIB)
    log.posix("/proj/a", -1, OPENS=2, WRITES=1, BYTES_WRITTEN=MIB)
    log.mpiio("/proj/b", -1, COLL_OPENS=2, COLL_WRITES=2, BYTES_WRITTEN=MIB)
    log.posix("/proj/b", -1, OPENS=2, WRITES=1, BYTES_WRITTEN=100 * MIB)
    found = characterize([log_of(log)])
    assert found.families and found.warnings
