"""The plan's mesh: parts for the plan's ranks, nodes or bytes at its scale."""

from __future__ import annotations

from workalike.plan import plan_schema as plan
from workalike.plan.dump_scale import DumpScale
from workalike.workload import model as wl
from workalike.workload.content import needs_wide_ids
from workalike.workload.mesh_size import MeshForm, mesh_bytes

SMALLEST_NODE = 8  # the fewest bytes that a node adds to a dump


def resolve_mesh(mesh: wl.Mesh, dump: DumpScale) -> plan.PlanMesh:
    """The plan's mesh for a dump: with the dump's bytes where the family states them, or else with nodes."""
    scale = dump.scale
    parts = mesh.total_parts(scale.members)
    nodes, target = 0, None
    part_dims = None
    if dump.size is not None:
        target = round(dump.size * scale.factor)
    else:
        if mesh.part_dims is not None and dump.grown == 1 and scale.factor == scale.by_members:
            part_dims = list(mesh.part_dims)
        old_nodes = (mesh.part_nodes() or 0) * mesh.total_parts(scale.old_members)
        nodes = max(parts * 2**mesh.dimensions, round(old_nodes * dump.grown * scale.factor))
    return plan.PlanMesh(
        type=mesh.type,
        dimensions=mesh.dimensions,
        parts=parts,
        nodes=nodes,
        bytes=target,
        part_dims=part_dims,
        variables=mesh.runs(),
        shared_nodes=mesh.shared_nodes,
        wide_ids=needs_wide_ids(nodes or (target or 0) // SMALLEST_NODE),
        materials=mesh.materials,
        mixed=mesh.mixed,
        ghost=mesh.ghost,
        globals=mesh.globals,
        geometry=mesh.geometry,
        direction=mesh.direction,
        collective=mesh.collective,
    )


def form_of_plan(mesh: plan.PlanMesh) -> MeshForm:
    """What decides the bytes of a plan's mesh."""
    return MeshForm(
        type=mesh.type,
        dimensions=mesh.dimensions,
        variables=mesh.variables,
        part_dims=mesh.part_dims,
        shared_nodes=mesh.shared_nodes,
        wide_ids=mesh.wide_ids,
        materials=mesh.materials,
        mixed=mesh.mixed,
        ghost=mesh.ghost,
        geometry=mesh.geometry,
    )


def bytes_of_plan(mesh: plan.PlanMesh) -> int:
    """Bytes of a dump: those that the plan states, or those of its nodes (in one file)."""
    return mesh.bytes if mesh.bytes is not None else mesh_bytes(form_of_plan(mesh), mesh.parts, mesh.nodes)
