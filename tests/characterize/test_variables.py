"""PNETCDF_VAR records -> variables, with their accesses and kinds of calls."""

from __future__ import annotations

import math

import pytest
from known_logs import characterized, find
from plan_totals import totals_of
from simulated_job import WRITE, builder_of, log_of

from workalike.characterize import Characterization, CharacterizeOptions, characterize
from workalike.darshan import LogBuilder
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Arrays, Interface, Level, Lifetime

NAME = "/run/f.nc"


def variable(
    builder: LogBuilder, shape: tuple[int, ...], slab: tuple[int, ...], count: int, *, name: str = "x",
    stride: tuple[int, ...] = (), element: int = 4, how: str = "COLL", record: bool = False, **more: float,
) -> None:  # fmt: skip
    """Add a variable that is written by `count` equal pieces. Dimension 1 is the slowest in these records."""
    size = math.prod(slab) * element
    values: dict[str, float] = {
        f"{how}_WRITES": count, "BYTES_WRITTEN": count * size, "SIZE_WRITE_AGG_1K_10K": count,
        "ACCESS1_ACCESS": size, "ACCESS1_COUNT": count, "NDIMS": len(shape), "NPOINTS": math.prod(shape),
        "DATATYPE_SIZE": element, "IS_RECORD_VAR": record,
    }  # fmt: skip
    for i, extent in enumerate(slab):
        values[f"ACCESS1_LENGTH_D{i + 1}"] = extent
        values[f"ACCESS1_STRIDE_D{i + 1}"] = stride[i] if stride else 1
    builder.pnetcdf_var(f"{NAME}:{name}", file=NAME, **(values | more))


def characterized_job(builder: LogBuilder, moved: int, **file: float) -> Characterization:
    builder.pnetcdf_file(NAME, CREATES=builder.job.nprocs, **file)
    builder.mpiio(NAME, COLL_WRITES=builder.job.nprocs, BYTES_WRITTEN=moved, SIZE_WRITE_AGG_1K_10K=4)
    return characterize([log_of(builder)], CharacterizeOptions(include_program_start=True))


def arrays_of(found: Characterization) -> list[Arrays]:
    (family,) = found.families
    assert (family.family.level, family.family.interface) == (Level.PNETCDF, Interface.PNETCDF)
    assert family.family.content is not None
    return family.family.content.arrays


def test_fixed_variables() -> None:
    builder = builder_of(4)
    for name in ("u", "v"):
        variable(builder, (8, 6, 40), (2, 6, 40), 4, name=name)
    found = characterized_job(builder, 2 * 7680)
    (arrays,) = arrays_of(found)
    assert (arrays.datasets, arrays.element, arrays.extendible) == (2, 4, False)
    assert math.prod(arrays.dims) == 8 * 6 * 40
    (access,) = arrays.access
    assert [(s.count, s.shape, s.stride) for s in access.slabs] == [(8, [2, 6, 40], [])]
    assert (access.collective, access.nonblocking) == (True, False)
    plan = resolve(found.workload, Options())
    assert plan.families[0].backend == "pnetcdf"
    ((key, totals),) = totals_of(plan).items()
    assert (totals[WRITE].bytes, totals[WRITE].operations) == (2 * 7680, 8), key


def test_a_record_variable_has_the_records_that_were_written() -> None:
    """NPOINTS counts one record, but twelve were written."""
    builder = builder_of(4)
    variable(builder, (1, 20, 30), (1, 20, 30), 12, record=True)
    (arrays,) = arrays_of(characterized_job(builder, 12 * 2400))
    assert (arrays.extendible, arrays.dims[0], math.prod(arrays.dims[1:])) == (True, 12, 600)


def test_strides_are_kept() -> None:
    builder = builder_of(4)
    variable(builder, (64, 64), (16, 32), 4, stride=(4, 2))
    (arrays,) = arrays_of(characterized_job(builder, 4 * 2048))
    (access,) = arrays.access
    assert [(s.shape, s.stride) for s in access.slabs] == [([16, 32], [4, 2])]


