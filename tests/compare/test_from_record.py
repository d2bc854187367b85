"""A record's counters by module: the family's own, and those of levels below."""

from __future__ import annotations

from compare_builders import MIB, record, record_dump

from workalike.compare.from_record import side_of_record
from workalike.compare.side import sum_name
from workalike.record.run_record import LevelBytes, RecordScale
from workalike.workload.model import Level, Role

COUNTED = {(Role.CHECKPOINT, 1): Level.POSIX}


def test_calls_below_are_summed_over_collective_and_independent_ones() -> None:
    below = LevelBytes(bytes_written=32 * MIB, coll_writes=3, indep_writes=5)
    side = side_of_record(record(record_dump(0, levels={Level.MPIIO: below})), COUNTED)
    counters = side.families[Role.CHECKPOINT, 1].modules["MPI-IO"]
    assert (counters["COLL_WRITES"], counters["INDEP_WRITES"]) == (3, 5)
    assert counters[sum_name("MPI-IO", "WRITES")] == 8
    assert counters["BYTES_WRITTEN"] == 32 * MIB


def test_calls_that_were_not_counted_have_no_sum() -> None:
    side = side_of_record(record(record_dump(0, levels={Level.MPIIO: LevelBytes(bytes_written=7)})), COUNTED)
    counters = side.families[Role.CHECKPOINT, 1].modules["MPI-IO"]
    assert counters["BYTES_WRITTEN"] == 7
    assert sum_name("MPI-IO", "WRITES") not in counters


def side_counters(level: Level, module: str, **more: object) -> dict[str, int]:
    side = side_of_record(record(record_dump(0, **more)), {(Role.CHECKPOINT, 1): level})
    return side.families[Role.CHECKPOINT, 1].modules[module]


def test_opens_and_syncs_at_mpi_io_are_sums_of_their_kinds() -> None:
    counted = {"OPENS": 4, "FSYNCS": 2, "FLUSHES": 3, "COLL_WRITES": 5, "INDEP_WRITES": 1}
    found = side_counters(Level.MPIIO, "MPI-IO", counters=counted)
    assert (found["INDEP_OPENS+COLL_OPENS"], found["SYNCS"]) == (4, 5)
    assert found[sum_name("MPI-IO", "WRITES")] == 6
    without = side_counters(Level.MPIIO, "MPI-IO", counters={"FLUSHES": 3})
    assert (without["SYNCS"], "INDEP_OPENS+COLL_OPENS" in without) == (3, False)
    posix = side_counters(Level.POSIX, "POSIX", counters=counted)
    assert (posix["OPENS"], posix["FSYNCS"], "SYNCS" in posix) == (4, 2, False)


def test_histograms_are_those_that_were_counted() -> None:
    found = side_counters(Level.POSIX, "POSIX", counters={"SIZE_WRITE": [1, 2, 0, 0, 0, 0, 0, 0, 0, 9]})
    assert (found["SIZE_WRITE_0_100"], found["SIZE_WRITE_100_1K"], found["SIZE_WRITE_1G_PLUS"]) == (1, 2, 9)
    assert "SIZE_READ_0_100" not in found
    stdio = side_counters(Level.STDIO, "STDIO", counters={"WRITES": 3, "SIZE_WRITE": [3] + [0] * 9})
    assert stdio == {"WRITES": 3, "BYTES_READ": 0, "BYTES_WRITTEN": 32 * MIB}


def test_dumps_are_in_order_and_times_are_those_measured() -> None:
    dumps = [record_dump(1, io_s=0.0), record_dump(0, written=MIB)]
    (family,) = side_of_record(record(*dumps), COUNTED).families.values()
    assert [(d.bytes_written, d.start_s, d.open_s) for d in family.dumps] == [
        (MIB, 10.0, 1.0),
        (32 * MIB, 20.0, 1.0),
    ]
    assert family.modules["POSIX"]["BYTES_WRITTEN"] == 33 * MIB


def test_a_full_scale_count_is_a_plan() -> None:
    def basis(**more: object) -> str:
        return side_of_record(record(record_dump(0), **more), COUNTED).basis

    assert basis(backend="null") == "plan"
    assert basis(backend="null", scale=RecordScale(ranks=0.5)) == "record"
    assert basis(backend="null", scale=RecordScale(bytes=0.5)) == "record"
    assert basis(backend="posix") == "record"


def test_level_of_a_family_that_the_original_lacks() -> None:
    levels = {
        Level.POSIX: LevelBytes(bytes_written=40 * MIB),
        Level.H5D: LevelBytes(bytes_written=32 * MIB),
    }
    (family,) = side_of_record(record(record_dump(0, levels=levels, counters={})), {}).families.values()
    assert family.level is Level.H5D
    assert {m: c["BYTES_WRITTEN"] for m, c in family.modules.items()} == {"H5D": 32 * MIB, "POSIX": 40 * MIB}
    (family,) = side_of_record(record(record_dump(0, levels={}, counters={})), {}).families.values()
    assert family.level is Level.MPIIO
