"""Small decisions between records and streams, each with figures by hand."""

from __future__ import annotations

import numpy as np
import pytest
from facts_by_hand import file_facts, module_facts

from workalike.characterize.assemble import durations_of, sharing_for
from workalike.characterize.contents.streams.bytes_by_size import few_sizes, moved_by, moved_by_rows
from workalike.characterize.contents.streams.rank_streams import moved_by_rank
from workalike.characterize.contents.streams.sizes_of_dumps import series_of
from workalike.characterize.contents.tunables import (
    aggregators_of,
    alignment_of,
    read_modify_write,
    stripes_of,
)
from workalike.characterize.grouping.events import Event
from workalike.characterize.grouping.families import (
    DataFile,
    group_into_families,
    split_by_ranks,
    split_by_size,
)
from workalike.characterize.grouping.sharing import effective_writers, root_of, sharing_of
from workalike.characterize.times.barrier import begins_with_barrier
from workalike.facts.rank_sets import RankSet, ranks_of
from workalike.facts.thresholds import THRESHOLDS
from workalike.facts.times import Interval
from workalike.workload.model import Content, Direction, Entry, Interface, Level, Sharing, SharingMode, Stream
from workalike.workload.per_dump import of_dumps

WRITE, READ = Direction.WRITE, Direction.READ
MIB = 2**20


def data_file(
    name: str, life: tuple[float, float] = (0.0, 1.0), ranks: tuple[int, ...] | None = None, size: int = 100
) -> DataFile:
    file = file_facts(name, module_facts("POSIX", {-1: {"BYTES_WRITTEN": size}}))
    return DataFile(file, Interface.POSIX, Level.POSIX, RankSet(ranks), Interval(*life), size, 0)


def groups(*files: DataFile) -> list[list[str]]:
    return [[d.file.name for d in family] for family in group_into_families(files)]


def test_a_file_that_lives_through_others_is_a_family_of_its_own() -> None:
    short = [data_file(f"a{i}", (i, i + 1.0)) for i in range(1, 5)]
    assert ["a9"] in groups(*short, data_file("a9", (2.0, 5.0)))  # its ends may be theirs
    assert ["a9"] in groups(*short, data_file("a9", (1.5, 4.0)))  # two of them
    assert ["a9"] not in groups(*short, data_file("a9", (1.5, 3.9)))  # one
    assert groups(*short) == [["a1", "a2", "a3", "a4"]]
    half = [data_file(f"a{i}", (2.0 * i, 2.0 * i + 1.0)) for i in range(1, 5)]
    assert len(groups(*half, data_file("a9", (2.0, 4.0)))) == 1  # too short, and it holds one


def test_files_of_one_rank_are_apart_from_those_of_several() -> None:
    first_half, two = (
        [data_file(f"a{i}", ranks=(i,)) for i in range(3)],
        [data_file(f"b{i}", ranks=(0, 1)) for i in range(2)],
    )
    assert split_by_ranks([*first_half, *two]) == [first_half, two]
    assert split_by_ranks([*first_half[:2], *two]) == [
        [*first_half[:2], *two]
    ]  # groups, of which some are small
    assert split_by_ranks(first_half) == [first_half]
    shared = [data_file("c")]
    assert split_by_ranks([*first_half, *shared]) == [first_half, shared]


def test_files_without_names_are_apart_by_size() -> None:
    step = THRESHOLDS.size_step
    near, far = int(100 * step), int(100 * step) + 1
    files = [data_file(str(n), ranks=(0,), size=n) for n in (near, 100)]
    assert [[d.written for d in part] for part in split_by_size(files)] == [[100, near]]
    files = [data_file(str(n), ranks=(0,), size=n) for n in (100, far)]
    assert [[d.written for d in part] for part in split_by_size(files)] == [[100], [far]]
    assert len(split_by_size([data_file("1", ranks=(0,)), data_file("2", ranks=(0, 1)), data_file("3")])) == 2


def test_ranks_of_a_file() -> None:
    several = module_facts("POSIX", {2: {}, 0: {}})
    assert ranks_of(file_facts("a", several), Level.POSIX) == RankSet((0, 2))
    assert ranks_of(file_facts("a", several), Level.MPIIO) == RankSet(None)
    assert ranks_of(
        file_facts("a", module_facts("POSIX", {r: {} for r in range(4)})), Level.POSIX
    ) == RankSet(None)
    reduced = module_facts("POSIX", {-1: {}})
    assert ranks_of(file_facts("a", reduced), Level.POSIX) == RankSet(None)
    assert ranks_of(file_facts("a", reduced, ranks=1), Level.POSIX) == RankSet((0,))
    reduced.scope = np.array([[1, 2]])
    assert ranks_of(file_facts("a", reduced), Level.POSIX) == RankSet((1, 2))
    assert (RankSet(None).size(7), RankSet((1, 2)).size(7)) == (7, 2)


