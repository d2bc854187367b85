"""H5D records -> datasets and hyperslabs."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_totals import totals_of
from simulated_job import READ, WRITE, builder_of, log_of

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.characterize.contents.arrays.arrays import exact_boxes, near_box, unknown_slabs
from workalike.characterize.contents.arrays.dataspace import Geometry, guess_dims, run_length
from workalike.characterize.contents.contents import of_directions
from workalike.darshan import LogBuilder
from workalike.plan.resolve import Options, resolve
from workalike.workload.content import ArrayAccess
from workalike.workload.model import Arrays, Content, Direction, Level, Slab

NAME = "/run/f.h5"


def dataset(
    builder: LogBuilder, shape: tuple[int, ...], slab: tuple[int, ...], count: int, *, name: str = "x",
    stride: tuple[int, ...] = (), element: int = 8, collective: bool = False, read: bool = False, rank: int = -1,
    **more: float,
) -> None:  # fmt: skip
    """Add a dataset that is moved by `count` equal hyperslabs."""
    size = math.prod(slab) * element
    bins = (100, 1024, 10240, 102400, 2**20, 4 * 2**20, 10 * 2**20)
    names = ("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M")
    name_of_bin = next(n for n, bound in zip(names, bins, strict=True) if size <= bound)
    kind, moved = ("READ", "BYTES_READ") if read else ("WRITE", "BYTES_WRITTEN")
    values: dict[str, float] = {
        f"{kind}S": count, moved: count * size, f"SIZE_{kind}_AGG_{name_of_bin}": count,
        "ACCESS1_ACCESS": size, "ACCESS1_COUNT": count, "DATASPACE_NDIMS": len(shape),
        "DATASPACE_NPOINTS": math.prod(shape), "DATATYPE_SIZE": element, "USE_MPIIO_COLLECTIVE": collective,
    }  # fmt: skip
    for i, extent in enumerate(slab):
        values[f"ACCESS1_LENGTH_D{5 - i}"] = extent
        values[f"ACCESS1_STRIDE_D{5 - i}"] = stride[i] if stride else 1
    builder.h5d(f"{NAME}:/{name}", rank, file=NAME, **(values | more))


def below(builder: LogBuilder, size: int, count: int) -> None:
    """Add the pieces that MPI-IO sees of the datasets."""
    bins = {"SIZE_WRITE_AGG_10K_100K": count} if size <= 102400 else {"SIZE_WRITE_AGG_1M_4M": count}
    common = {"ACCESS1_ACCESS": size, "ACCESS1_COUNT": count}
    builder.mpiio(NAME, INDEP_WRITES=count, BYTES_WRITTEN=count * size, **bins, **common)


def characterized(builder: LogBuilder) -> Characterization:
    builder.h5f(NAME, OPENS=builder.job.nprocs)
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))


def arrays_of(found: Characterization) -> list[Arrays]:
    (family,) = found.families
    assert family.family.level is Level.H5D
    return family.family.content_of(0).arrays


def test_dimensions_are_in_natural_order() -> None:
    """Dimension i (0 = slowest) of an access is in D(5-i) (docs/reference/reading-counters.md#data-spaces)."""
    builder = builder_of(4)
    dataset(builder, (64, 256, 128), (16, 256, 128), 4, collective=True)
    below(builder, 16 * 256 * 128 * 8, 4)
    (arrays,) = arrays_of(characterized(builder))
    assert (arrays.dims, arrays.datasets, arrays.element, arrays.chunk) == ([64, 256, 128], 1, 8, None)
    (access,) = arrays.access
    assert ([(s.count, s.shape) for s in access.slabs], access.collective) == ([(4, [16, 256, 128])], True)


def test_chunks_fastest_dimension_first() -> None:
    builder = builder_of(4)
    dataset(builder, (64, 256), (16, 256), 4, CHUNK_SIZE_D1=128, CHUNK_SIZE_D2=32)
    (arrays,) = arrays_of(characterized(builder))
    assert arrays.chunk == [32, 128]


def test_strided_hyperslabs() -> None:
    builder = builder_of(4)
    dataset(builder, (64, 100), (16, 100), 4, stride=(4, 1))
    (arrays,) = arrays_of(characterized(builder))
    assert [(s.shape, s.stride) for s in arrays.access[0].slabs] == [([16, 100], [4, 1])]


def test_a_stride_that_leaves_the_dataset_is_a_block() -> None:
    builder = builder_of(4)
    dataset(builder, (64, 100), (16, 100), 4, stride=(5000, 100))
    (arrays,) = arrays_of(characterized(builder))
    assert arrays.access[0].slabs[0].stride == []


def test_equal_datasets_are_one_entry() -> None:
    builder = builder_of(4)
    for k in range(5):
        dataset(builder, (64, 256), (16, 256), 4, name=f"v{k}")
    below(builder, 16 * 256 * 8, 20)
    dataset(builder, (10,), (10,), 1, name="time", element=4)
    found = characterized(builder)
    assert sorted((a.datasets, a.dims) for a in arrays_of(found)) == [(1, [10]), (5, [64, 256])]


def test_datasets_of_which_a_few_are_read_back_keep_their_places() -> None:
    """Eight unequal datasets are written, every third is read back: of those that are left alone nothing is read."""
    access = [
        ArrayAccess(direction=Direction.WRITE, slabs=[Slab(count=1, shape=[10])]),
        ArrayAccess(direction=Direction.READ, slabs=[Slab(count=1, shape=[10])]),
    ]
    datasets = [Arrays(dims=[10 + k], access=access if k % 3 == 0 else access[:1]) for k in range(8)]
    assert of_directions(datasets, [Direction.WRITE, Direction.READ]) == datasets
    written = of_directions(datasets, [Direction.WRITE])
    assert [len(a.access) for a in written] == [1] * 8
    read = of_directions(datasets, [Direction.READ])
    assert [(a.dims, len(a.access)) for a in read] == [([10 + k], 1 if k % 3 == 0 else 0) for k in range(7)]
    assert Content(arrays=read).moved(1, Direction.READ) == 3 * 10 * 8
    with pytest.raises(ValueError, match="no dataset of `arrays` has an `access`"):
        Content(arrays=[read[1]])


def test_written_and_read_back() -> None:
    builder = builder_of(4)
    for read in (False, True):
        dataset(builder, (64, 256), (16, 256), 4, read=read, name=f"x{read}")
    (arrays,) = arrays_of(characterized(builder))
    assert [a.direction for a in arrays.access] == [WRITE, READ]


def test_extents_of_an_equal_dataset_of_one_chunk() -> None:
    """A chunk as large as its dataset gives the extents of all datasets with as many points."""
    builder = builder_of(4)
    dataset(builder, (128, 48), (128, 48), 1, name="a", CHUNK_SIZE_D1=48, CHUNK_SIZE_D2=128)
    dataset(builder, (128, 48), (8, 2), 300, name="b")
    assert sorted(a.dims for a in arrays_of(characterized(builder))) == [[128, 48], [128, 48]]


def test_a_list_that_grew_after_its_record_was_made() -> None:
    """Ten elements at the first access, later 29, written by calls that are not among the common ones."""
    builder = builder_of(1)
    dataset(builder, (10,), (29,), 3, ACCESS1_ACCESS=0, ACCESS1_COUNT=0)
    (array,) = arrays_of(characterized(builder))
    assert array.dims == [29]
    assert [(slab.count, slab.shape) for slab in array.access[0].slabs] == [(3, [29])]


def test_scalars_and_unknown_shapes() -> None:
    builder = builder_of(4)
    dataset(builder, (), (), 4, element=8, DATASPACE_NPOINTS=1)
    (arrays,) = arrays_of(characterized(builder))
    assert (arrays.dims, arrays.access[0].slabs[0].count) == ([1], 4)


@pytest.mark.parametrize(
    "damage",
    [
        {"DATASPACE_NDIMS": 9},
        {"DATASPACE_NPOINTS": 0},
        {"DATATYPE_SIZE": 2**30},
        {"DATASPACE_NPOINTS": 2**60},
        {"CHUNK_SIZE_D1": 2**40, "CHUNK_SIZE_D2": 2**40},
    ],
)
def test_impossible_datasets_become_streams(damage: dict[str, float]) -> None:
    """Six dimensions overrun the record (docs/reference/darshan-meaning.md#hdf5). The bytes are kept all the same."""
    builder = builder_of(4)
    dataset(builder, (64, 256), (16, 256), 4, **damage)
    found = characterized(builder)
    (totals,) = totals_of(resolve(found.workload, Options())).values()
    assert totals[WRITE].bytes == 64 * 256 * 8


def test_v1_records_find_their_file_by_name() -> None:
    """It works for names of files and datasets with colons too."""
    from workalike.darshan import record_id
    from workalike.facts.gather import _file_ids

    builder = builder_of(1).h5f("/run/a:b.h5", OPENS=1)
    builder.h5d("/run/a:b.h5:/grp:1/x", file="/run/a:b.h5", WRITES=1, BYTES_WRITTEN=8)
    builder.h5d("/run/gone.h5:/x", file="", WRITES=1, BYTES_WRITTEN=8)
    log = log_of(builder)
    table = log.records("H5D")
    assert table is not None
    old = type(table)(table.module, table.ids, table.ranks, table.counters, table.fcounters, None)
    assert _file_ids(log, old).tolist() == [record_id("/run/a:b.h5"), 0]


@pytest.mark.parametrize(
    ("points", "longest", "pieces", "dims"),
    [
        (1_660_608, (31, 31, 24), (24,), (124, 124, 108)),
        (64 * 256, (16, 256), (), (32, 512)),  # in proportion to the access, as nothing else is known
        (64 * 256, (16, 256), (4096,), (64, 256)),  # the level below saw whole slabs, so they are contiguous
        (64 * 256, (32, 128), (128,), (64, 256)),
        (100, (100,), (), (100,)),
        (7, (2, 2), (), (4, 2)),  # no extents have this product: one more element
    ],
)
def test_guessed_extents(
    points: int, longest: tuple[int, ...], pieces: tuple[int, ...], dims: tuple[int, ...]
) -> None:
    """A record has the product of the extents only."""
    assert guess_dims(points, longest, longest, pieces) == dims


def test_a_slab_of_a_row_across_chunks_is_a_whole_row() -> None:
    assert guess_dims(2048 * 2048, (128, 2048), (1, 2048), rows=True) == (2048, 2048)
    assert guess_dims(2048 * 2048, (128, 2048), (1, 2048)) == (512, 8192)


def test_a_dataset_consists_of_whole_chunks() -> None:
    assert guess_dims(400_000, (40, 1000)) == (125, 3200)
    assert guess_dims(400_000, (40, 1000), chunk=(40, 1000)) in ((200, 2000), (80, 5000))


def test_a_variable_consists_of_whole_slabs() -> None:
    """The slabs of a collective call leave no gap: several ranks have written one run of bytes."""
    assert guess_dims(3060, (9, 17, 5), (9, 17, 5), tiled=True) == (9, 34, 10)
    assert guess_dims(3060, (9, 17, 5), (9, 17, 5)) == (17, 30, 6)
    assert guess_dims(66, (6, 6), (5, 6), tiled=True) == (11, 6)  # unequal parts of whole rows


@given(st.integers(1, 2**40), st.lists(st.integers(1, 50), min_size=1, max_size=5).map(tuple))
def test_guessed_extents_hold_the_accesses(points: int, longest: tuple[int, ...]) -> None:
    guess = guess_dims(points, longest)
    assert math.prod(guess) >= points
    assert all(d >= n for d, n in zip(guess, longest, strict=True))


def test_run_length() -> None:
    assert run_length((31, 31, 24), (124, 124, 108)) == 24
    assert run_length((16, 256, 128), (64, 256, 128)) == 16 * 256 * 128
    assert run_length((1, 5, 128), (64, 256, 128)) == 5 * 128


EXTENTS = st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple)


