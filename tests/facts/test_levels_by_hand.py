"""At which level a file is counted, and what the libraries below moved on their own account."""

from __future__ import annotations

from typing import Any

import pytest
from facts_by_hand import file_facts, module_facts

from workalike.facts.levels import (
    LevelChoice,
    choose_level,
    choose_levels,
    force_level,
    interface_of,
    levels_of,
    sieving,
    split_stdio,
)
from workalike.facts.records import FileFacts
from workalike.facts.rules import LevelRule, by
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.words import Direction, Interface, Level, Reason

WRITE, READ = Direction.WRITE, Direction.READ
MIB = 2**20
_MODULES = {
    "posix": "POSIX", "mpiio": "MPI-IO", "h5d": "H5D", "h5f": "H5F", "stdio": "STDIO",
    "pnetcdf": "PNETCDF_VAR", "header": "PNETCDF_FILE",
}  # fmt: skip


def file(**modules: int | dict[str, Any]) -> FileFacts:
    """A file; a number is the bytes that its module wrote."""
    records = {
        _MODULES[name]: {"BYTES_WRITTEN": given} if isinstance(given, int) else given
        for name, given in modules.items()
    }
    return file_facts("a", *(module_facts(module, {-1: counters}) for module, counters in records.items()))


def chosen(given: FileFacts, direction: Direction = WRITE) -> tuple[Level, int, LevelRule] | None:
    found = choose_level(given, direction)
    return found and (found.level, found.moved, found.rule.rule)  # type: ignore[return-value]


def losses(given: FileFacts, direction: Direction = WRITE) -> dict[Reason, int]:
    found = choose_level(given, direction)
    assert found is not None
    return {loss.reason: loss.bytes for loss in found.losses}


def test_interfaces_and_levels() -> None:
    assert interface_of(file(posix=1), Level.POSIX) is Interface.POSIX
    assert interface_of(file(posix=1, mpiio=1), Level.POSIX) is Interface.MPIIO
    assert interface_of(file(mpiio=1, h5f={}), Level.MPIIO) is Interface.HDF5
    assert interface_of(file(h5d=1, header={}), Level.MPIIO) is Interface.PNETCDF
    assert interface_of(file(posix=1, stdio=1), Level.STDIO) is Interface.STDIO
    assert levels_of(file(posix=1, mpiio=1, h5d=1)) == [Level.H5D, Level.MPIIO, Level.POSIX]
    assert levels_of(file(h5d=1, pnetcdf=2)) == [Level.PNETCDF]
    assert levels_of(file(stdio=1)) == []


def test_stdio_and_others_are_two_files_where_both_moved() -> None:
    assert len(split_stdio(file(stdio=1, posix=1))) == 2
    assert [list(part.modules) for part in split_stdio(file(stdio=1, posix=1))] == [["STDIO"], ["POSIX"]]
    for alone in (file(stdio=1), file(posix=1), file(stdio=0, posix=1), file(stdio=1, posix=0)):
        assert split_stdio(alone) == [alone]


@pytest.mark.parametrize(
    ("given", "level", "rule"),
    [
        (file(posix=100), Level.POSIX, LevelRule.LOWEST),
        (file(posix=100, mpiio=100), Level.MPIIO, LevelRule.EXPLAINS),
        (file(posix=100, mpiio=95), Level.MPIIO, LevelRule.EXPLAINS),
        (file(posix=100, mpiio=94), Level.POSIX, LevelRule.LOWEST),
        (file(posix=100, mpiio=94, h5d=94), Level.POSIX, LevelRule.LOWEST),  # nothing to say of those above
        (file(posix=100, stdio=100), Level.STDIO, LevelRule.ONLY_STDIO),
        (file(posix=101, stdio=100), Level.POSIX, LevelRule.LOWEST),
        (file(stdio=1), Level.STDIO, LevelRule.ONLY_STDIO),
    ],
)
def test_the_highest_level_that_explains_the_one_below(
    given: FileFacts, level: Level, rule: LevelRule
) -> None:
    assert THRESHOLDS.level_explains == 0.95
    found = chosen(given)
    assert found is not None and (found[0], found[2]) == (level, rule)
    assert chosen(given, READ) is None


