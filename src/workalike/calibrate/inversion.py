"""From a file's size back to a part size: by the fitted equation, and in closed form with the library's bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workalike.calibrate.study import Calibration, Study
from workalike.workload.mesh import NODE_BYTES, Mesh
from workalike.workload.mesh_size import MeshForm, mesh_bytes, nodes_for


@dataclass(frozen=True)
class Inversion:
    """Part sizes (bytes) of files of `size` bytes, `ranks` parts and `variables` variables.

    `part_size` is by the equation. In closed form, the file has `closed_form_bytes` of mesh and `library_bytes` that
    the library adds.
    """

    size: int
    ranks: int
    variables: int
    part_size: int
    closed_form_part_size: float
    closed_form_bytes: int
    library_bytes: int


def invert_size(calibration: Calibration, size: int, ranks: int, variables: int) -> Inversion:
    """The part size that gives files of `size` bytes."""
    form = _form(calibration.study, variables)
    by_equation = calibration.best.part_size_for(size, ranks, variables)
    library = library_bytes(calibration, ranks, variables)
    nodes = nodes_for(form, ranks, max(0, round(size - library)))
    return Inversion(
        size=size,
        ranks=ranks,
        variables=variables,
        part_size=round(by_equation),
        closed_form_part_size=nodes * NODE_BYTES / ranks,
        closed_form_bytes=mesh_bytes(form, ranks, nodes),
        library_bytes=round(library),
    )


def library_bytes(calibration: Calibration, ranks: int, variables: int) -> float:
    """Bytes that the library adds to a file, by least squares over the study: per variable, per part and per file."""
    rows, added = [], []
    for point in [*calibration.fitted, *calibration.held]:
        nodes = point.part_size // NODE_BYTES * point.parts
        rows.append([point.variables, point.parts, 1.0])
        added.append(point.size - mesh_bytes(_form(calibration.study, point.variables), point.parts, nodes))
    solved, *_ = np.linalg.lstsq(np.array(rows), np.array(added), rcond=None)
    return float(solved @ np.array([variables, ranks, 1.0]))


def _form(study: Study, variables: int) -> MeshForm:
    return MeshForm(study.type, study.dimensions, Mesh(variables=variables).runs())