@settings(deadline=None)
@given(EXTENTS, st.data())
def test_boxes_of_unknown_shape_move_the_elements(dims: tuple[int, ...], data: st.DataObject) -> None:
    points = math.prod(dims)
    sizes = data.draw(st.lists(st.tuples(st.integers(1, 30), st.integers(1, points)), min_size=1, max_size=6))
    element = data.draw(st.integers(1, 16))
    left: Counter[int] = Counter()
    for count, elements in sizes:
        left[elements * element] += count
    boxes = unknown_slabs(Geometry(dims, element, None, False), left, data.draw(st.integers(1, dims[-1])))
    total = sum(count * elements for count, elements in sizes)
    assert abs(sum(math.prod(box) * count for box, count in boxes) - total) * 1999 <= total
    for box, count in boxes:
        assert count > 0
        assert all(1 <= n <= d for n, d in zip(box, dims, strict=True))


@given(EXTENTS, st.data())
def test_exact_boxes(dims: tuple[int, ...], data: st.DataObject) -> None:
    elements = data.draw(st.integers(1, 3 * math.prod(dims)))
    boxes = exact_boxes(dims, elements, data.draw(st.integers(1, 10)))
    assert sum(math.prod(box) * count for box, count in boxes) == elements
    assert all(1 <= n <= d for box, _ in boxes for n, d in zip(box, dims, strict=True))