def test_ranks_that_use_a_file() -> None:
    def found(per_rank: dict[int, dict[str, float]]) -> tuple[int, ...] | None:
        return ranks_of(file_facts("a", module_facts("POSIX", per_rank)), Level.POSIX).ranks

    writes = {"WRITES": 1, "BYTES_WRITTEN": 10}
    assert found({0: {"STATS": 3}, 1: {"OPENS": 1, **writes}}) == (1,)
    assert found({0: {"OPENS": 1}, 1: {"OPENS": 1, **writes}}) == (0, 1)
    # A shell opens the file and copies the descriptor, its child writes.
    assert found({0: {"OPENS": 2, "DUPS": 1}, 1: writes}) == (1,)
    assert found({0: {"OPENS": 1, **writes}, 1: writes}) == (0, 1)
    assert found({0: {"OPENS": 1}, 1: {"OPENS": 1}, 2: writes}) == (
        0,
        1,
        2,
    )  # opens that one writer does not make


def test_a_rank_s_records_of_several_files_are_added() -> None:
    first = module_facts("MPI-IO", {0: {"COLL_WRITES": 3, "INDEP_WRITES": 1, "BYTES_WRITTEN": 40}, 1: {}})
    second = module_facts("MPI-IO", {0: {"COLL_WRITES": 2, "BYTES_WRITTEN": 20}})
    found = moved_by_rank([first, second], WRITE)
    assert list(found) == [0]  # rank 1 moved nothing
    assert (found[0].pairs, found[0].collective_calls, found[0].operations, found[0].bytes) == (
        [(6, 10)],
        5,
        6,
        60,
    )
    assert moved_by_rank([first], READ) == {}
    assert moved_by_rank([], WRITE) == {}


def test_bytes_without_an_operation_are_one_a_record() -> None:
    facts = module_facts("POSIX", {0: {"BYTES_WRITTEN": 50}, 1: {"BYTES_WRITTEN": 50}, 2: {}})
    assert moved_by(facts, WRITE).pairs == [(2, 50)]
    assert [m.pairs for m in moved_by_rows(facts, WRITE)] == [[(1, 50)], [(1, 50)], []]


def test_a_histogram_that_disagrees_keeps_its_shape() -> None:
    counters = {"WRITES": 4, "BYTES_WRITTEN": 3 * 50 + 200, "SIZE_WRITE_0_100": 6, "SIZE_WRITE_100_1K": 2}
    found = moved_by(module_facts("POSIX", {0: counters}), WRITE)
    assert sum(count for count, size in found.pairs if size <= 100) == 3
    assert (found.operations, found.bytes) == (4, 350)


def test_many_sizes_become_few_of_the_same_bytes() -> None:
    pairs = [(n, 1000 + n) for n in range(1, 101)]
    few = few_sizes(pairs, 24)
    assert len(few) <= 24 and few != pairs
    assert sum(c for c, _ in few) == sum(c for c, _ in pairs)
    assert sum(c * s for c, s in few) == sum(c * s for c, s in pairs)
    assert all((n, 1000 + n) in few for n in (100, 99, 98, 97))  # the commonest as they are
    assert few_sizes(pairs, 100) == pairs


@pytest.mark.parametrize(
    ("variance", "writers"), [(0.0, 4.0), (1875.0, 1.0), (625.0, 2.0), (-1.0, 4.0), (float("nan"), 4.0)]
)
def test_effective_writers(variance: float, writers: float) -> None:
    """Of 100 bytes by four ranks: 25 each; all by one; 50 by two."""
    facts = module_facts("POSIX", {-1: {"F_VARIANCE_RANK_BYTES": variance}})
    assert effective_writers(facts, 4, 100) == pytest.approx(writers)
    assert effective_writers(facts, 1, 100) == 1.0
    assert effective_writers(facts, 4, 0) == 4.0
    assert effective_writers(module_facts("POSIX", {0: {"F_VARIANCE_RANK_BYTES": 1875.0}}), 4, 100) == 4.0


def test_variances_of_several_datasets_add_up() -> None:
    facts = module_facts("H5D", {-1: {"F_VARIANCE_RANK_BYTES": 1875.0 / 4}})
    both = facts.rows(np.array([0, 0]))
    assert effective_writers(both, 4, 100) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("slowest", "fastest", "root"),
    [
        ((3, 100), (0, 0), 3),
        ((0, 0), (2, 100), 2),
        ((9, 100), (2, 100), 2),
        ((3, 49), (2, 49), 0),
        ((9, 100), (9, 100), 0),
    ],
)
def test_the_one_rank_that_moved_all(slowest: tuple[int, int], fastest: tuple[int, int], root: int) -> None:
    facts = module_facts(
        "POSIX",
        {
            -1: {
                "WRITES": 1,
                "BYTES_WRITTEN": 100,
                "F_VARIANCE_RANK_BYTES": 1875.0,
                "SLOWEST_RANK": slowest[0],
                "SLOWEST_RANK_BYTES": slowest[1],
                "FASTEST_RANK": fastest[0],
                "FASTEST_RANK_BYTES": fastest[1],
            }
        },
    )
    assert root_of(facts, 4) == root
    assert root_of(facts, 1) is None
    even = module_facts(
        "POSIX", {-1: {"BYTES_WRITTEN": 100, "F_VARIANCE_RANK_BYTES": 0.0, "SLOWEST_RANK_BYTES": 100}}
    )
    assert root_of(even, 4) is None


