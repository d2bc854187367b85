"""`--model mesh`: dumps of HDF5 files become meshes of the same bytes; all else stays."""

from __future__ import annotations

from typing import Any

import pytest

from workalike.characterize.contents.arrays.meshes import ARRAYS_OF_MESH, _datasets, as_mesh, looks_like_mesh
from workalike.plan.resolve import Options, resolve
from workalike.workload.model import Assumption, Family, Interface, Workload


def workload(**family: Any) -> Workload:
    checkpoint = {"role": "checkpoint", "interface": "hdf5", "schedule": {"count": 3}, **family}
    log = {
        "role": "log",
        "interface": "stdio",
        "schedule": {"count": 1},
        "content": {"streams": [{"direction": "write", "sizes": ["5 x 80 B"]}]},
    }
    return Workload.model_validate({"ranks": 4, "families": [checkpoint, log]})


def as_meshes(
    given: Workload, interface: Interface = Interface.TYPHONIO, variables: int | None = None
) -> list[Family]:
    return [as_mesh(family, given.ranks, interface, variables) for family in given.families]


ACCESS = {"direction": "write", "slabs": [{"count": 4, "shape": [4, 4]}]}
STREAMS = {
    "streams": [
        {"direction": "write", "sizes": ["200 x 4320 B"], "collective": True},
        {"direction": "write", "sizes": ["245 x 200 B"]},
    ]
}


def test_collective_writes_give_the_number_of_variables() -> None:
    # The paper's decks (docs/reference/macsio-model.md#decks): 43 variables and seven arrays, each written once by every rank.
    family, other = as_meshes(workload(content=STREAMS))
    assert family.interface is Interface.TYPHONIO
    assert family.content is not None
    assert family.content.mesh is not None
    assert family.content.mesh.variable_count == 43
    assert family.dump_sizes() == [200 * 4320 + 245 * 200] * 3
    assert Assumption.DATASET_SHAPE in family.assumed
    assert other.interface is Interface.STDIO


def test_a_fit_gives_the_variables_and_growth_becomes_sizes() -> None:
    given = workload(content={"fit": {"datasets": 20}}, sizes="1 MiB", growth=[2.0, 1.5])
    family = as_meshes(given)[0]
    assert family.content is not None
    assert family.content.mesh is not None
    assert family.content.mesh.variable_count == 20
    assert family.dump_sizes() == given.families[0].dump_sizes()
    named = as_meshes(given, Interface.HDF5, variables=7)[0]
    assert named.interface is Interface.HDF5
    assert named.content is not None
    assert named.content.mesh is not None
    assert named.content.mesh.variable_count == 7


def test_states_are_flushed_but_the_last() -> None:
    family = as_meshes(workload(content=STREAMS, lifetime="appended"))[0]
    assert [family.content_of(i).flushes for i in range(3)] == [4, 4, 0]
    plan = resolve(Workload(ranks=4, families=[family]), Options())
    assert {d.file for d in plan.dumps} == {0}
    assert all(c.mesh is not None and c.mesh.bytes == 913_000 for c in plan.contents)


def test_families_that_cannot_be_meshes_stay() -> None:
    reads = {"streams": [{"direction": "read", "sizes": ["200 x 4320 B"], "collective": True}]}
    for family in ({"content": reads}, {"content": STREAMS, "sharing": "per-rank"}):
        given = workload(**family)
        assert as_meshes(given) == given.families
        assert not looks_like_mesh(given.families[0], 4)
    too_few = {"streams": [{"direction": "write", "sizes": ["4 x 1 MiB"], "collective": True}]}
    assert not looks_like_mesh(workload(content=too_few).families[0], 4)
    assert looks_like_mesh(workload(content=STREAMS).families[0], 4)


@pytest.mark.parametrize(("size", "is_mesh"), [(1700, True), (2400, False)])
def test_a_library_that_appends_reads_little_of_its_own(size: int, is_mesh: bool) -> None:
    """Its tables, in four reads of a dump of 913,000 bytes: up to one per cent."""
    reads = {"direction": "read", "sizes": [f"4 x {size} B"], "collective": True}
    given = workload(content={"streams": [*STREAMS["streams"], reads]}, lifetime="appended")
    assert looks_like_mesh(given.families[0], 4) == is_mesh
    assert (as_meshes(given)[0] != given.families[0]) == is_mesh


def dump_of(datasets: int) -> dict[str, Any]:
    access = [{"direction": "write", "collective": True, "slabs": [{"count": 4 * datasets, "shape": [8]}]}]
    return {"arrays": [{"datasets": datasets, "dims": [32], "element": 8, "access": access}]}


def test_datasets_are_those_of_most_dumps() -> None:
    family = as_meshes(workload(contents=[dump_of(9), dump_of(12)], use=[0, 1, 1]))[0]
    assert family.content is not None
    assert family.content.mesh is not None
    assert family.content.mesh.variable_count == 12 - 7
    several = as_meshes(workload(content={"arrays": dump_of(9)["arrays"] + dump_of(2)["arrays"]}))[0]
    assert several.content is not None
    assert several.content.mesh is not None
    assert several.content.mesh.variable_count == 9 + 2 - 7


def test_the_commonest_number_of_datasets_counts() -> None:
    """One of three dumps is a fit of other datasets."""
    fit, arrays = {"fit": {"datasets": 9}}, {"arrays": [{"datasets": 3, "dims": [4, 4], "access": [ACCESS]}]}
    given = workload(contents=[fit, arrays], use=[1, 0, 1], sizes="1 MiB")
    assert _datasets(given.families[0], given.ranks) == 3
    given = workload(contents=[fit, arrays], use=[0, 1, 0], sizes="1 MiB")
    assert _datasets(given.families[0], given.ranks) == 9 + ARRAYS_OF_MESH
