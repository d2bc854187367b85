"""Closed lists that a plan's options choose from; importing this costs next to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from workalike import _core

Clock = Literal["gap", "deadline"]
GapFill = Literal["sleep", "busy", "memory", "mpi"]

TRAITS: dict[str, _core.Traits] = {traits["name"]: traits for traits in _core.backends()}
"""What the core says of each backend, by its name, in the core's order (engine/core/backends)."""

BACKENDS: tuple[str, ...] = tuple(TRAITS)

if TYPE_CHECKING:
    Backend = str
else:
    Backend = Literal[BACKENDS]  # a closed list for whoever checks a plan, and for its schema


def only_counts(backend: str | None) -> bool:
    """Whether a backend touches no file; None, each family's own, and names that are unknown do not count."""
    return backend in TRAITS and not TRAITS[backend]["performs"]


def backend_at(level: str) -> str:
    """The first backend that performs operations of a level as its own."""
    return next(name for name, traits in TRAITS.items() if traits["performs"] and traits["level"] == level)
