"""Eq. 1 of the workload-replication paper (CUG 2017): bytes of a mesh file from ranks, part size and variables.

    F = Pr (PS (alpha V + beta) + gamma V + delta) + eta V + psi

Pr is the number of parts, PS the bytes of one nodal variable of a part, V the number of variables. A near-square part
has one cell fewer in every row. A boundary term, epsilon V + zeta times PS^(1/2) in 2-D or PS^(2/3) in 3-D, stands for
it. Both forms are fitted by least squares of the relative residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAPER = ("alpha", "beta", "gamma", "delta", "eta", "psi")
BOUNDARY = ("epsilon", "zeta")


@dataclass(frozen=True)
class Point:
    """One file: the number of its parts, bytes of one nodal variable of a part, number of variables, size in bytes."""

    parts: int
    part_size: int
    variables: int
    size: int


@dataclass(frozen=True)
class Fit:
    """Coefficients with their standard errors (bytes); `power` of the boundary term, None for the paper's equation."""

    power: float | None
    names: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    r_squared: float

    def predict(self, parts: int, part_size: float, variables: int) -> float:
        """Bytes of a file."""
        row = _row(parts, part_size, variables, self.power)
        return float(np.dot(row, self.values))

    def part_size_for(self, size: int, parts: int, variables: int) -> float:
        """The part size in bytes that gives `size` bytes, by bisection; 0 if even the smallest part exceeds it."""
        low, high = 0.0, 1.0
        if self.predict(parts, low, variables) >= size:
            return 0.0
        while self.predict(parts, high, variables) < size:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if self.predict(parts, middle, variables) < size else (low, middle)
        return (low + high) / 2

    def residuals(self, points: Sequence[Point]) -> list[float]:
        """The relative residual of each point."""
        return [(self.predict(p.parts, p.part_size, p.variables) - p.size) / p.size for p in points]


def power_of(dimensions: int) -> float | None:
    """The power of a part's boundary; None in one dimension, where the boundary is a constant."""
    return {1: None, 2: 0.5, 3: 2 / 3}[dimensions]


def fit(points: Sequence[Point], power: float | None) -> Fit:
    """Least squares of the relative residuals.

    Raises:
        ValueError: fewer points than coefficients, or points that do not determine the coefficients.
    """
    names = PAPER if power is None else PAPER + BOUNDARY
    rows = np.array([_row(p.parts, p.part_size, p.variables, power) for p in points])
    sizes = np.array([p.size for p in points], dtype=float)
    scaled = rows / sizes[:, None]
    columns = np.abs(scaled).max(axis=0)  # columns differ by ten orders of magnitude
    solved, _, rank, _ = np.linalg.lstsq(scaled / columns, np.ones(len(points)), rcond=None)
    if rank < len(names) or len(points) <= len(names):
        raise ValueError(f"{len(points)} files do not determine {len(names)} coefficients")
    values = solved / columns
    residuals = scaled @ values - 1
    variance = float(residuals @ residuals) / (len(points) - len(names))
    inverse = np.linalg.inv((scaled / columns).T @ (scaled / columns))
    errors = np.sqrt(np.maximum(np.diag(inverse), 0) * variance) / columns
    predicted = rows @ values
    spread = float(((sizes - sizes.mean()) ** 2).sum())
    r_squared = 1 - float(((sizes - predicted) ** 2).sum()) / spread
    return Fit(power, names, tuple(map(float, values)), tuple(map(float, errors)), r_squared)


def _row(parts: int, part_size: float, variables: int, power: float | None) -> NDArray[np.float64]:
    paper = [parts * part_size * variables, parts * part_size, parts * variables, parts, variables, 1]
    if power is None:
        return np.array(paper, dtype=float)
    edge = part_size**power
    return np.array([*paper, parts * edge * variables, parts * edge], dtype=float)