def test_sharing_of_a_dump() -> None:
    def mode(*sets: tuple[int, ...] | None, nprocs: int = 4) -> tuple[str, object, int]:
        found = sharing_of([RankSet(s) for s in sets], nprocs)
        return found.mode.value, found.ranks, found.files

    one_file = Sharing(mode=SharingMode.SHARED).files
    assert mode(None) == ("shared", None, one_file)
    assert mode((0,), nprocs=1) == ("shared", None, one_file)
    assert mode((2,)) == ("root", [(2, 2, 1)], one_file)
    assert mode((0, 2)) == ("subset", [(0, 0, 1), (2, 2, 1)], one_file)
    assert mode((0,), (1,), (2,), (3,)) == ("per-rank", None, one_file)
    assert mode((0,), (1,)) == ("per-rank", [(0, 1, 1)], one_file)
    assert mode((0, 1), (2, 3)) == ("groups", None, 2)
    assert mode((0, 1), (2,)) == ("groups", [(0, 2, 1)], 2)


def stream(ranks: list[tuple[int, int, int]] | None) -> Stream:
    return Stream(direction=WRITE, sizes=[Entry(count=4, size=8)]).model_copy(update={"ranks": ranks})


def test_sharing_has_every_rank_that_a_stream_names() -> None:
    root = Sharing(mode=SharingMode.ROOT, ranks=[(0, 0, 1)])
    inside, outside = (
        Content(streams=[stream([(0, 0, 1)])]),
        Content(streams=[stream([(2, 2, 1)]), stream(None)]),
    )
    assert sharing_for(root, [inside], 4) == root
    wider = sharing_for(root, [inside, outside], 4)
    assert (wider.mode, wider.ranks) == (SharingMode.SUBSET, [(0, 0, 1), (2, 2, 1)])
    subset = Sharing(mode=SharingMode.SUBSET, ranks=[(0, 1, 1)])
    assert sharing_for(subset, [outside], 4).ranks == [(0, 2, 1)]
    shared = Sharing(mode=SharingMode.SHARED)
    assert sharing_for(shared, [outside], 4) is shared


def test_equal_contents_are_one() -> None:
    first, other = Content(opens=1), Content(opens=2)
    fields = of_dumps([first, other, Content(opens=1), other])
    assert fields == {"content": None, "contents": [first, other], "use": [0, 1, 0, 1]}
    assert of_dumps([first, other]) == {"content": None, "contents": [first, other], "use": None}
    assert of_dumps([first, Content(opens=1)]) == {"content": first, "contents": [], "use": None}


def test_durations_are_one_number_or_a_list() -> None:
    assert durations_of([Interval(1.0, 3.0), Interval(5.0, 7.0)]) == 2.0
    assert durations_of([Interval(1.0, 3.0), Interval(5.0, 6.0)]) == [2.0, 1.0]
    assert durations_of([Interval(3.0, 1.0)]) == 0.0
    assert durations_of([Interval(0.0, 0.1234567)]) == 0.123457


def started(*stamps: float) -> Event:
    records = {rank: {"F_OPEN_START_TIMESTAMP": stamp} for rank, stamp in enumerate(stamps)}
    data = data_file("a")
    data.file.modules["POSIX"] = module_facts("POSIX", records)
    return Event([data], (WRITE,), Interval(0.0, 1.0))


def test_ranks_that_begin_together_meet() -> None:
    per_rank = Sharing(mode=SharingMode.PER_RANK)
    late = 10.0 * (1 + THRESHOLDS.barrier_spread)
    assert begins_with_barrier([started(10.0, late)], per_rank, 100.0)
    assert not begins_with_barrier([started(10.0, late * 1.001)], per_rank, 100.0)
    assert not begins_with_barrier([started(10.0, late), started(10.0, 20.0)], per_rank, 100.0)
    assert not begins_with_barrier([started(10.0, late)], Sharing(mode=SharingMode.SHARED), 100.0)
    assert not begins_with_barrier([started(10.0)], per_rank, 100.0)
    assert not begins_with_barrier([], per_rank, 100.0)
    assert begins_with_barrier(
        [started(10.0, 10.0, 0.0)], per_rank, 100.0
    )  # a rank without a time does not count
    dump = started(10.0, 10.0)
    assert begins_with_barrier([dump, started(50.0, 50.1)], per_rank, 100.0)  # 40 s after the first
    assert not begins_with_barrier([dump, started(20.0, 20.1)], per_rank, 100.0)  # 10 s after it
    assert not begins_with_barrier([dump, dump], per_rank, 100.0)  # with it
    reduced = started(10.0, 10.0)
    reduced.files[0].file.modules["POSIX"].ranks[1] = -1
    assert not begins_with_barrier([reduced], per_rank, 100.0)


