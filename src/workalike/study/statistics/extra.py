"""scipy, which is an extra."""

from __future__ import annotations

from typing import Any

from workalike.extras import extra


def scipy_stats() -> Any:
    """The module `scipy.stats`.

    Raises:
        WorkalikeError: NOT_INSTALLED where scipy is not.
    """
    return extra("scipy.stats", "the comparison of settings", "study")


def scipy_optimize() -> Any:
    """The module `scipy.optimize`; raises as `scipy_stats`."""
    return extra("scipy.optimize", "the comparison of settings", "study")
