"""The level rule, clause by clause (docs/reference/terms.md#level)."""

from __future__ import annotations

import pytest
from simulated_job import builder_of, log_of

from workalike.characterize.options import CharacterizeOptions, Model
from workalike.characterize.pipeline import characterize, split_stdio
from workalike.darshan import LogBuilder
from workalike.facts.gather import facts_of
from workalike.facts.levels import LevelChoice, choose_level, choose_levels
from workalike.facts.records import FileFacts
from workalike.workload.model import Direction, Level, Reason

WRITE, READ = Direction.WRITE, Direction.READ
MIB = 2**20
NAME = "/run/out.h5"


def file_of(builder: LogBuilder) -> FileFacts:
    (file,) = [f for f in facts_of([log_of(builder)]).files() if f.name == NAME]
    return file


def chosen(builder: LogBuilder, direction: Direction = WRITE) -> LevelChoice:
    choice = choose_level(file_of(builder), direction)
    assert choice is not None
    return choice


def losses(choice: LevelChoice) -> dict[Reason, int]:
    return {loss.reason: loss.bytes for loss in choice.losses}


def hdf5(written: int, mpi: int, posix: int, *, small: int = 0, chunk: int = 0, **below: float) -> LogBuilder:
    """An HDF5 file with one dataset: the bytes at each level, and the number of `small` operations (to 10 KiB) below."""
    builder = builder_of(4)
    dataset = {
        "CHUNK_SIZE_D1": chunk,
        "DATASPACE_NDIMS": 1,
        "DATASPACE_NPOINTS": written // 8,
        "DATATYPE_SIZE": 8,
    }
    builder.h5f(NAME, OPENS=4).h5d(f"{NAME}:/x", file=NAME, WRITES=4, BYTES_WRITTEN=written, **dataset)
    builder.mpiio(NAME, COLL_WRITES=4, BYTES_WRITTEN=mpi, SIZE_WRITE_AGG_1K_10K=small)
    return builder.posix(NAME, OPENS=4, WRITES=8, BYTES_WRITTEN=posix, SIZE_WRITE_1K_10K=small, **below)


def test_the_highest_level_that_explains() -> None:
    choice = chosen(hdf5(8 * MIB, 8 * MIB, 8 * MIB))
    assert (choice.level, choice.moved, choice.losses) == (Level.H5D, 8 * MIB, [])


def test_metadata_is_subtracted_first() -> None:
    choice = chosen(hdf5(10_000, 12_000, 12_000, small=3))
    assert choice.level is Level.H5D
    assert losses(choice) == {Reason.LIBRARY_METADATA: 2000}


def test_metadata_is_small_operations() -> None:
    """Large writes that no dataset explains are the application's, so the level below is taken."""
    assert chosen(hdf5(8 * MIB, 16 * MIB, 16 * MIB)).level is Level.MPIIO
    # 100,000 small operations with 1 KiB of data are no metadata either.
    assert chosen(hdf5(1024, 900 * MIB, 900 * MIB, small=100_000)).level is Level.MPIIO


@pytest.mark.parametrize(("moved", "level"), [(700_000, Level.H5D), (1_500_000, Level.MPIIO)])
def test_metadata_may_be_more_than_hardly_any_data(moved: int, level: Level) -> None:
    assert chosen(hdf5(1024, moved, moved, small=1000)).level is level