def test_stripes_are_those_of_most_files() -> None:
    files = [file_facts(str(i)) for i in range(4)]
    assert stripes_of(files) is None
    for file, stripe in zip(files, [(1, 2), (4, 2), (4, 2)], strict=False):
        file.stripe = stripe
    assert stripes_of(files) == (4, 2)


def collective(posix: dict[int, dict[str, float]], ranks: int = 16, **mpi: float) -> object:
    file = file_facts(
        "a",
        module_facts("MPI-IO", {-1: {"COLL_WRITES": 16, **mpi}}),
        module_facts("POSIX", posix),
        ranks=ranks,
    )
    return aggregators_of(file)


def test_aggregators_are_the_ranks_that_write_below() -> None:
    two = {0: {"BYTES_WRITTEN": 5}, 8: {"BYTES_READ": 5}, 9: {"OPENS": 1}}
    assert collective(two) == 2
    assert collective(two, INDEP_WRITES=15) == 2
    assert collective(two, INDEP_WRITES=16) is None  # not mostly collective
    assert collective({0: {"OPENS": 1}}) is None
    all_ranks = {rank: {"BYTES_WRITTEN": 5.0} for rank in range(16)}
    assert collective(all_ranks) is None
    assert aggregators_of(file_facts("a", module_facts("POSIX", two))) is None
    reduced = {
        -1: {"BYTES_WRITTEN": 160, "F_VARIANCE_RANK_BYTES": 700.0}
    }  # four of 16 ranks write 40 bytes: 300
    assert collective({-1: {"BYTES_WRITTEN": 160, "F_VARIANCE_RANK_BYTES": 300.0}}) == 4
    assert collective(reduced) == 2


def test_alignment_is_of_operations_that_were_measured() -> None:
    measured = module_facts(
        "POSIX", {0: {"FILE_ALIGNMENT": 4096, "FILE_NOT_ALIGNED": 1, "WRITES": 3, "READS": 1}}
    )
    larger = module_facts("POSIX", {0: {"FILE_ALIGNMENT": 8192, "FILE_NOT_ALIGNED": 3, "WRITES": 4}})
    none = module_facts("POSIX", {0: {"FILE_ALIGNMENT": 4096, "FILE_NOT_ALIGNED": -1, "WRITES": 9}})
    trivial = module_facts("POSIX", {0: {"FILE_ALIGNMENT": 1, "FILE_NOT_ALIGNED": 0, "WRITES": 9}})
    assert alignment_of([file_facts("a", measured)]) == (4096, 0.75)
    assert alignment_of(
        [file_facts(n, m) for n, m in (("a", measured), ("b", larger), ("c", none), ("d", trivial))]
    ) == (8192, 0.5)
    assert alignment_of([file_facts("c", none), file_facts("d", trivial), file_facts("e")]) is None


def test_reads_of_a_library_that_writes_back() -> None:
    posix = module_facts("POSIX", {0: {"READS": 7, "WRITES": 9}})
    written = module_facts("MPI-IO", {0: {"COLL_WRITES": 3}})
    read_too = module_facts("MPI-IO", {0: {"COLL_WRITES": 3, "COLL_READS": 1}})
    assert read_modify_write([file_facts("a", posix, written), file_facts("b", posix, written)]) == 14
    assert read_modify_write([file_facts("a", posix, read_too)]) == 0
    assert read_modify_write([file_facts("a", posix)]) == 0


def test_dumps_of_data_sets_are_no_series() -> None:
    """Their shapes are not in the sizes of operations; nor are there any in dumps of nothing."""
    streams = [
        Content.model_validate({"streams": [{"direction": "write", "sizes": [f"4 x {n} MiB"]}]})
        for n in range(20, 60)
    ]
    assert series_of(streams, Level.POSIX, 4) is not None
    slabs = [{"count": 4, "shape": [1, 8]}]
    array = {"dims": [4, 8], "access": [{"direction": "write", "slabs": slabs}]}
    both = [
        content.model_copy(update={"arrays": Content.model_validate({"arrays": [array]}).arrays})
        for content in streams
    ]
    assert series_of(both, Level.POSIX, 4) is None
    assert series_of([Content()] * 40, Level.POSIX, 4) is None