def test_partial_levels_are_passed_over() -> None:
    given = file(posix=100, mpiio=100)
    given.modules["MPI-IO"].partial = True
    assert chosen(given) == (Level.POSIX, 100, LevelRule.LOWEST)
    given.modules["POSIX"].doubted = True
    assert chosen(given) == (Level.MPIIO, 100, LevelRule.HIGHEST_OF_PARTIAL)
    assert losses(given) == {Reason.PARTIAL_MODULE: 0}
    more = file(posix=130, mpiio=100)
    more.modules["MPI-IO"].partial = more.modules["POSIX"].partial = True
    assert losses(more) == {Reason.PARTIAL_MODULE: 30}
    alone = file(posix=100)
    alone.modules["POSIX"].partial = True
    assert (chosen(alone), losses(alone)) == (
        (Level.POSIX, 100, LevelRule.LOWEST),
        {Reason.PARTIAL_MODULE: 0},
    )


def test_sieving_is_the_library_s() -> None:
    mpi = {"BYTES_WRITTEN": 100, "COLL_WRITES": 4}
    both = file(mpiio=mpi, posix={"BYTES_WRITTEN": 300, "READS": 3})
    assert (chosen(both), losses(both)) == (
        (Level.MPIIO, 100, LevelRule.EXPLAINS_DATA),
        {Reason.SIEVING: 200},
    )
    blind = file(mpiio=mpi, posix={"BYTES_WRITTEN": 300})  # it has read nothing that it could write back
    assert chosen(blind) == (Level.POSIX, 300, LevelRule.LOWEST)
    plain = file(mpiio={"BYTES_WRITTEN": 100, "INDEP_WRITES": 4}, posix={"BYTES_WRITTEN": 300, "READS": 3})
    assert chosen(plain) == (Level.POSIX, 300, LevelRule.LOWEST)
    viewed = file(mpiio={"BYTES_READ": 100, "VIEWS": 1}, posix={"BYTES_READ": 300})
    assert losses(viewed, READ) == {Reason.SIEVING: 200}
    assert sieving(file(mpiio=mpi, posix={"BYTES_WRITTEN": 100, "READS": 3}), WRITE) == []
    assert sieving(file(mpiio=mpi), WRITE) == []


def chunked(written: int, points: int, **more: int) -> dict[str, int]:
    return {
        "BYTES_WRITTEN": written,
        "CHUNK_SIZE_D1": 1,
        "DATASPACE_NPOINTS": points,
        "DATATYPE_SIZE": 8,
        **more,
    }


@pytest.mark.parametrize(
    ("h5d", "below", "fill"),
    [
        (chunked(8 * MIB, MIB), 16 * MIB, 8 * MIB),
        (chunked(8 * MIB, MIB), 12 * MIB, 4 * MIB),  # half was written twice
        (chunked(8 * MIB, MIB), 12 * MIB - 1, None),
        (chunked(8 * MIB, MIB), 40 * MIB, 8 * MIB),  # no more than the datasets hold
        (chunked(8 * MIB, 0), 40 * MIB, 8 * MIB),
        (chunked(8 * MIB, MIB, CHUNK_SIZE_D1=0), 16 * MIB, None),
    ],
)
def test_fill_values_are_chunked_data_written_twice(
    h5d: dict[str, int], below: int, fill: int | None
) -> None:
    from workalike.facts.levels import fill_values

    given = file(h5d=h5d, mpiio=below)
    found = fill_values(given, Level.H5D, Level.MPIIO, WRITE)
    assert [loss.bytes for loss in found] == ([] if fill is None else [fill])
    assert fill_values(given, Level.H5D, Level.MPIIO, READ) == []
    assert fill_values(given, Level.PNETCDF, Level.MPIIO, WRITE) == []


