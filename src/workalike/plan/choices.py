"""Closed lists of a plan's options, in a module that imports fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from workalike import _core

Clock = Literal["gap", "deadline"]
GapFill = Literal["sleep", "busy", "memory", "mpi"]

TRAITS: dict[str, _core.Traits] = {traits["name"]: traits for traits in _core.backends()}
"""The core's traits of each backend by name, in the core's order (engine/core/backends)."""

BACKENDS: tuple[str, ...] = tuple(TRAITS)

if TYPE_CHECKING:
    Backend = str
else:
    Backend = Literal[BACKENDS]  # a closed list for validation and for the schema


def only_counts(backend: str | None) -> bool:
    """Whether a backend touches no file; False for None (each family's own backend) and for unknown names."""
    return backend in TRAITS and not TRAITS[backend]["performs"]


def ranks_open_alone(backend: str | None) -> bool:
    """Whether a rank opens its file by itself; True for None (each family's own backend), False for unknown names."""
    return backend is None or (backend in TRAITS and not TRAITS[backend]["collective_files"])


def backend_at(level: str) -> str:
    """The first backend whose own operations are those of a level."""
    return next(name for name, traits in TRAITS.items() if traits["performs"] and traits["level"] == level)