def test_fill_values_of_chunked_datasets_are_named() -> None:
    choice = chosen(hdf5(8 * MIB, 16 * MIB, 16 * MIB, chunk=MIB // 8))
    assert choice.level is Level.H5D
    assert losses(choice) == {Reason.FILL_VALUES: 8 * MIB}


@pytest.mark.parametrize(("size", "level"), [(MIB, Level.H5D), (MIB // 2, Level.MPIIO)])
def test_whole_chunks_that_are_read_again_are_named(size: int, level: Level) -> None:
    """A read of a row reads the chunks that it touches, as a whole. Other sizes below are the application's."""
    builder = builder_of(4)
    dataset = {"CHUNK_SIZE_D1": 256, "CHUNK_SIZE_D2": 512, "DATASPACE_NDIMS": 2, "DATASPACE_NPOINTS": MIB}
    builder.h5f(NAME, OPENS=4)
    builder.h5d(f"{NAME}:/x", file=NAME, READS=1024, BYTES_READ=8 * MIB, DATATYPE_SIZE=8, **dataset)
    below = {"BYTES_READ": 64 * MIB, "ACCESS1_ACCESS": size, "ACCESS1_COUNT": 64 * MIB // size}
    builder.mpiio(NAME, COLL_OPENS=4, INDEP_READS=64 * MIB // size, **below)
    builder.posix(NAME, OPENS=4, READS=64 * MIB // size, **below)
    choice = chosen(builder, READ)
    assert choice.level is level
    assert losses(choice) == ({Reason.WHOLE_CHUNKS: 56 * MIB} if level is Level.H5D else {})


def test_chunks_that_are_read_once_are_what_was_asked_for() -> None:
    builder = builder_of(4)
    dataset = {"CHUNK_SIZE_D1": MIB // 8, "DATASPACE_NDIMS": 1, "DATASPACE_NPOINTS": 8 * MIB}
    builder.h5f(NAME, OPENS=4)
    builder.h5d(f"{NAME}:/x", file=NAME, READS=64, BYTES_READ=64 * MIB, DATATYPE_SIZE=8, **dataset)
    below = {"BYTES_READ": 64 * MIB + 600 * 512, "ACCESS1_ACCESS": MIB, "ACCESS1_COUNT": 64}
    builder.mpiio(NAME, COLL_OPENS=4, INDEP_READS=664, SIZE_READ_AGG_100_1K=600, **below)
    builder.posix(NAME, OPENS=4, READS=664, SIZE_READ_100_1K=600, **below)
    choice = chosen(builder, READ)
    assert choice.level is Level.H5D
    assert losses(choice) == {Reason.LIBRARY_METADATA: 600 * 512}


@pytest.mark.parametrize(("mpi", "level"), [(8_400_000, Level.H5D), (8_900_000, Level.MPIIO)])
def test_ninety_five_per_cent(mpi: int, level: Level) -> None:
    assert chosen(hdf5(8_000_000, mpi, mpi)).level is level


def test_partial_level_is_passed_over() -> None:
    assert chosen(hdf5(8 * MIB, 8 * MIB, 8 * MIB).partial("H5D")).level is Level.MPIIO
    assert chosen(hdf5(8 * MIB, 8 * MIB, 8 * MIB).partial("H5D", "MPI-IO")).level is Level.POSIX


def test_every_level_partial() -> None:
    choice = chosen(hdf5(6 * MIB, 7 * MIB, 8 * MIB).partial("H5D", "MPI-IO", "POSIX"))
    assert choice.level is Level.H5D
    assert losses(choice) == {Reason.PARTIAL_MODULE: 2 * MIB}


def test_lowest_level_partial() -> None:
    choice = chosen(builder_of(1).posix(NAME, WRITES=1, BYTES_WRITTEN=MIB).partial("POSIX"))
    assert choice.level is Level.POSIX
    assert losses(choice) == {Reason.PARTIAL_MODULE: 0}


def sieved(posix_reads: int, posix_writes: int, **mpi: float) -> LogBuilder:
    """Collective writes of 8 MiB through file views, with more bytes at POSIX."""
    calls = {"COLL_WRITES": 4, "VIEWS": 4, "BYTES_WRITTEN": 8 * MIB} | mpi
    return (
        builder_of(4)
        .mpiio(NAME, **calls)
        .posix(NAME, READS=9, WRITES=9, BYTES_READ=posix_reads, BYTES_WRITTEN=posix_writes)
    )


def test_sieving_is_subtracted_first() -> None:
    choice = chosen(sieved(20 * MIB, 30 * MIB))
    assert choice.level is Level.MPIIO
    assert losses(choice) == {Reason.SIEVING: 22 * MIB}


def test_reads_of_a_read_modify_write_are_no_input() -> None:
    choice = chosen(sieved(20 * MIB, 30 * MIB), READ)
    assert (choice.level, choice.moved) == (Level.MPIIO, 0)
    assert losses(choice) == {Reason.SIEVING: 20 * MIB}


def test_writes_without_reads_are_not_sieving() -> None:
    """A library that writes more than asked has read before. Without reads the program itself wrote the rest."""
    builder = builder_of(4).mpiio(NAME, COLL_WRITES=4, VIEWS=4, BYTES_WRITTEN=MIB)
    builder.posix(NAME, WRITES=9, BYTES_WRITTEN=30 * MIB)
    assert chosen(builder).level is Level.POSIX


def test_contiguous_independent_access_is_not_sieved() -> None:
    builder = builder_of(4).mpiio(NAME, INDEP_READS=4, BYTES_READ=MIB)
    builder.posix(NAME, READS=9, BYTES_READ=30 * MIB)
    assert chosen(builder, READ).level is Level.POSIX


def test_overflowed_bytes_are_not_used() -> None:
    """MPI-IO calls of more than 2 GiB are counted with negative bytes (docs/reference/darshan-meaning.md#known-errors)."""
    builder = sieved(0, 30 * MIB, BYTES_WRITTEN=-(2**31))
    assert chosen(builder).level is Level.POSIX


def test_pnetcdf_header_reads() -> None:
    builder = builder_of(4).pnetcdf_file(NAME, OPENS=4)
    builder.pnetcdf_var(f"{NAME}:v", file=NAME, COLL_READS=4, BYTES_READ=MIB)
    builder.mpiio(NAME, COLL_READS=5, BYTES_READ=MIB + 262_144, SIZE_READ_AGG_100K_1M=5)
    builder.posix(NAME, READS=5, BYTES_READ=MIB + 262_144)
    choice = chosen(builder, READ)
    assert (choice.level, losses(choice)) == (Level.PNETCDF, {Reason.LIBRARY_METADATA: 262_144})


def test_stdio_alone() -> None:
    assert chosen(builder_of(1).stdio(NAME, WRITES=1, BYTES_WRITTEN=7)).level is Level.STDIO


def test_stdio_beside_posix_is_a_file_of_its_own() -> None:
    """The two do not overlap (docs/reference/darshan-meaning.md#standard-io), so both count."""
    builder = builder_of(1).stdio(NAME, WRITES=1, BYTES_WRITTEN=7).posix(NAME, WRITES=1, BYTES_WRITTEN=MIB)
    parts = split_stdio(file_of(builder))
    assert [sorted(part.modules) for part in parts] == [["STDIO"], ["POSIX"]]
    assert [choose_levels(part)[WRITE].moved for part in parts] == [7, MIB]


def test_each_direction_has_its_own_level() -> None:
    """The file is written through HDF5 and read by the program's own POSIX calls."""
    builder = hdf5(8 * MIB, 8 * MIB, 8 * MIB, READS=8, BYTES_READ=8 * MIB)
    file = file_of(builder)
    file.modules["MPI-IO"].counters.setflags(write=True)
    del file.modules["H5F"]
    file.modules["MPI-IO"].column("COLL_WRITES")[:] = 0
    found = choose_levels(file)
    assert {d: c.level for d, c in found.items()} == {WRITE: Level.H5D, READ: Level.POSIX}


def test_few_bytes_take_the_level_of_the_other_direction() -> None:
    builder = hdf5(80 * MIB, 80 * MIB, 80 * MIB).posix(NAME, 0, READS=1, BYTES_READ=50_000)
    found = choose_levels(file_of(builder))
    assert found[READ].level is Level.H5D
    assert found[READ].moved == 0


def test_nothing_moved() -> None:
    assert choose_level(file_of(builder_of(1).posix(NAME, OPENS=1)), WRITE) is None


def model_of(builder: LogBuilder, model: Model) -> tuple[Level | None, int, dict[Reason, int]]:
    """Level and bytes of the only family, and the bytes left out, with `--model`."""
    found = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True, model=model))
    (facts,) = found.families
    left = {loss.reason: loss.bytes for loss in found.losses if loss.bytes}
    return facts.family.counted_at, sum(d.bytes_written for d in facts.dumps), left


def test_a_model_chooses_the_level() -> None:
    whole = hdf5(8 * MIB, 8 * MIB + 4096, 8 * MIB + 4096, small=4)
    metadata = {Reason.LIBRARY_METADATA: 4096}
    assert model_of(whole, Model.ARRAYS) == (Level.H5D, 8 * MIB, metadata)
    assert model_of(whole, Model.EXTENTS) == (Level.MPIIO, 8 * MIB + 4096, {})


def test_arrays_of_a_log_that_lost_datasets_say_what_is_missing() -> None:
    lossy = hdf5(2 * MIB, 8 * MIB, 8 * MIB).partial("H5D")
    assert model_of(lossy, Model.EXTENTS)[:2] == (Level.MPIIO, 8 * MIB)
    assert model_of(lossy, Model.ARRAYS) == (Level.H5D, 2 * MIB, {Reason.PARTIAL_MODULE: 6 * MIB})


def test_a_model_changes_no_file_with_a_single_level() -> None:
    plain = builder_of(4).posix(NAME, OPENS=4, WRITES=8, BYTES_WRITTEN=MIB)
    for model in Model:
        assert model_of(plain, model)[:2] == (Level.POSIX, MIB)


def test_extents_are_not_raised_to_a_level_that_explains_nothing() -> None:
    below = builder_of(4).mpiio(NAME, COLL_WRITES=4, BYTES_WRITTEN=1000)
    below.posix(NAME, OPENS=4, WRITES=8, BYTES_WRITTEN=100 * MIB)
    assert model_of(below, Model.EXTENTS)[:2] == (Level.POSIX, 100 * MIB)


def test_bytes_that_a_requested_level_never_saw_are_no_metadata() -> None:
    found = characterize(
        [log_of(hdf5(1024, 900 * MIB, 900 * MIB))],
        CharacterizeOptions(include_program_start=True, level=Level.H5D),
    )
    assert not found.complete
    assert {loss.reason: loss.bytes for loss in found.losses}[Reason.PARTIAL_MODULE] == 900 * MIB - 1024
