"""Every result that docs/results.md shows, a module for each of the page's parts."""

from __future__ import annotations

from . import (
    architecture,
    behaviour,
    capture,
    data_models,
    diagnosis,
    fleets,
    release,
    replicas,
    safety,
    studies,
    timelines,
    verdicts,
)
from .definition import FOLDER, ROOT, Entry, Kind

__all__ = ["CATALOGUE", "FOLDER", "ROOT", "Entry", "Kind", "entry"]

CATALOGUE: tuple[Entry, ...] = (
    *replicas.ENTRIES,
    *capture.ENTRIES,
    *data_models.ENTRIES,
    *architecture.ENTRIES,
    *behaviour.ENTRIES,
    *timelines.ENTRIES,
    *studies.ENTRIES,
    *diagnosis.ENTRIES,
    *fleets.ENTRIES,
    *verdicts.ENTRIES,
    *safety.ENTRIES,
    *release.ENTRIES,
)


def entry(name: str) -> Entry:
    for known in CATALOGUE:
        if known.name == name:
            return known
    raise SystemExit(f"no result {name!r}; known: {', '.join(e.name for e in CATALOGUE)}")
