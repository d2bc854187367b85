"""Turns a calibration into plain values for its JSON file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from workalike.calibrate.inversion import Inversion
from workalike.calibrate.study import Calibration


def document_of(
    calibration: Calibration, inverted: Inversion | None = None, written_bytes: int | None = None
) -> dict[str, Any]:
    """The calibration file: the fits, the files fitted and held out, and the inverted size.

    `written_bytes` is the size of a file that was written with the part size of `inverted`.
    """
    study = calibration.study
    fits = {
        "paper": calibration.paper,
        **({"boundary": calibration.boundary} if calibration.boundary else {}),
    }
    document = {
        "format": "workalike-calibration",
        "version": 1,
        "backend": study.backend,
        "pattern": study.call_pattern,
        "mesh": study.type.value,
        "dimensions": study.dimensions,
        "library": calibration.library,
        "fits": {
            name: {
                "power": fit.power,
                "coefficients": dict(zip(fit.names, fit.values, strict=True)),
                "standard_errors": dict(zip(fit.names, fit.errors, strict=True)),
                "r_squared": fit.r_squared,
                "largest_residual": max(map(abs, fit.residuals(calibration.fitted))),
                "largest_held_out_residual": max(map(abs, fit.residuals(calibration.held))),
                "holds_from_part_size": calibration.holds_from[name],
            }
            for name, fit in fits.items()
        },
        "files": [asdict(point) for point in calibration.fitted],
        "held_out": [asdict(point) for point in calibration.held],
    }
    if inverted is not None:
        proof = {} if written_bytes is None else {"written_bytes": written_bytes}
        document["inverted"] = {**asdict(inverted), **proof}
    return document
