"""A plan as a side of the comparison."""

from __future__ import annotations

import pytest
from compare_builders import MIB, family

from workalike.compare.from_plan import side_of_plan, with_durations
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Family, Level, Role, SharingMode, Workload

KEY = (Role.CHECKPOINT, 1)


def workload(*families: Family) -> Workload:
    return Workload(ranks=4, families=list(families))


def test_counters_are_over_all_dumps_and_ranks_and_files_over_all_files() -> None:
    side = side_of_plan(resolve(workload(family(3)), Options()))
    found = side.families[KEY]
    assert (side.ranks, side.basis) == (4, "plan")
    assert (found.accessors, found.files, found.fitted) == (4 * 3, 3, False)
    assert [(d.bytes_written, d.bytes_read, d.start_s, d.end_s) for d in found.dumps] == [
        (32 * MIB, 0, 10.0 * n, 10.0 * n + 2) for n in (1, 2, 3)
    ]
    counters = found.modules["POSIX"]
    assert (counters["WRITES"], counters["READS"], counters["OPENS"]) == (96, 0, 12)
    assert (counters["SIZE_WRITE_100K_1M"], counters["BYTES_WRITTEN"]) == (96, 96 * MIB)


def test_files_of_a_rank_each() -> None:
    found = side_of_plan(resolve(workload(family(2, mode=SharingMode.PER_RANK)), Options())).families[KEY]
    assert (found.accessors, found.files) == (4 * 2, 4 * 2)


def test_families_are_apart() -> None:
    side = side_of_plan(resolve(workload(family(1), family(2, role=Role.RESTART)), Options()))
    assert {key: len(f.dumps) for key, f in side.families.items()} == {KEY: 1, (Role.RESTART, 1): 2}


def fitted(level: Level) -> Family:
    made = family(2, level=level).model_dump(mode="json")
    made["interface"], made["sizes"] = "hdf5", ["1 MiB", "1 MiB"]
    made["content"] = {"fit": {"datasets": 3}}
    return Family.model_validate(made)


def test_where_bytes_are_stated_operations_are_the_library_s() -> None:
    found = side_of_plan(resolve(workload(fitted(Level.MPIIO)), Options())).families[KEY]
    assert found.fitted
    assert [d.bytes_written for d in found.dumps] == [MIB, MIB]
    counters = found.modules["MPI-IO"]
    assert counters["BYTES_WRITTEN"] == 2 * MIB
    assert not [name for name in counters if "WRITES" in name or "SIZE" in name]


@pytest.mark.parametrize(("seconds", "io"), [(2.0, 2.0), (0.0, None)])
def test_dumps_of_a_workload_last_as_it_says(seconds: float, io: float | None) -> None:
    known = family(1)
    known.schedule.duration = seconds
    made = workload(known)
    side = with_durations(side_of_plan(resolve(made, Options())), made)
    assert side.families[KEY].dumps[0].open_s == io