@given(EXTENTS, st.data())
def test_near_boxes_are_inside(dims: tuple[int, ...], data: st.DataObject) -> None:
    box = near_box(dims, data.draw(st.integers(1, math.prod(dims))), data.draw(st.integers(1, 60)))
    assert all(1 <= n <= d for n, d in zip(box, dims, strict=True))


def test_a_dataset_that_grew_from_nothing_is_as_long_as_what_was_written() -> None:
    """As NetCDF-4 and detectors write: no elements when it is made, a record at a time, then read as a whole dataset."""
    builder = builder_of(1)
    grows = {"CHUNK_SIZE_D1": 5, "CHUNK_SIZE_D2": 4, "CHUNK_SIZE_D3": 1}
    dataset(builder, (6, 4, 5), (1, 4, 5), 6, DATASPACE_NPOINTS=0, name="made", **grows)
    dataset(builder, (6, 4, 5), (1, 4, 5), 6, name="/made", read=True, **grows)
    dataset(builder, (1,), (1,), 0, DATASPACE_NPOINTS=0, CHUNK_SIZE_D1=16, name="never written")
    below(builder, 160, 6)
    (array,) = arrays_of(characterized(builder))
    assert (array.datasets, array.dims, array.chunk) == (1, [6, 4, 5], [1, 4, 5])
    assert [(a.direction, slabs_of_access(a)) for a in array.access] == [
        (Direction.WRITE, [(6, [1, 4, 5])]),
        (Direction.READ, [(6, [1, 4, 5])]),
    ]


def slabs_of_access(access: ArrayAccess) -> list[tuple[int, list[int]]]:
    return [(slab.count, slab.shape) for slab in access.slabs]


def test_a_dataset_that_grew_from_nothing_has_a_part_in_each_state() -> None:
    """A record of 80 KiB at a time, each flushed."""
    builder = builder_of(1)
    grows = {"CHUNK_SIZE_D1": 128, "CHUNK_SIZE_D2": 80, "CHUNK_SIZE_D3": 1}
    dataset(builder, (6, 80, 128), (1, 80, 128), 6, DATASPACE_NPOINTS=0, **grows)
    builder.posix(NAME, OPENS=1, WRITES=6, BYTES_WRITTEN=6 * 81920, SIZE_WRITE_10K_100K=6)
    builder.h5f(NAME, OPENS=1, FLUSHES=6)
    found = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))
    (facts,) = found.families
    array = facts.family.content_of(0).arrays[0]
    assert facts.family.schedule.dumps == 6
    assert (array.dims, array.extendible, array.unlimited) == ([1, 80, 128], True, 0)
