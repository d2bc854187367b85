"""The storage line: what both logs count at POSIX and STDIO, whatever a model makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare_builders import record, record_dump

from workalike.characterize import characterize
from workalike.characterize.result import Characterization
from workalike.compare.families import key_of_name
from workalike.compare.fidelity import compare
from workalike.compare.fidelity_schema import Fidelity, UncoveredShare
from workalike.compare.grade import graded
from workalike.compare.inputs import characterized_replica
from workalike.compare.require import check, parse_requirements
from workalike.compare.storage import StorageLine
from workalike.compare.verdict import verdict_of
from workalike.darshan import LogBuilder, open_log
from workalike.plan.resolve import Options, resolve
from workalike.predict.agreement import DeterminedRow
from workalike.workload.words import Role

MIB = 2**20
OURS = "/scratch/{}.0badcafe.dat"
Change = Callable[[LogBuilder], None]


def write_of(count: int, size: int = MIB, **more: float) -> dict[str, float]:
    """The counters of so many writes of one size, one after the other, from the beginning of a new file."""
    return {
        "OPENS": 1, "WRITES": count, "BYTES_WRITTEN": count * size, "MAX_BYTE_WRITTEN": count * size - 1,
        "SEQ_WRITES": count - 1, "CONSEC_WRITES": count - 1, "SIZE_WRITE_100K_1M": count,
        "ACCESS1_ACCESS": size, "ACCESS1_COUNT": count, "FILE_ALIGNMENT": 4096,
        "F_OPEN_START_TIMESTAMP": 1.0, "F_WRITE_START_TIMESTAMP": 1.1, "F_WRITE_END_TIMESTAMP": 2.0,
        "F_CLOSE_END_TIMESTAMP": 2.1, "F_WRITE_TIME": 0.5, **more,
    }  # fmt: skip


def builder(instrument: str = "workalike-1") -> LogBuilder:
    return LogBuilder(nprocs=1, run_time=10.0, metadata={"lib_ver": instrument})


def found_in(log: LogBuilder, path: Path, *, ours: bool = False) -> Characterization:
    log.write(path)
    opened = [open_log(path)]
    return characterized_replica(opened) if ours else characterize(opened)


def judged(tmp_path: Path, original: LogBuilder, replica: LogBuilder) -> Fidelity:
    return compare(
        found_in(original, tmp_path / "original.darshan"),
        found_in(replica, tmp_path / "replica.darshan", ours=True),
    )


def judged_weak(tmp_path: Path, original: LogBuilder, replica: LogBuilder) -> Fidelity:
    """Of a replica by fewer ranks, each of which does what a rank of the original did."""
    found = found_in(original, tmp_path / "original.darshan")
    plan = resolve(found.workload, Options(ranks=replica.job.nprocs, scaling="weak"))
    return compare(found, found_in(replica, tmp_path / "replica.darshan", ours=True), plan=plan)


def storage_reasons(fidelity: Fidelity) -> set[str]:
    return {reason.counter for reason in fidelity.verdict.reasons if reason.line == "storage"}


def replica_of_one(**more: float) -> LogBuilder:
    return builder().posix(OURS.format("output-1.0000"), 0, **write_of(64, **more))


def original_of_one(**more: float) -> LogBuilder:
    return builder().posix("/home/alice/result.dat", 0, **write_of(64, **more))


def test_equal_logs_are_exact(tmp_path: Path) -> None:
    fidelity = judged(tmp_path, original_of_one(), replica_of_one())
    line = fidelity.verdict.lines.storage
    assert (line.judged, line.grade, line.library) == (True, "exact", None)
    assert line.counters >= 8
    assert fidelity.verdict.grade == "exact"
    assert verdict_of(fidelity).headline == "An exact replica"


@pytest.mark.parametrize(
    ("counter", "more"),
    [
        ("FSYNCS", {"FSYNCS": 5}),
        ("FSYNCS", {"FDSYNCS": 5}),
        ("STATS", {"STATS": 9}),
        ("MMAPS", {"MMAPS": 3}),
        ("RENAME_SOURCES", {"RENAME_SOURCES": 1}),
        ("OPENS", {"OPENS": 2}),
        ("READS", {"READS": 4, "BYTES_READ": 4000, "SIZE_READ_1K_10K": 4}),
        ("SEQ_WRITES", {"SEQ_WRITES": 30}),
        ("CONSEC_WRITES", {"CONSEC_WRITES": 30}),
        ("SIZE_WRITE_0_100", {"SIZE_WRITE_0_100": 4}),
        ("EXTENT", {"MAX_BYTE_WRITTEN": 80 * MIB}),
    ],
)
def test_one_counter_that_is_off_is_named_on_either_side(
    tmp_path: Path, counter: str, more: dict[str, float]
) -> None:
    for original, replica in (
        (original_of_one(**more), replica_of_one()),
        (original_of_one(), replica_of_one(**more)),
    ):
        fidelity = judged(tmp_path, original, replica)
        assert counter in storage_reasons(fidelity)
        assert fidelity.verdict.lines.storage.grade in ("close", "different")
        assert fidelity.verdict.grade in ("close", "different")


@pytest.mark.parametrize("module", ["posix", "stdio"])
def test_files_of_no_family_count(tmp_path: Path, module: str) -> None:
    """The replica lacks files that a model might have dropped: 5,000 opens of an empty file."""
    original = original_of_one()
    getattr(original, module)("/home/alice/lock", 0, OPENS=5000)
    fidelity = judged(tmp_path, original, replica_of_one())
    assert {"OPENS", "FILES"} <= storage_reasons(fidelity)
    assert fidelity.verdict.grade == "different"


def test_files_of_the_replica_that_move_nothing_count(tmp_path: Path) -> None:
    replica = replica_of_one()
    for number in range(1, 4):
        replica.posix(OURS.format(f"output-1.{number:04}"), 0, OPENS=1)
    fidelity = judged(tmp_path, original_of_one(), replica)
    assert {"OPENS", "FILES"} <= storage_reasons(fidelity)


def test_program_start_does_not(tmp_path: Path) -> None:
    original = original_of_one()
    original.posix("/etc/passwd", 0, OPENS=900, READS=900, BYTES_READ=9 * MIB)
    original.stdio("<STDOUT>", 0, WRITES=900, BYTES_WRITTEN=9 * MIB)
    fidelity = judged(tmp_path, original, replica_of_one())
    assert fidelity.verdict.grade == "exact"
    assert {(aside.rule, aside.files) for aside in fidelity.set_aside} == {("system", 1), ("stream", 1)}


def test_an_open_of_a_stream_made_of_a_descriptor_is_no_open(tmp_path: Path) -> None:
    """One open reaches the file system, whichever module it is counted in."""
    original = builder().posix(
        "/home/alice/in.npy", 0, OPENS=2, DUPS=1, READS=1, BYTES_READ=100, SIZE_READ_0_100=1
    )
    original.stdio("/home/alice/in.npy", 0, OPENS=1, FDOPENS=1, READS=1, BYTES_READ=9000)
    replica = builder().posix(
        OURS.format("input-1.0000"), 0, OPENS=1, READS=1, BYTES_READ=100, SIZE_READ_0_100=1
    )
    replica.stdio(OURS.format("input-1.0000"), 0, OPENS=1, READS=1, BYTES_READ=9000)
    row = [
        r
        for r in judged(tmp_path, original, replica).verdict.reasons
        if r.counter == "OPENS" and r.line == "storage"
    ]
    assert {(r.expected, r.found) for r in row} == {(1, 2)}


def test_stats_are_compared_where_both_instruments_count_them(tmp_path: Path) -> None:
    original = builder("3.4.4").posix("/home/alice/result.dat", 0, **write_of(64))
    fidelity = judged(tmp_path, original, replica_of_one(STATS=4))
    assert "STATS" not in storage_reasons(fidelity)
    assert any("stats are not compared" in note for note in fidelity.notes)


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (lambda log: log.partial("POSIX"), "module POSIX of the log is partial"),
        (
            lambda log: log.mpiio("/home/alice/other", 0, INDEP_OPENS=1, INDEP_WRITES=1, BYTES_WRITTEN=MIB),
            "the log has no POSIX record of 1 file",
        ),
    ],
    ids=["partial", "no POSIX records"],
)
def test_a_log_that_does_not_tell_is_not_judged(tmp_path: Path, prepare: Change, why: str) -> None:
    original = original_of_one()
    prepare(original)
    line = judged(tmp_path, original, replica_of_one()).verdict.lines.storage
    assert (line.judged, line.grade, line.why) == (False, None, why)


def test_without_a_captured_replica_the_grade_stands_with_these_words(tmp_path: Path) -> None:
    original = found_in(original_of_one(), tmp_path / "original.darshan")
    fidelity = compare(original, record(record_dump(0)))
    assert not fidelity.verdict.lines.storage.judged
    assert "storage not judged (the replica was not captured)" in verdict_of(fidelity).headline
    assert check(fidelity, parse_requirements("storage=5%")) == [
        "storage was not judged: the replica was not captured"
    ]


def test_a_requirement_at_storage(tmp_path: Path) -> None:
    fidelity = judged(tmp_path, original_of_one(FSYNCS=20), replica_of_one(FSYNCS=19))
    assert check(fidelity, parse_requirements("storage=6%")) == []
    (short,) = check(fidelity, parse_requirements("storage=4%"))
    assert "FSYNCS is 19, was 20" in short


def test_of_other_ranks_families_of_posix_are_judged_by_the_model(tmp_path: Path) -> None:
    original = LogBuilder(nprocs=4, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    replica = LogBuilder(nprocs=2, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    for rank in range(4):
        original.posix(f"/home/alice/r{rank}.dat", rank, **write_of(64))
    for rank in range(2):
        replica.posix(OURS.format(f"output-1.0000.r{rank:06}"), rank, **write_of(64))
    line = judged_weak(tmp_path, original, replica).verdict.lines.storage
    assert (line.judged, line.why, line.grade) == (True, "", "exact")


def test_names_are_those_of_the_engine() -> None:
    assert key_of_name(OURS.format("output-1.0000.r000001")) == (Role.OUTPUT, 1)


def test_of_other_ranks_files_of_no_family_are_missing_too(tmp_path: Path) -> None:
    """A family that a workload lacks: the model does not know it, at whatever scale."""
    original = LogBuilder(nprocs=4, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    for rank in range(4):
        original.posix(f"/home/alice/r{rank}.dat", rank, **write_of(64))
    original.posix("/home/alice/lock", 0, OPENS=5000, STATS=5000)
    found = found_in(original, tmp_path / "original.darshan")
    (lock,) = (f for f in found.families if any(file.name.endswith("lock") for file in f.files()))
    found = replace(found, families=[f for f in found.families if f is not lock])
    found.workload.families = [f.family for f in found.families]
    for ranks in (4, 2):
        replica = LogBuilder(nprocs=ranks, run_time=10.0, metadata={"lib_ver": "workalike-1"})
        for rank in range(ranks):
            replica.posix(OURS.format(f"output-1.0000.r{rank:06}"), rank, **write_of(64))
        fidelity = compare(found, found_in(replica, tmp_path / f"{ranks}.darshan", ours=True))
        assert fidelity.verdict.lines.storage.grade == "different"
        assert check(fidelity, parse_requirements("storage=5%"))


@pytest.mark.parametrize(("writers", "is_judged"), [(4, True), (1, False)])
def test_of_other_ranks_a_serial_library_is_judged_where_all_ranks_call_it(
    tmp_path: Path, writers: int, is_judged: bool
) -> None:
    """Where rank 0 alone has a file, half of the ranks do not make half of its calls."""
    original = LogBuilder(nprocs=4, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    replica = LogBuilder(nprocs=2, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    for log, names, ranks in (
        (original, "/home/alice/r{}.h5", writers),
        (replica, OURS.format("output-1.0000.r{:06}"), min(writers, 2)),
    ):
        for rank in range(ranks):
            name = names.format(rank)
            log.h5f(name, rank, OPENS=1)
            log.h5d(
                f"{name}:/x", rank, file=name, WRITES=64, BYTES_WRITTEN=64 * MIB, DATASPACE_NDIMS=1,
                DATASPACE_NPOINTS=64 * MIB, DATATYPE_SIZE=1, SIZE_WRITE_AGG_100K_1M=64,
            )  # fmt: skip
            log.posix(name, rank, **write_of(64))
    fidelity = judged_weak(tmp_path, original, replica)
    line = fidelity.verdict.lines.storage
    assert line.judged == is_judged
    assert line.grade == ("exact" if is_judged else None)


def test_a_shortfall_at_storage_is_found_behind_many_of_the_model(tmp_path: Path) -> None:
    fidelity = judged(tmp_path, original_of_one(FSYNCS=20), replica_of_one(FSYNCS=15))
    worse = [DeterminedRow(((Role.OUTPUT, 1),), "POSIX", f"C{k}", 1, 900 + k) for k in range(60)]
    storage = [DeterminedRow(((Role.OUTPUT, 1),), "POSIX", "FSYNCS", 20, 15)]
    verdict = graded(
        fidelity.families,
        worse,
        storage,
        StorageLine(storage, judged=True),
        left_out=UncoveredShare(bytes_pct=0.0, reason="none"),
        complete=True,
    )
    assert check(fidelity.model_copy(update={"verdict": verdict}), parse_requirements("storage=5%"))


def test_below_collective_calls_other_ranks_are_not_judged(tmp_path: Path) -> None:
    original = LogBuilder(nprocs=4, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    original.mpiio(
        "/home/alice/all.dat",
        -1,
        COLL_OPENS=4,
        COLL_WRITES=64,
        BYTES_WRITTEN=64 * MIB,
        SIZE_WRITE_AGG_100K_1M=64,
    )
    original.posix("/home/alice/all.dat", -1, **write_of(64, OPENS=4))
    replica = LogBuilder(nprocs=2, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    replica.mpiio(
        OURS.format("output-1.0000"),
        -1,
        COLL_OPENS=2,
        COLL_WRITES=64,
        BYTES_WRITTEN=64 * MIB,
        SIZE_WRITE_AGG_100K_1M=64,
    )
    replica.posix(OURS.format("output-1.0000"), -1, **write_of(64, OPENS=2))
    line = judged(tmp_path, original, replica).verdict.lines.storage
    assert (line.judged, line.why) == (False, "2 of 4 ranks")


def test_files_of_a_family_that_the_original_lacks_are_counted_at_other_ranks(tmp_path: Path) -> None:
    original = LogBuilder(nprocs=2, run_time=10.0, metadata={"lib_ver": "workalike-1"})
    for rank in range(2):
        original.posix(f"/home/alice/r{rank}.dat", rank, **write_of(64))
    replica = replica_of_one()
    replica.posix(OURS.format("scratch-7.0000"), 0, **write_of(8))
    fidelity = judged(tmp_path, original, replica)
    assert fidelity.verdict.grade == "different"
    assert any(reason.family == "scratch 7" for reason in fidelity.verdict.reasons)


def with_libraries(found: Characterization, **versions: str) -> Characterization:
    return replace(found, libraries=versions)


@pytest.mark.parametrize(
    ("before", "after", "library"),
    [
        ({"mpi": "Open MPI v4.1.4"}, {"mpi": "Open MPI v4.1.4"}, "same"),
        ({"mpi": "Open MPI v4.1.4"}, {"mpi": "MPICH 4.0.2"}, "another"),
        ({}, {"mpi": "MPICH 4.0.2"}, "unknown"),
    ],
)
def test_a_library_needs_a_witness(tmp_path: Path, before: Any, after: Any, library: str) -> None:
    """Below MPI-IO twice the writes are a difference, whoever made them; the sentence says what is known of who."""
    sides = []
    for name, writes in (("/home/alice/all.dat", 64), (OURS.format("output-1.0000"), 128)):
        log = builder().mpiio(
            name, 0, INDEP_OPENS=1, INDEP_WRITES=64, BYTES_WRITTEN=64 * MIB, SIZE_WRITE_AGG_100K_1M=64
        )
        sides.append(log.posix(name, 0, **write_of(writes, 64 * MIB // writes)))
    original = with_libraries(found_in(sides[0], tmp_path / "a.darshan"), **before)
    replica = with_libraries(found_in(sides[1], tmp_path / "b.darshan", ours=True), **after)
    fidelity = compare(original, replica)
    line = fidelity.verdict.lines.storage
    assert (line.library, line.grade) == (library, "different")
    words = {
        "same": "the same library",
        "another": "MPICH 4.0.2 instead of Open MPI v4.1.4",
        "unknown": "does not name",
    }
    assert words[library] in verdict_of(fidelity).sentence
    assert "2 × the writes" in verdict_of(fidelity).sentence


def test_below_a_library_five_per_cent_are_as_good_as_equal(tmp_path: Path) -> None:
    sides = []
    for name, stats in (("/home/alice/all.dat", 100), (OURS.format("output-1.0000"), 103)):
        log = builder().mpiio(
            name, 0, INDEP_OPENS=1, INDEP_WRITES=64, BYTES_WRITTEN=64 * MIB, SIZE_WRITE_AGG_100K_1M=64
        )
        sides.append(log.posix(name, 0, **write_of(64, STATS=stats)))
    assert judged(tmp_path, *sides).verdict.lines.storage.grade == "exact"


def test_a_few_small_files_do_not_make_a_large_replica_different(tmp_path: Path) -> None:
    """A log file of 400 bytes beside 64 GiB is less than 0.1 % of bytes, calls and time."""
    original = builder().posix("/home/alice/result.dat", 0, **write_of(2**16, F_WRITE_TIME=50.0))
    original.posix("/home/alice/run.log", 0, **write_of(4, 100, F_WRITE_TIME=0.0001))
    replica = builder().posix(OURS.format("output-1.0000"), 0, **write_of(2**16, F_WRITE_TIME=50.0))
    fidelity = judged(tmp_path, original, replica)
    assert fidelity.verdict.grade == "close"
    assert any(reason.family != "all files" for reason in fidelity.verdict.reasons)
