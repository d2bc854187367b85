"""Fidelity: small originals and records, with figures computed by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from compare_builders import (
    MIB,
    family,
    file_facts,
    module_facts,
    original,
    posix_file,
    record,
    record_dump,
)

from workalike.characterize.result import Characterization, DumpFacts, FamilyFacts
from workalike.compare.fidelity import Fidelity, compare, read_fidelity, write_fidelity
from workalike.compare.fidelity_schema import CounterFidelity
from workalike.errors import ErrorKind, WorkalikeError
from workalike.facts.amounts import Amounts
from workalike.facts.noise import SetAside
from workalike.facts.records import Loss
from workalike.facts.rules import NoiseRule
from workalike.plan.resolve import Options, resolve
from workalike.record.run_record import LevelBytes, RecordError, RecordScale
from workalike.workload.model import (
    Level,
    Reason,
    Role,
    Uncovered,
    Workload,
)


def row(fidelity: Fidelity, counter: str, module: str = "POSIX", at_level: bool = True) -> CounterFidelity:
    found = [r for r in fidelity.counters if (r.module, r.counter, r.at_level) == (module, counter, at_level)]
    assert len(found) == 1, f"{module} {counter}: {len(found)} rows"
    return found[0]


def three(**more: object) -> list:  # type: ignore[type-arg]
    return [record_dump(i, **more) for i in range(3)]


def test_a_perfect_replica() -> None:
    fidelity = compare(original(), record(*three()))
    checkpoint = fidelity.families[0]
    assert (checkpoint.role, checkpoint.name, checkpoint.level) == (
        Role.CHECKPOINT,
        "checkpoint 1",
        Level.POSIX,
    )
    assert (checkpoint.dumps_original, checkpoint.dumps_replica) == (3, 3)
    assert (
        checkpoint.bytes_error_mean_pct,
        checkpoint.bytes_error_max_pct,
        checkpoint.total_bytes_error_pct,
    ) == (0, 0, 0)
    assert (checkpoint.start_time_error_mean_s, checkpoint.start_time_error_max_s) == (0, 0)
    assert (checkpoint.io_time_original_s, checkpoint.io_time_replica_s) == (6.0, 3.0)
    assert fidelity.size_histogram_distance.write == 0
    assert fidelity.size_histogram_distance.read == 0
    assert row(fidelity, "WRITES").original == 96
    assert row(fidelity, "WRITES").error_pct == 0
    assert fidelity.basis == "record"
    assert fidelity.original_is == "log"
    assert not any(r.error_pct for r in fidelity.counters)


def test_the_fields_of_the_file(tmp_path: Path) -> None:
    fidelity = compare(original(), record(*three()))
    document = fidelity.model_dump(mode="json")
    assert {
        "role",
        "name",
        "level",
        "dumps_original",
        "dumps_replica",
        "bytes_error_mean_pct",
        "bytes_error_max_pct",
        "total_bytes_error_pct",
        "start_time_error_mean_s",
        "start_time_error_max_s",
        "io_time_original_s",
        "io_time_replica_s",
    } <= document["families"][0].keys()
    assert {"module", "counter", "original", "law", "replica", "error_pct", "comparable"} <= document[
        "counters"
    ][0].keys()
    assert document["size_histogram_distance"].keys() == {"read", "write"}
    assert document["scale"] == {"ranks": 1.0, "bytes": 1.0, "time": 1.0}
    assert {"bytes_pct", "reason"} <= document["uncovered"].keys()
    write_fidelity(fidelity, tmp_path / "fidelity.json")
    assert read_fidelity(tmp_path / "fidelity.json") == fidelity


def test_errors_of_bytes() -> None:
    dumps = [
        record_dump(0),
        record_dump(1, written=int(32 * MIB * 0.9)),
        record_dump(2, written=int(32 * MIB * 1.2)),
    ]
    checkpoint = compare(original(), record(*dumps)).families[0]
    assert checkpoint.bytes_error_mean_pct == pytest.approx((0 + 10 + 20) / 3, rel=1e-6)
    assert checkpoint.bytes_error_max_pct == pytest.approx(20, rel=1e-6)
    assert checkpoint.total_bytes_error_pct == pytest.approx(10 / 3, rel=1e-6)


def test_a_missing_dump_is_an_error_of_100_percent() -> None:
    checkpoint = compare(original(), record(record_dump(0), record_dump(1))).families[0]
    assert (checkpoint.dumps_original, checkpoint.dumps_replica) == (3, 2)
    assert checkpoint.bytes_error_max_pct == 100
    assert checkpoint.bytes_error_mean_pct == pytest.approx(100 / 3)
    assert checkpoint.total_bytes_error_pct == pytest.approx(100 / 3)


def test_a_missing_family_is_an_error_of_100_percent() -> None:
    fidelity = compare(original(), record())
    assert fidelity.families[0].total_bytes_error_pct == 100
    assert fidelity.families[0].dumps_replica == 0


def test_reads_in_a_family_that_writes_are_a_counter_s_error() -> None:
    """The bytes of a family that writes are BYTES_WRITTEN; reads of a library have a row of their own."""
    checkpoint = compare(original(dumps=1), record(record_dump(0, read=16 * MIB))).families[0]
    assert checkpoint.bytes_error_max_pct == 0
    (row,) = [c for c in checkpoint.counters if c.counter == "BYTES_READ"]
    assert row.error_pct == pytest.approx(100)


def test_start_times_are_in_seconds_of_the_original() -> None:
    dumps = [record_dump(i, start_s=(10.0 * (i + 1) + i) * 0.5, end_s=100.0) for i in range(3)]
    scaled = record(*dumps, time_scale=0.5, scale=RecordScale(time=0.5))
    checkpoint = compare(original(), scaled).families[0]
    assert checkpoint.start_time_error_mean_s == pytest.approx(1.0)
    assert checkpoint.start_time_error_max_s == pytest.approx(2.0)


@pytest.mark.parametrize(("clock", "late", "said"), [("gap", 5.0, 1), ("gap", 0.1, 0), ("deadline", 5.0, 0)])
def test_starts_that_the_clock_moved_are_explained(clock: str, late: float, said: int) -> None:
    dumps = [record_dump(i, start_s=10.0 * (i + 1) + late, end_s=100.0) for i in range(3)]
    fidelity = compare(original(), record(*dumps, clock=clock))
    assert len([cause for cause in fidelity.causes if "--clock deadline" in cause.text]) == said


def test_no_start_times_without_waiting() -> None:
    checkpoint = compare(original(), record(*three(), time_scale=0.0)).families[0]
    assert checkpoint.start_time_error_mean_s is None
    assert checkpoint.start_time_error_max_s is None


def test_a_full_scale_count_is_the_plan() -> None:
    fidelity = compare(original(), record(*three(), backend="null", time_scale=0.0))
    assert fidelity.basis == "plan"
    assert fidelity.families[0].io_time_replica_s is None


def test_distance_of_histograms() -> None:
    # A quarter of the writes are in another bin than the original's.
    counters = dict(record_dump(0).counters)
    counters["SIZE_WRITE"] = [0, 8, 0, 0, 24, 0, 0, 0, 0, 0]
    fidelity = compare(original(dumps=1), record(record_dump(0, counters=counters)))
    assert fidelity.size_histogram_distance.write == pytest.approx(0.25)
    assert fidelity.families[0].size_histogram_distance.write == pytest.approx(0.25)
    assert row(fidelity, "SIZE_WRITE_100_1K").error_pct == 100


def test_stdio_has_no_histogram() -> None:
    checkpoint = family(1, level=Level.STDIO)
    stdio = module_facts("STDIO", {0: {"OPENS": 1, "WRITES": 32, "BYTES_WRITTEN": 32 * MIB}})
    log = Characterization(
        Workload(ranks=4, families=[checkpoint]),
        [FamilyFacts(checkpoint, [DumpFacts(32 * MIB, 0, 10, 12, 2, [file_facts("a", stdio)])])],
        [],
    )
    fidelity = compare(log, record(record_dump(0)))
    assert fidelity.size_histogram_distance.write is None
    assert row(fidelity, "WRITES", "STDIO").error_pct == 0


def scaled_record(log: Characterization, options: Options, operations: int, size: int) -> Fidelity:
    """Fidelity of a perfect replica at the scale of `options`: `operations` writes of `size` bytes per dump."""
    plan = resolve(log.workload, options)
    ranks = plan.ranks
    bins = [0] * 10
    bins[4 if size > 102400 else 3] = operations
    dumps = []
    for i in range(3):
        counters = {
            "OPENS": ranks,
            "WRITES": operations,
            "SIZE_WRITE": bins,
            "MAX_BYTE_WRITTEN": operations * size - 1,
            "SEQ_WRITES": operations - 1,
            "CONSEC_WRITES": operations - ranks,
        }
        dumps.append(record_dump(i, written=operations * size, counters=counters))
    scale = RecordScale(ranks=plan.scale.ranks, bytes=plan.scale.bytes, time=1.0)
    return compare(log, record(*dumps, plan_ranks=ranks, scale=scale), plan=plan)


@pytest.mark.parametrize(
    ("options", "operations", "size"),
    [
        (Options(bytes_scale=Fraction(1, 2)), 16, MIB),  # half the operations
        (
            Options(bytes_scale=Fraction(1, 32)),
            4,
            MIB // 4,
        ),  # one operation per rank is left, a quarter as large
        (Options(bytes_scale=Fraction(1, 2), scale_by="size"), 32, MIB // 2),
        (Options(ranks=2), 32, MIB),
        (Options(ranks=8, scaling="weak"), 64, MIB),
        (Options(ranks=1, bytes_scale=Fraction(1, 64)), 1, MIB // 2),
    ],
)
def test_the_laws_hold_at_other_scales(options: Options, operations: int, size: int) -> None:
    fidelity = scaled_record(original(), options, operations, size)
    assert fidelity.families[0].bytes_error_max_pct == 0
    assert fidelity.size_histogram_distance.write == pytest.approx(0)
    off = {r.counter: (r.expected, r.replica) for r in fidelity.counters if (r.error_pct or 0) > 0.001}
    assert off == {}


def test_the_expected_counts_are_those_of_the_plan() -> None:
    fidelity = scaled_record(original(), Options(bytes_scale=Fraction(1, 2)), 16, MIB)
    assert row(fidelity, "WRITES").expected == 48
    assert row(fidelity, "BYTES_WRITTEN").expected == 48 * MIB
    assert row(fidelity, "OPENS").expected == 12
    assert row(fidelity, "CONSEC_WRITES").expected == 36  # 48 less the first access of 4 ranks in 3 files
    assert row(fidelity, "WRITES").law == "operations"


def test_what_the_workload_lacks_shows_at_any_scale() -> None:
    # The log has 40 writes per dump, the workload only 32: a fifth is missing.
    log = original(writes=40)
    plan = resolve(log.workload, Options(bytes_scale=Fraction(1, 2)))
    dumps = [record_dump(i, written=16 * MIB, operations=16) for i in range(3)]
    fidelity = compare(log, record(*dumps, scale=RecordScale(bytes=0.5, time=1.0)), plan=plan)
    assert row(fidelity, "WRITES").expected == 60
    assert row(fidelity, "WRITES").error_pct == pytest.approx(20)


def test_without_a_plan_the_rules_are_assumed() -> None:
    dumps = [record_dump(i, written=16 * MIB, operations=16) for i in range(3)]
    fidelity = compare(original(), record(*dumps, scale=RecordScale(bytes=0.5, time=1.0)))
    assert row(fidelity, "WRITES").expected == 48
    assert any("scale-by count" in note for note in fidelity.notes)


def test_each_level_is_compared_on_its_own() -> None:
    checkpoint = family(1, level=Level.MPIIO)
    mpiio = module_facts(
        "MPI-IO", {-1: {"COLL_WRITES": 32, "BYTES_WRITTEN": 32 * MIB, "SIZE_WRITE_AGG_100K_1M": 32}}
    )
    posix = module_facts("POSIX", {0: {"WRITES": 2, "BYTES_WRITTEN": 33 * MIB}})
    log = Characterization(
        Workload(ranks=4, families=[checkpoint]),
        [FamilyFacts(checkpoint, [DumpFacts(32 * MIB, 0, 10, 12, 2, [file_facts("a", mpiio, posix)])])],
        [],
    )
    levels = {
        Level.MPIIO: LevelBytes(bytes_written=32 * MIB),
        Level.POSIX: LevelBytes(bytes_written=66 * MIB),
    }
    counters = {
        "COLL_WRITES": 32,
        "INDEP_WRITES": 0,
        "WRITES": 32,
        "SIZE_WRITE": [0, 0, 0, 0, 32, 0, 0, 0, 0, 0],
    }
    fidelity = compare(log, record(record_dump(0, levels=levels, counters=counters)))
    assert fidelity.families[0].total_bytes_error_pct == 0
    below = row(fidelity, "BYTES_WRITTEN", "POSIX", at_level=False)
    assert below.error_pct == 100
    shown = {level.level: (level.error_pct, level.at_level) for level in fidelity.families[0].levels}
    assert shown == {Level.MPIIO: (0.0, True), Level.POSIX: (100.0, False)}
    total = row(fidelity, "INDEP_WRITES+COLL_WRITES+SPLIT_WRITES+NB_WRITES", "MPI-IO")
    assert (total.original, total.replica, total.error_pct) == (32, 32, 0)


def test_a_workload_as_the_original() -> None:
    workload = original().workload
    fidelity = compare(workload, record(*three()))
    assert fidelity.original_is == "workload"
    assert fidelity.families[0].total_bytes_error_pct == 0
    assert fidelity.families[0].io_time_original_s is None  # a workload has windows of dumps, but no timers
    assert fidelity.times.unknown["io_time_original_s"].startswith("a workload has no timers")
    assert row(fidelity, "WRITES").error_pct == 0


def test_a_log_as_the_replica_is_matched_by_file_names() -> None:
    log = original()
    other = family(
        3, role=Role.OUTPUT, number=7
    )  # the family that characterization finds in the replica's log
    files = [posix_file(f"/data/checkpoint-1.{i:04d}.0badcafe.dat", writes=32, size=MIB) for i in range(3)]
    dumps = [DumpFacts(32 * MIB, 0, 10.0 * (i + 1), 11.0 + 10 * i, 1.0, [files[i]]) for i in range(3)]
    replica = Characterization(Workload(ranks=4, families=[other]), [FamilyFacts(other, dumps)], [])
    fidelity = compare(log, replica)
    assert fidelity.basis == "log"
    assert fidelity.families[0].dumps_replica == 3
    assert fidelity.families[0].total_bytes_error_pct == 0
    assert row(fidelity, "CONSEC_WRITES").error_pct == 0


def test_a_log_without_such_names_is_matched_by_role_and_number() -> None:
    assert compare(original(), original()).families[0].dumps_replica == 3


def test_a_file_in_two_families_is_counted_once() -> None:
    written, read = family(1), family(1, role=Role.RESTART)
    file = posix_file("a", writes=32, size=MIB, READS=8, BYTES_READ=8 * MIB, SIZE_READ_100K_1M=8)
    log = Characterization(
        Workload(ranks=4, families=[written, read]),
        [
            FamilyFacts(written, [DumpFacts(32 * MIB, 0, 10, 12, None, [file])]),
            FamilyFacts(read, [DumpFacts(0, 8 * MIB, 20, 22, None, [file])]),
        ],
        [],
    )
    fidelity = compare(log, log)
    assert row(fidelity, "READS").original == 8
    assert row(fidelity, "WRITES").original == 32
    assert row(fidelity, "OPENS").original == 4


def test_counters_that_cannot_be_compared_say_why() -> None:
    log = original(dumps=1)
    fidelity = compare(log, log)
    mode = row(fidelity, "MODE")
    assert not mode.comparable
    assert mode.error_pct is None
    assert "permission" in mode.reason
    assert "glibc" in row(fidelity, "STATS").reason


def test_unmeasured_counters_are_not_compared() -> None:
    log = original(dumps=1)
    facts = log.families[0].dumps[0].files[0].modules["POSIX"]
    facts.counters[:, facts.counter_names.index("FSYNCS")] = -1
    fidelity = compare(log, record(record_dump(0)))
    assert row(fidelity, "FSYNCS").original is None
    assert row(fidelity, "FSYNCS").reason == "not measured in the original"


def test_a_partial_module_is_compared_for_the_files_that_it_has() -> None:
    log = original(dumps=1)
    log.partial_modules.append("POSIX")
    fidelity = compare(log, record(record_dump(0)))
    assert row(fidelity, "WRITES").error_pct == 0
    assert any("partial" in note for note in fidelity.notes)


def test_a_partial_replica_is_not_compared() -> None:
    replica = original(dumps=1)
    replica.partial_modules.append("POSIX")
    fidelity = compare(original(dumps=1), replica)
    assert row(fidelity, "WRITES").reason == "module POSIX of the replica is partial"


def test_what_is_uncovered() -> None:
    log = original(dumps=1)
    log.losses = [
        Loss(Reason.PARTIAL_MODULE, 8 * MIB, 2, "POSIX"),
        Loss(Reason.SIEVING, 500 * MIB, 1, "POSIX"),
    ]
    share = compare(log, record(record_dump(0))).uncovered
    assert share.bytes_pct == pytest.approx(20)  # 8 of 40 MiB; sieving is not the application's
    assert share.reason == "partial-module"
    assert {(p.reason, p.bytes, p.counted) for p in share.parts} == {
        ("partial-module", 8 * MIB, True),
        ("sieving", 500 * MIB, False),
    }


def test_noise_is_a_part_beside_other_reasons() -> None:
    log = original(dumps=1)
    log.losses = [Loss(Reason.MMAP, 0, 1, "POSIX")]
    log.noise = [
        SetAside(NoiseRule.LIBRARY, 3, Amounts(5 * MIB)),
        SetAside(NoiseRule.NEGLIGIBLE, 2, Amounts(MIB)),
    ]
    share = compare(log, record(record_dump(0))).uncovered
    assert (share.bytes_pct, share.reason) == (0.0, "mmap")
    assert [(p.reason, p.bytes, p.files, p.counted) for p in share.parts] == [
        ("mmap", 0, 1, True),
        ("program-start", 5 * MIB, 3, False),
        ("negligible", MIB, 2, False),
    ]


def test_what_a_workload_says_is_uncovered() -> None:
    workload = original(dumps=1).workload
    workload.uncovered = [Uncovered(reason=Reason.MMAP, bytes=0, files=3)]
    share = compare(workload, record(record_dump(0))).uncovered
    assert (share.bytes_pct, share.reason) == (0.0, "mmap")


def test_an_interrupted_run_is_not_complete() -> None:
    fidelity = compare(original(), record(record_dump(0), incomplete=True))
    assert not fidelity.complete
    assert any("did not end" in note for note in fidelity.notes)


def test_nothing_to_compare() -> None:
    fidelity = compare(Workload(ranks=4, families=[]), record())
    assert fidelity.families == []
    assert fidelity.uncovered.reason == "none"


def test_notes_name_what_is_missing_and_what_failed() -> None:
    error = RecordError(rank=3, role=Role.CHECKPOINT, operation="write", reason="no space")
    dumps = [record_dump(0), record_dump(0, role=Role.RESTART, number=2)]
    fidelity = compare(original(dumps=1), record(*dumps, errors=[error] * 21))
    assert not fidelity.complete
    assert fidelity.notes[0] == "the replica has restart 2, which the original does not have"
    assert fidelity.notes[1:] == ["rank 3: write failed: no space"] * 20
    many = [record_dump(0, role=Role.RESTART, number=n) for n in range(1, 23)]
    notes = compare(original(dumps=1), record(record_dump(0), *many)).notes
    assert len(notes) == 20
    assert not compare(original(dumps=1), record(record_dump(0))).notes


def test_a_partial_module_that_no_family_is_counted_at_has_no_note() -> None:
    log = original(dumps=1)
    log.partial_modules += ["H5D", "POSIX"]
    assert compare(log, record(record_dump(0))).notes == [
        "module POSIX of the original is partial: files that it lost cannot be compared"
    ]


@pytest.mark.parametrize(("late", "noted"), [(0.23, 1), (0.21, 0)])
def test_starts_are_explained_from_one_per_cent_of_the_run_on(late: float, noted: int) -> None:
    """From first to last call the original takes 22 s."""
    run = record(*(record_dump(i, start_s=10.0 * (i + 1) + late, end_s=10.0 * (i + 1) + 2) for i in range(3)))
    assert len(compare(original(), run).causes) == noted
    assert compare(original(), original()).causes == []
    assert compare(original(), original()).notes == [
        "stats are not compared: one of the logs does not count them"
    ]


def test_only_the_largest_families_have_their_own_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    from workalike.compare import fidelity as module

    monkeypatch.setattr(module, "MAX_FAMILIES_WITH_COUNTERS", 1)
    small, large = family(1, number=1), family(1, number=2)
    logs = [
        FamilyFacts(f, [DumpFacts(size, 0, 10, 12, 2, [posix_file(str(size), writes=1, size=size)])])
        for f, size in ((small, MIB), (large, 2 * MIB))
    ]
    log = Characterization(Workload(ranks=4, families=[small, large]), logs, [])
    found = compare(log, log).families
    assert [bool(f.counters) for f in found] == [False, True]
    assert {c.counter: c.original for c in found[1].counters}["BYTES_WRITTEN"] == 2 * MIB


def test_bytes_of_both_directions_are_expected_and_found() -> None:
    """A family that writes and reads: a dump's error is over what it moves of both."""
    written = family(1)
    file = posix_file("a", writes=32, size=MIB, READS=8, BYTES_READ=8 * MIB)
    log = Characterization(
        Workload(ranks=4, families=[written]),
        [FamilyFacts(written, [DumpFacts(32 * MIB, 8 * MIB, 10, 12, 2, [file])])],
        [],
    )
    run = record(
        record_dump(0, written=16 * MIB, read=5 * MIB), scale=RecordScale(bytes=0.5), time_scale=0.25
    )
    found = compare(log, run).families[0]
    assert (found.bytes_original, found.bytes_expected, found.bytes_replica) == (40 * MIB, 20 * MIB, 21 * MIB)
    assert found.bytes_error_max_pct == found.bytes_error_mean_pct == pytest.approx(5)
    assert found.total_bytes_error_pct == pytest.approx(5, rel=1e-5)
    (level,) = found.levels
    assert (level.level, level.bytes_original, level.bytes_expected, level.bytes_replica, level.at_level) == (
        Level.POSIX,
        40 * MIB,
        20 * MIB,
        21 * MIB,
        True,
    )
    assert level.error_pct == pytest.approx(5)
    assert found.start_time_error_max_s == 30.0  # 10 s at a quarter of the time are 40 s


