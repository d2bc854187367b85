"""Rank sets and effective writers (docs/reference/reading-counters.md#rank-set)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_job import READ, WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import characterize
from workalike.characterize.grouping.sharing import (
    effective_writers,
    root_of,
    sharing_of,
    sharing_of_family,
)
from workalike.facts.gather import facts_of
from workalike.facts.rank_sets import RankSet, ranks_of
from workalike.facts.records import ModuleFacts
from workalike.predict.determined import effective_ranks
from workalike.workload.model import Level, Sharing, SharingMode

MIB = 2**20


def reduced_facts(nprocs: int, writers: list[int], variance: float | None = None) -> ModuleFacts:
    builder = builder_of(nprocs)
    ops = {r: [Op(WRITE, r * MIB, MIB)] if r in writers else [] for r in range(nprocs)}
    extra = {} if variance is None else {"F_VARIANCE_RANK_BYTES": variance}
    file = TrueFile("/run/x", "POSIX", ops)
    add_file(builder, file)
    (found,) = facts_of([log_of(builder)]).files()
    facts = found.modules["POSIX"]
    if extra:
        facts.fcounters = facts.fcounters.copy()
        facts.fcolumn("F_VARIANCE_RANK_BYTES")[:] = variance
    return facts


@given(st.integers(2, 64), st.data())
def test_equal_shares_of_k_writers_are_found(nprocs: int, data: st.DataObject) -> None:
    writers = data.draw(st.lists(st.integers(0, nprocs - 1), min_size=1, unique=True))
    facts = reduced_facts(nprocs, writers)
    assert effective_writers(facts, nprocs, len(writers) * MIB) == pytest.approx(len(writers), rel=1e-6)
    root = root_of(facts, nprocs)
    assert root == (writers[0] if len(writers) == 1 else None)


def test_equal_reads_are_not_those_of_the_one_writer() -> None:
    """The variance is that of reads and writes together, and here that of the writes of rank 7."""
    nprocs = 320
    ops = {r: [Op(READ, 0, 328, 2.0, 2.1)] for r in range(nprocs)}
    ops[7] = [Op(WRITE, k * MIB, MIB) for k in range(4)] + ops[7]
    builder = builder_of(nprocs)
    add_file(builder, TrueFile("/run/x", "POSIX", ops))
    (family,) = characterize([log_of(builder)]).families
    assert family.family.sharing.mode is SharingMode.SHARED
    streams = [s for content in [family.family.content_of(d) for d in range(2)] for s in content.streams]
    assert [(s.direction, s.ranks, [(e.total(nprocs), e.size) for e in s.sizes]) for s in streams] == [
        (WRITE, [(7, 7, 1)], [(4, MIB)]),
        (READ, None, [(320, 328)]),
    ]


@pytest.mark.parametrize("size", [328, 4096])
def test_what_the_root_reads_back_stays_its_own(size: int) -> None:
    """As many reads as ranks, but all by the rank that wrote: the variance is larger by them."""
    ops: dict[int, list[Op]] = {r: [] for r in range(320)}
    ops[7] = [Op(WRITE, k * MIB, MIB) for k in range(4)] + [
        Op(READ, k * size, size, 2.0, 2.1) for k in range(320)
    ]
    builder = builder_of(320)
    add_file(builder, TrueFile("/run/x", "POSIX", ops))
    (family,) = characterize([log_of(builder)]).families
    assert family.family.sharing == Sharing(mode=SharingMode.ROOT, ranks=[(7, 7, 1)])


def test_a_rank_with_its_equal_share_contradicts_a_root() -> None:
    """The variance of some old logs is wrong; the bytes of the slowest rank are not."""
    nprocs = 320
    builder = builder_of(nprocs)
    builder.posix(
        "/run/x",
        OPENS=nprocs,
        READS=nprocs,
        BYTES_READ=328 * nprocs,
        SIZE_READ_100_1K=nprocs,
        ACCESS1_ACCESS=328,
        ACCESS1_COUNT=nprocs,
        SLOWEST_RANK=3,
        SLOWEST_RANK_BYTES=328,
        FASTEST_RANK=5,
        FASTEST_RANK_BYTES=328,
        F_VARIANCE_RANK_BYTES=float((328 * nprocs) ** 2),
    )
    (family,) = characterize([log_of(builder)]).families
    assert family.family.sharing.mode is SharingMode.SHARED


@pytest.mark.parametrize("variance", [float("nan"), float("inf"), -5.0])
def test_a_variance_that_cannot_be_true(variance: float) -> None:
    assert effective_writers(reduced_facts(8, [1], variance), 8, MIB) == 8


@pytest.mark.parametrize("variance", [1e300, 1e-300])
def test_absurd_variances_do_not_raise(variance: float) -> None:
    assert 1 <= effective_writers(reduced_facts(8, [1], variance), 8, MIB) <= 8


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("variance", "ranks"), [(0.0, 8), (7 * (MIB / 8) ** 2, 1), (1e307, 0), (float("inf"), None), (-5.0, None)]
)
def test_effective_ranks_of_a_reduced_record(variance: float, ranks: int | None) -> None:
    """One writer of eight has the variance of one large share and seven empty ones; of 1e307, the product overflows."""
    assert effective_ranks(reduced_facts(8, [1], variance), 8) == ranks


def test_skew_app_has_one_writer() -> None:
    """The example of docs/reference/reading-counters.md#rank-set: var 2.9056e16 of 4.364e10 bytes over 65,536 ranks."""
    facts = reduced_facts(4, [0], 2.9056e16)
    assert effective_writers(facts, 65536, 43_640_000_000) == pytest.approx(1.0, abs=0.01)


