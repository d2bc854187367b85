"""Trials whose truth is known: values planted by setting, multiplicative noise, and drift over the study."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from workalike.study.statistics.table import Trials


def sigma_of(cov: float) -> float:
    """Standard deviation on the log scale of a lognormal noise with this coefficient of variation."""
    return math.sqrt(math.log1p(cov**2))


def drift_at(share: np.ndarray, size: float, shape: str = "line") -> np.ndarray:
    """Factor on the value at a share (0 to 1) of the study, within 1 ± size."""
    if shape == "line":
        return 1 + size * (2 * share - 1)
    if shape == "wave":
        return 1 + size * np.sin(2 * np.pi * 3 * share)
    return 1 + size * np.sign(np.sin(2 * np.pi * 3 * share + 0.1))  # load that comes and goes


def planted_values(
    means: np.ndarray, blocks: int, cov: float, drift: float, rng: np.random.Generator, shape: str = "line"
) -> np.ndarray:
    """Values of shape (blocks, settings): settings in random order within each block, drift by the time of the trial."""
    settings = len(means)
    order = np.argsort(rng.random((blocks, settings)), axis=1).argsort(axis=1)
    moment = (np.arange(blocks)[:, None] * settings + order + 0.5) / (blocks * settings)
    sigma = sigma_of(cov)
    noise = np.exp(rng.normal(-(sigma**2) / 2, sigma, (blocks, settings)))
    return means * drift_at(moment, drift, shape) * noise


def planted_trials(
    means: Mapping[str, float],
    blocks: int,
    cov: float = 0.1,
    drift: float = 0.0,
    seed: int = 0,
    failed: float = 0.0,
) -> Trials:
    """A study of named settings with planted means; a share of the trials failed."""
    rng = np.random.default_rng(seed)
    values = planted_values(np.array(list(means.values())), blocks, cov, drift, rng)
    values[rng.random(values.shape) < failed] = np.nan
    return Trials(
        block=np.repeat(np.arange(blocks), len(means)),
        setting=list(means) * blocks,
        value=values.ravel(),
    )
