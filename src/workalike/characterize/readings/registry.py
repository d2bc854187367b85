"""All readings: every module of `files/`, `placement/` and `operations/` has one `READING`. A new one is a new file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from workalike.characterize import readings
from workalike.characterize.readings.reading import Reading

FOLDERS = ("files", "placement", "operations")


@cache
def all_readings() -> tuple[Reading, ...]:
    """The readings, the simplest first."""
    found = []
    for folder in FOLDERS:
        package = importlib.import_module(f"{readings.__name__}.{folder}")
        found += [
            importlib.import_module(f"{package.__name__}.{module.name}").READING
            for module in pkgutil.iter_modules(package.__path__)
        ]
    return tuple(sorted(found, key=lambda reading: (reading.rank, reading.id)))


def reading_of(name: str) -> Reading:
    """The reading of an id. A KeyError is a fault of ours: no id comes from outside."""
    return {reading.id: reading for reading in all_readings()}[name]
