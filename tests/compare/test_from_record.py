"""A record's counters by module: the family's own, and those of levels below."""

from __future__ import annotations

from compare_builders import MIB, record, record_dump

from workalike.compare.from_record import side_of_record
from workalike.compare.side import sum_name
from workalike.record.run_record import LevelBytes
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
