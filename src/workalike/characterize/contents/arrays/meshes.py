"""A log's dumps as meshes (`--model mesh`). The log has bytes, times and ranks; that they are a mesh is assumed."""

from __future__ import annotations

from collections import Counter

from workalike.characterize.result import Characterization
from workalike.facts.thresholds import THRESHOLDS
from workalike.workload.content import Content
from workalike.workload.mesh import Mesh, MeshType
from workalike.workload.model import Assumption, Family, Interface, Lifetime, SharingMode
from workalike.workload.phrases import dump_bytes
from workalike.workload.words import HDF5_INTERFACES, Direction

# An unstructured mesh of two dimensions has seven arrays of its own (docs/reference/typhonio-format.md#mesh):
# two of coordinates, numbers of nodes and of cells, shapes, cells of each shape, connectivity.
ARRAYS_OF_MESH = 7
FEWEST_VARIABLES = 1


def as_mesh(
    family: Family, ranks: int, interface: Interface = Interface.TYPHONIO, variables: int | None = None
) -> Family:
    """The family with its dumps as unstructured 2-D meshes of the same bytes, or unchanged where it cannot be meshes.

    `variables` is their number per mesh. Without it, the number follows from a dump's datasets or collective writes.
    """
    return _as_mesh(family, ranks, interface, variables) if _can_be(family, ranks) else family


def looks_like_mesh(family: Family, ranks: int) -> bool:
    """Whether a dump has the datasets of a mesh with variables: more than a mesh alone, each written by all ranks."""
    return _can_be(family, ranks) and _datasets(family, ranks) > ARRAYS_OF_MESH


def _can_be(family: Family, ranks: int) -> bool:
    shared = family.sharing.mode in (SharingMode.SHARED, SharingMode.SUBSET, SharingMode.GROUPS)
    written, read = (dump_bytes(family, ranks, d) for d in (Direction.WRITE, Direction.READ))
    writes = all(written) and sum(read) <= THRESHOLDS.mesh_reads * sum(written)
    return family.interface in HDF5_INTERFACES and shared and writes


def _as_mesh(family: Family, ranks: int, interface: Interface, variables: int | None) -> Family:
    count = variables or max(FEWEST_VARIABLES, _datasets(family, ranks) - ARRAYS_OF_MESH)
    members = family.members(ranks)
    mesh = Mesh(type=MeshType.UNSTRUCTURED, dimensions=2, variables=count, collective=True)
    contents: dict[str, object] = {"content": Content(mesh=mesh).model_dump()}
    dumps = family.schedule.dumps
    if family.lifetime is Lifetime.APPENDED and dumps > 1:
        # Each state is flushed; the last one is closed with its file (docs/reference/typhonio-calls.md#flush).
        flushed_and_last = [Content(flushes=members, mesh=mesh), Content(mesh=mesh)]
        contents = {"contents": [c.model_dump() for c in flushed_and_last], "use": [0] * (dumps - 1) + [1]}
    known = [reason for reason in family.assumed if isinstance(reason, Assumption)]  # a mesh has no readings
    assumed = list(dict.fromkeys([*known, Assumption.DATASET_SHAPE]))
    return Family.model_validate(
        {
            **family.model_dump(exclude={"content", "contents", "use", "growth"}),
            "interface": interface,
            "sizes": dump_bytes(family, ranks, Direction.WRITE),
            **contents,
            "assumed": assumed,
        }
    )


def _datasets(family: Family, ranks: int) -> int:
    """Datasets of a typical dump, mesh included: as stated, or as many as a rank has collective writes."""
    members = family.members(ranks)
    counts: Counter[int] = Counter()
    for dump in range(family.schedule.dumps):
        content = family.content_of(dump)
        if content.fit is not None:
            counts[content.fit.datasets + ARRAYS_OF_MESH] += 1  # a fit has the variables only
        elif content.arrays:
            counts[sum(arrays.datasets for arrays in content.arrays)] += 1
        else:
            calls = sum(
                s.repeat * e.total(members)
                for s in content.streams
                for e in s.sizes
                if s.collective and s.direction is Direction.WRITE
            )
            counts[calls // members] += 1
    return counts.most_common(1)[0][0]


def families_like_meshes(found: Characterization) -> list[str]:
    """Role and number of the families that could be meshes.

    A mesh is never assumed unless the user asks for it. It keeps its calls at any scale of bytes and has the metadata of
    TyphonIO; a log of datasets or calls shows neither.
    """
    return [
        f"{facts.family.role.value} {facts.family.number}"
        for facts in found.families
        if looks_like_mesh(facts.family, found.workload.ranks)
    ]