@pytest.mark.parametrize(("waits", "collective"), [("COLL_WAITS", True), ("INDEP_WAITS", False)])
def test_kinds_of_calls(waits: str, collective: bool) -> None:
    """Three independent calls, five non-blocking ones, and twelve collective ones, of which four only join."""
    builder = builder_of(4)
    size = 16 * 32 * 4
    variable(
        builder, (64, 64), (16, 32), 16, COLL_WRITES=12, INDEP_WRITES=3, NB_WRITES=5, BYTES_WRITTEN=16 * size,
        SIZE_WRITE_AGG_0_100=4,
    )  # fmt: skip
    (arrays,) = arrays_of(characterized_job(builder, 16 * size, **{waits: 4}))
    kinds = [(a.collective, a.nonblocking, sum(s.count for s in a.slabs)) for a in arrays.access]
    assert kinds == [(True, False, 8), (False, False, 3), (collective, True, 5)]


def test_more_dimensions_than_a_record_has_become_streams() -> None:
    builder = builder_of(4)
    variable(builder, (2, 2, 2, 2, 64), (1, 1, 1, 1, 64), 16, element=8, NDIMS=7)
    (family,) = characterized_job(builder, 16 * 512).families
    assert family.family.content is not None
    assert family.family.content.arrays == []
    assert sum(e.total(4) * e.size for s in family.family.content.streams for e in s.sizes) == 16 * 512


def test_ior() -> None:
    """Four ranks write and read four pieces of 256 KiB each, without collective calls."""
    found = characterized(find("ior-pnetcdf-4"))
    (facts,) = found.families
    family = facts.family
    assert (family.interface, family.level, family.schedule.dumps) == (Interface.PNETCDF, Level.PNETCDF, 2)
    for dump, direction in enumerate(("write", "read")):
        (arrays,) = family.content_of(dump).arrays
        assert (arrays.element, arrays.dims[0], math.prod(arrays.dims), arrays.extendible) == (
            1,
            4,
            4 * 2**20,
            True,
        )
        (access,) = arrays.access
        assert (access.direction, access.collective, access.nonblocking) == (direction, False, False)
        assert [(s.count, s.shape) for s in access.slabs] == [(16, [1, 1, 2**18])]
    plan = resolve(found.workload, Options())
    assert [d.prepare for d in plan.dumps] == [False, False]  # the load reads what the dump wrote


def test_e3sm_stays_at_mpiio() -> None:
    """Of PnetCDF its log has only the opens."""
    found = characterized(find("e3sm-pnetcdf-512"))
    for facts in found.families:
        assert (facts.family.interface, facts.family.level) == (Interface.PNETCDF, Level.MPIIO)
    assert {f.backend for f in resolve(found.workload, Options()).families} == {"mpiio"}
    assert {f.backend for f in resolve(found.workload, Options(backend="pnetcdf")).families} == {"pnetcdf"}


def test_records_that_were_appended_step_by_step() -> None:
    """Four ranks append three records, and wait for each: NPOINTS is of all records, as there were when it was asked."""
    builder = builder_of(4)
    variable(builder, (3, 80), (1, 20), 12, how="NB", record=1)
    builder.pnetcdf_file(NAME, CREATES=4, COLL_WAITS=12)
    builder.mpiio(
        NAME,
        COLL_WRITES=12,
        INDEP_WRITES=4,
        BYTES_WRITTEN=2000,
        SIZE_WRITE_AGG_100_1K=12,
        SIZE_WRITE_AGG_0_100=4,
    )
    (family,) = characterize([log_of(builder)], CharacterizeOptions(include_program_start=True)).families
    assert (family.family.lifetime, family.family.schedule.dumps) == (Lifetime.APPENDED, 3)
    (arrays,) = family.family.content_of(0).arrays
    assert (arrays.dims, arrays.extendible) == ([1, 80], True)
    (access,) = arrays.access
    assert [(s.count, s.shape) for s in access.slabs] == [(4, [1, 20])]