def test_a_level_without_bytes_is_not_shown() -> None:
    checkpoint = family(1)
    for written, levels in ((0, []), (1, [Level.POSIX])):
        file = posix_file("a", writes=written, size=1)
        log = Characterization(
            Workload(ranks=4, families=[checkpoint]),
            [FamilyFacts(checkpoint, [DumpFacts(0, 0, 10, 12, 2, [file])])],
            [],
        )
        assert [level.level for level in compare(log, log).families[0].levels] == levels
    idle = compare(log, record(record_dump(0, written=0, counters={}))).families[0]
    assert [level.bytes_replica for level in idle.levels] == [0]


def test_io_times_are_sums_of_those_known() -> None:
    log = original(dumps=3)
    files = log.families[0].files()
    files[1].modules["POSIX"].fcounters[:] = -1
    found = compare(log, record(*three())).families[0]
    assert (found.io_time_original_s, found.io_time_replica_s) == (4.0, 3.0)
    assert found.start_time_error_mean_s == 0.0
    for file in files:
        file.modules["POSIX"].fcounters[:] = -1
    assert compare(log, record(*three())).families[0].io_time_original_s is None


def test_a_family_without_dumps_has_no_error() -> None:
    written = family(1)
    log = Characterization(Workload(ranks=4, families=[written]), [FamilyFacts(written, [])], [])
    found = compare(log, log).families[0]
    assert (found.bytes_error_mean_pct, found.bytes_error_max_pct, found.start_time_error_mean_s) == (
        0,
        0,
        None,
    )


def test_losses_of_one_reason_are_added() -> None:
    log = original(dumps=1)
    log.losses = [
        Loss(Reason.MMAP, 8 * MIB, 2, "POSIX"),
        Loss(Reason.MMAP, 24 * MIB, 1, "POSIX"),
        Loss(Reason.UNSUPPORTED_MODULE, 0, 1, "POSIX"),
    ]
    share = compare(log, record(record_dump(0))).uncovered
    assert (share.bytes_pct, share.reason) == (50.0, "mmap, unsupported-module")
    assert [(p.reason, p.bytes, p.files) for p in share.parts] == [
        ("mmap", 32 * MIB, 3),
        ("unsupported-module", 0, 1),
    ]


def test_a_file_that_is_not_fidelity_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "fidelity.json"
    path.write_text(compare(original(dumps=1), record(record_dump(0))).model_dump_json(indent=1))
    path.write_text(path.read_text().replace('"basis":"record"', '"basis":"x"').replace('"record"', '"x"'))
    with pytest.raises(WorkalikeError) as caught:
        read_fidelity(path)
    assert (caught.value.kind, caught.value.place) == (ErrorKind.BAD_RECORD, "basis")
