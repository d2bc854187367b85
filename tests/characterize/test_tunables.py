"""Striping, aggregators, alignment: settings that a bidder may change, and remarks on them."""

from __future__ import annotations

import pytest
from simulated_job import WRITE, Op, TrueFile, add_file, builder_of, log_of

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.workload.model import MAX_STRIPES, FileDriver, Tunable
from workalike.workload.workload_file import parse_workload, workload_text

MIB = 2**20
NAME = "/run/out"


def collective_job(posix_ranks: list[int], *, collective: bool = True, reduce: bool = False) -> LogBuilder:
    """Eight ranks write through MPI-IO; only `posix_ranks` write at POSIX."""
    builder = builder_of(8)
    ops = {r: [Op(WRITE, r * MIB, MIB, collective=collective)] for r in range(8)}
    add_file(builder, TrueFile(NAME, "MPI-IO", ops))
    below = {r: [Op(WRITE, k * MIB, 8 * MIB // len(posix_ranks)) for k in range(1)] for r in posix_ranks}
    if reduce:
        below = {r: below.get(r, []) for r in range(8)}
    add_file(builder, TrueFile(NAME, "POSIX", below))
    return builder


def characterized(builder: LogBuilder) -> Characterization:
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))


def tunable(builder: LogBuilder) -> Tunable:
    (family,) = characterized(builder).families
    return family.family.tunable


def test_aggregators_are_the_ranks_below() -> None:
    assert tunable(collective_job([0, 4])).cb_nodes == 2


def test_aggregators_of_a_reduced_record() -> None:
    """All ranks open the file at POSIX; the variance shows how many write."""
    assert tunable(collective_job([0, 4], reduce=True)).cb_nodes == 2


@pytest.mark.parametrize(
    "builder",
    [collective_job(list(range(8))), collective_job([0, 4], collective=False)],
    ids=["all", "independent"],
)
def test_no_aggregators(builder: LogBuilder) -> None:
    assert tunable(builder).cb_nodes is None


def test_a_partial_module_does_not_show_aggregators() -> None:
    assert tunable(collective_job([0, 4]).partial("POSIX")).cb_nodes is None


def test_striping() -> None:
    builder = collective_job([0, 4]).lustre(NAME, stripe_size=4 * MIB, osts=[3, 1, 7])
    found = tunable(builder)
    assert (found.stripe_size, found.stripe_count) == (4 * MIB, 3)


def test_more_stripes_than_a_workload_may_have_are_no_layout() -> None:
    """The workload of a damaged record must be valid when it is read back."""
    builder = collective_job([0, 4]).lustre(NAME, stripe_size=MIB, osts=range(MAX_STRIPES + 1))
    found = characterized(builder)
    assert (found.families[0].family.tunable.stripe_count) is None
    assert parse_workload(workload_text(found.workload)) == found.workload


def test_a_progressive_layout_gives_no_striping() -> None:
    builder = collective_job([0, 4]).lustre(NAME, osts=[3], more=[(4 * MIB, range(8))])
    found = tunable(builder)
    assert (found.stripe_size, found.stripe_count) == (None, None)


def test_striping_of_most_files_is_taken() -> None:
    builder = builder_of(4)
    for r in range(4):
        add_file(builder, TrueFile(f"{NAME}.{r}", "POSIX", {r: [Op(WRITE, 0, MIB)]}))
        builder.lustre(f"{NAME}.{r}", stripe_size=MIB * (1 + (r == 2)), osts=[r])
    assert tunable(builder).stripe_size == MIB


@pytest.mark.parametrize(("missed", "wanted"), [(0, MIB), (1, None)])
def test_alignment_of_hdf5_files(missed: int, wanted: int | None) -> None:
    """H5Pset_alignment gives accesses at multiples of a large block."""
    builder = builder_of(4)
    file = TrueFile(NAME, "POSIX", {r: [Op(WRITE, r * MIB, MIB)] for r in range(4)})
    file.extra = {"FILE_ALIGNMENT": MIB, "FILE_NOT_ALIGNED": missed}
    add_file(builder, file)
    builder.h5f(NAME, OPENS=4)
    (family,) = characterized(builder).families
    assert family.family.tunable.alignment == wanted
    assert (
        f"alignment: {100 - 25 * missed} % of POSIX operations start at a multiple of {MIB} bytes"
        in family.sentences()
    )


@pytest.mark.parametrize(("block", "wanted"), [(2**40, 2**40), (2**40 + 1, None), (2**62, None)])
def test_alignment_beyond_what_a_workload_may_have_is_none(block: int, wanted: int | None) -> None:
    builder = builder_of(4)
    file = TrueFile(NAME, "POSIX", {r: [Op(WRITE, r * MIB, MIB)] for r in range(4)})
    file.extra = {"FILE_ALIGNMENT": block, "FILE_NOT_ALIGNED": 0}
    add_file(builder, file)
    builder.h5f(NAME, OPENS=4)
    found = characterized(builder)
    assert found.families[0].family.tunable.alignment == wanted
    assert parse_workload(workload_text(found.workload)) == found.workload


def test_alignment_that_was_not_measured() -> None:
    builder = builder_of(1).posix(NAME, WRITES=1, BYTES_WRITTEN=9, FILE_ALIGNMENT=4096, FILE_NOT_ALIGNED=-1)
    (family,) = characterized(builder).families
    assert not [rule for rule in family.sentences() if rule.startswith("alignment")]


def test_read_modify_write_is_noted() -> None:
    builder = builder_of(4).mpiio(NAME, COLL_WRITES=4, VIEWS=4, BYTES_WRITTEN=8 * MIB, SIZE_WRITE_AGG_1M_4M=4)
    builder.posix(NAME, READS=7, WRITES=7, BYTES_READ=20 * MIB, BYTES_WRITTEN=20 * MIB)
    (family,) = characterized(builder).families
    assert "read-modify-write: 7 POSIX reads of files that MPI-IO only wrote" in family.sentences()


def hdf5_job(
    *, mpiio: bool = False, named: int = 0, kind: str = "WRITE", own: bool = False, ranks: int = 2
) -> LogBuilder:
    """Ranks that each move 8 KiB of a dataset: of one file, or of a file of their own."""
    builder = builder_of(ranks)
    moved = "BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"
    for r in range(ranks):
        name = f"/run/out.{r}.h5" if own else "/run/out.h5"
        data = {
            f"{kind}S": 1,
            moved: 8192,
            f"SIZE_{kind}_AGG_1K_10K": 1,
            "ACCESS1_ACCESS": 8192,
            "ACCESS1_COUNT": 1,
        }
        builder.h5f(name, r, OPENS=1, USE_MPIIO=named)
        builder.h5d(f"{name}:/x", r, file=name, OPENS=1, DATATYPE_SIZE=8, DATASPACE_NPOINTS=1024, **data)
        below = {f"{kind}S": 3, moved: 8384, f"SIZE_{kind}_0_100": 2, f"SIZE_{kind}_1K_10K": 1}
        builder.posix(name, r, OPENS=1, **below)
        if mpiio:
            builder.mpiio(name, r, INDEP_OPENS=1, **{f"INDEP_{kind}S": 1, moved: 8192})
    return builder


@pytest.mark.parametrize(
    ("builder", "driver"),
    [
        (hdf5_job(own=True), FileDriver.SERIAL),
        (hdf5_job(ranks=1), FileDriver.SERIAL),
        (hdf5_job(kind="READ"), FileDriver.SERIAL),
        (hdf5_job(), None),  # two ranks write to one file: no workload can say how
        (hdf5_job(own=True, mpiio=True), None),
        (hdf5_job(own=True, named=1), None),  # a log without the module of MPI-IO
    ],
    ids=["own", "one", "read", "shared", "mpiio", "named"],
)
def test_the_driver_of_hdf5_files(builder: LogBuilder, driver: FileDriver | None) -> None:
    found = characterized(builder)
    assert {facts.family.tunable.driver for facts in found.families} == {driver}
    assert parse_workload(workload_text(found.workload)) == found.workload
