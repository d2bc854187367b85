"""Eq. 1: known coefficients are found again, the boundary term makes near-square meshes fit, inverting hits a size."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from workalike.calibrate.equation import Point, fit
from workalike.calibrate.study import Study, calibrate, smallest_that_holds, spread_of, write_one
from workalike.errors import ErrorKind, WorkalikeError
from workalike.workload.mesh import Mesh, MeshType
from workalike.workload.mesh_size import MeshForm, mesh_bytes

KNOWN = {"alpha": 0.9375, "beta": 5.0, "gamma": -3.0, "delta": 104.0, "eta": 1100.0, "psi": 12_000.0}


def grid() -> list[tuple[int, int, int]]:
    return list(itertools.product((1, 2, 4), spread_of(65_536, 4_194_304, 7)[0], (8, 16, 24, 40)))


def points_of_meshes(sizes: list[tuple[int, int, int]]) -> list[Point]:
    """Files of a library that adds 12,000 bytes and 1,100 a variable."""
    points = []
    for parts, size, variables in sizes:
        form = MeshForm(MeshType.UNSTRUCTURED, 2, Mesh(variables=variables).runs())
        payload = mesh_bytes(form, parts, parts * (size // 8))
        points.append(Point(parts, size, variables, payload + 12_000 + 1_100 * variables + 96 * parts))
    return points


def test_known_coefficients_are_found() -> None:
    k = KNOWN
    points = [
        Point(p, s, v, round(p * (s * (k["alpha"] * v + k["beta"]) + k["gamma"] * v + k["delta"]) + k["eta"] * v + k["psi"]))
        for p, s, v in grid()
    ]  # fmt: skip
    found = fit(points, None)
    for name, value, error in zip(found.names, found.values, found.errors, strict=True):
        assert value == pytest.approx(KNOWN[name], rel=1e-3, abs=5 * error)
    assert found.r_squared > 1 - 1e-12


def test_near_square_meshes_need_the_boundary() -> None:
    points = points_of_meshes(grid())
    held = points_of_meshes([(2, size, 32) for size in spread_of(65_536, 4_194_304, 7)[1]])
    paper, boundary = fit(points, None), fit(points, 0.5)
    worst = {equation: max(map(abs, equation.residuals(held))) for equation in (paper, boundary)}
    assert worst[boundary] < 0.001
    assert worst[boundary] < worst[paper] / 10
    named = dict(zip(boundary.names, boundary.values, strict=True))
    assert named["alpha"] == pytest.approx(0.9375, rel=1e-3)  # docs/reference/macsio-model.md#size-equation
    assert named["beta"] == pytest.approx(5.0, rel=1e-3)
    assert smallest_that_holds(boundary, held) == min(p.part_size for p in held)


def test_the_inverse_gives_the_size() -> None:
    equation = fit(points_of_meshes(grid()), 0.5)
    for size in (10 << 20, 259 << 20, 8 << 30):
        part_size = equation.part_size_for(size, 4, 40)
        assert equation.predict(4, part_size, 40) == pytest.approx(size, rel=1e-9)
        (written,) = points_of_meshes([(4, round(part_size), 40)])
        assert written.size == pytest.approx(size, rel=1e-3)
    assert equation.part_size_for(1, 4, 40) == 0


def test_too_few_files_are_refused() -> None:
    with pytest.raises(ValueError, match="coefficients"):
        fit(points_of_meshes(grid()[:5]), None)
    with pytest.raises(ValueError, match="coefficients"):
        fit(points_of_meshes([(1, 65_536, 8)] * 20), None)


def test_a_study_that_determines_nothing_is_refused_before_it_writes(tmp_path: Path) -> None:
    sizes, held = spread_of(65_536, 1_048_576, 3)
    with pytest.raises(WorkalikeError, match="one rank count") as refused:
        calibrate(Study("hdf5", ranks=(4,), part_sizes=sizes, held_sizes=held), tmp_path)
    assert refused.value.kind is ErrorKind.USAGE
    with pytest.raises(WorkalikeError, match="different part sizes"):
        calibrate(Study("hdf5", ranks=(1, 2), part_sizes=(64, 128, 128)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_real_backend_fits(tmp_path: Path) -> None:
    sizes, held = spread_of(65_536, 1_048_576, 4)
    study = Study("hdf5", ranks=(1, 2), part_sizes=sizes, held_sizes=held, remainder=3)
    try:
        calibration = calibrate(study, tmp_path)
    except WorkalikeError as error:
        pytest.skip(str(error))
    assert max(map(abs, calibration.best.residuals(calibration.held))) < 0.001
    assert calibration.holds_from["boundary"] == min(held)
    target = 10 << 20
    part_size = round(calibration.best.part_size_for(target, 2, 43))
    assert write_one(study, 2, 43, part_size, tmp_path / "one") == pytest.approx(target, rel=1e-3)
    assert not list(tmp_path.rglob("*.h5"))  # nothing is left