def test_small_operations_below_a_library_are_its_metadata() -> None:
    below = {"BYTES_WRITTEN": 10 * MIB + 5000, "SIZE_WRITE_AGG_0_100": 10, "SIZE_WRITE_AGG_100_1K": 10}
    given = file(h5d=10 * MIB, mpiio=below)
    assert losses(given) == {Reason.LIBRARY_METADATA: 5000}
    few = file(h5d=10 * MIB, mpiio={**below, "SIZE_WRITE_AGG_100_1K": 0})
    assert losses(few) == {Reason.LIBRARY_METADATA: 1000}  # ten operations of at most 100 bytes
    none = file(h5d=10 * MIB, mpiio=10 * MIB)
    assert losses(none) == {}


def both(written: tuple[int, int], read: tuple[int, int]) -> FileFacts:
    """Bytes at MPI-IO and POSIX in each direction."""
    return file(
        mpiio={"BYTES_WRITTEN": written[0], "BYTES_READ": read[0]},
        posix={"BYTES_WRITTEN": written[1], "BYTES_READ": read[1]},
    )


@pytest.mark.parametrize(
    ("read", "levels", "moved"),
    [
        ((0, 100), {WRITE: Level.MPIIO, READ: Level.MPIIO}, 0),  # a hundredth of what was written
        ((0, 101), {WRITE: Level.MPIIO, READ: Level.POSIX}, 101),
        ((50, 100), {WRITE: Level.MPIIO, READ: Level.MPIIO}, 50),
        ((0, 0), {WRITE: Level.MPIIO}, 0),
    ],
)
def test_a_direction_of_next_to_nothing_follows_the_other(
    read: tuple[int, int], levels: dict[Direction, Level], moved: int
) -> None:
    assert THRESHOLDS.level_minor == 0.01
    found = choose_levels(both((10000, 10000), read))
    assert {d: choice.level for d, choice in found.items()} == levels
    if READ in found:
        assert found[READ].moved == moved
        assert sum(loss.bytes for loss in found[READ].losses) == (
            read[1] - moved if READ in levels and levels[READ] is Level.MPIIO else 0
        )


def test_a_level_that_the_user_asks_for() -> None:
    given = both((80, 100), (0, 0))
    choice = choose_level(given, WRITE)
    assert choice is not None and choice.level is Level.POSIX
    assert force_level(given, WRITE, choice, Level.POSIX) is choice
    asked = force_level(given, WRITE, choice, Level.MPIIO)
    assert (asked.level, asked.moved, asked.rule.rule) == (Level.MPIIO, 80, LevelRule.AS_ASKED)
    assert [(loss.reason, loss.bytes) for loss in asked.losses] == [(Reason.PARTIAL_MODULE, 20)]
    down = choose_level(both((100, 100), (0, 0)), WRITE)
    assert down is not None and down.level is Level.MPIIO
    assert force_level(both((100, 100), (0, 0)), WRITE, down, Level.POSIX).losses == []


def test_what_a_library_adds_is_named_where_its_own_level_is_asked_for() -> None:
    """The level of MPI-IO has 30 bytes more than the data sets: HDF5's metadata, and nothing that is lost."""
    given = file(h5d=1000, mpiio={"BYTES_WRITTEN": 1030, "SIZE_WRITE_AGG_0_100": 1})
    below = LevelChoice(Level.MPIIO, 1030, by(LevelRule.AS_ASKED, level="mpiio"), [])
    asked = force_level(given, WRITE, below, Level.H5D)
    assert (asked.level, asked.moved) == (Level.H5D, 1000)
    assert [(loss.reason, loss.bytes) for loss in asked.losses] == [(Reason.LIBRARY_METADATA, 30)]
