"""What the user decides about a plan, besides the workload."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from workalike.plan.choices import Backend, Clock, GapFill
from workalike.plan.scale import ScaleBy


@dataclass(frozen=True)
class Options:
    """The options that `plan`, `run` and `replicate` share (docs/reference/terms.md#shared-options)."""

    ranks: int | None = None
    scaling: Literal["strong", "weak"] = "strong"
    bytes_scale: Fraction = Fraction(1)
    scale_by: ScaleBy = "count"
    time_scale: float = 0.0
    clock: Clock = "gap"
    backend: Backend | None = None
    seed: int = 1
    gap_fill: GapFill | Literal["auto"] = "auto"
    compressibility: float | None = None