def test_rank_sets() -> None:
    builder = builder_of(4)
    add_file(builder, TrueFile("/run/all", "POSIX", {r: [Op(WRITE, 0, 9)] for r in range(4)}))
    add_file(
        builder, TrueFile("/run/unreduced", "POSIX", {r: [Op(WRITE, 0, 9)] for r in range(4)}), reduce=False
    )
    add_file(builder, TrueFile("/run/some", "POSIX", {r: [Op(WRITE, 0, 9)] for r in (1, 3)}))
    sets = {f.name: ranks_of(f, Level.POSIX).ranks for f in facts_of([log_of(builder)]).files()}
    assert sets == {"/run/all": None, "/run/unreduced": None, "/run/some": (1, 3)}


def test_a_single_process_is_itself() -> None:
    """A one-process MPI job writes -1 for its only rank (docs/reference/darshan-format.md#record-head)."""
    builder = builder_of(1).posix("/run/x", -1, WRITES=1, BYTES_WRITTEN=5)
    (file,) = facts_of([log_of(builder)]).files()
    assert ranks_of(file, Level.POSIX).ranks == (0,)


def test_sharing_of_one_dump() -> None:
    assert sharing_of([RankSet(None)], 4).mode is SharingMode.SHARED
    assert sharing_of([RankSet((2,))], 4) == Sharing(mode=SharingMode.ROOT, ranks=[(2, 2, 1)])
    assert sharing_of([RankSet((0, 2))], 4) == Sharing(mode=SharingMode.SUBSET, ranks=[(0, 0, 1), (2, 2, 1)])
    per_rank = sharing_of([RankSet((r,)) for r in range(4)], 4)
    assert (per_rank.mode, per_rank.ranks) == (SharingMode.PER_RANK, None)
    groups = sharing_of([RankSet((0, 1)), RankSet((2, 3))], 4)
    assert (groups.mode, groups.files, groups.ranks) == (SharingMode.GROUPS, 2, None)
    assert sharing_of([RankSet((0,))], 1).mode is SharingMode.SHARED


def test_dumps_of_fewer_ranks_are_of_the_same_family() -> None:
    layers = [sharing_of([RankSet((r,)) for r in ranks], 4) for ranks in ([0, 1, 2, 3], [0, 1], [3])]
    ((sharing, which),) = sharing_of_family(layers, 4, [4, 4, 4])
    assert (sharing.mode, sharing.ranks, which) == (SharingMode.PER_RANK, None, [0, 1, 2])


def test_ranks_that_open_no_file_in_a_dump_are_not_of_its_family() -> None:
    """Loaders that read 30, 40 and 50 files of their own had 150 opens, not 120 (../shared/cases/loader-own-files.py)."""
    ranks = [[0, 1, 2]] * 30 + [[1, 2]] * 10 + [[2]] * 10
    layers = [sharing_of([RankSet((r,)) for r in taking], 3) for taking in ranks]
    found = sharing_of_family(layers, 3, [len(taking) for taking in ranks])
    assert [(sharing.ranks, len(which)) for sharing, which in found] == [
        (None, 30),
        ([(1, 2, 1)], 10),
        ([(2, 2, 1)], 10),
    ]
    many = [sharing_of([RankSet((r,)) for r in range(n)], 40) for n in range(1, 41)]
    assert len(sharing_of_family(many, 40, list(range(1, 41)))) == 1


def test_different_kinds_of_sharing_stay_apart() -> None:
    layers = [Sharing(), sharing_of([RankSet((0, 1))], 4), Sharing()]
    assert [which for _, which in sharing_of_family(layers, 4, [4, 2, 4])] == [[0, 2], [1]]


def test_facts_survive_numpy_types() -> None:
    facts = reduced_facts(4, [0, 1])
    assert isinstance(facts.total("BYTES_WRITTEN"), int)
    assert facts.rows(np.array([0])).total("WRITES") == 2
