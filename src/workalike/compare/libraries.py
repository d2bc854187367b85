"""Whether the libraries that made calls for an application have one version in original and replica.

A log in Darshan's format names none: `lib_ver` is the instrument's. Our capture writes them into its side file. Without
that witness, "libraries differ" is not said.
"""

from __future__ import annotations

from collections.abc import Iterable

from workalike.characterize.result import Characterization
from workalike.compare.fidelity_schema import Library
from workalike.facts.records import FileFacts

MADE_BY = {
    "H5F": "hdf5",
    "H5D": "hdf5",
    "PNETCDF_FILE": "pnetcdf",
    "PNETCDF_VAR": "pnetcdf",
    "MPI-IO": "mpi",
}
"""The library that made calls of POSIX for a file, by the module that has a record of it."""
SHOWN = {"hdf5": "HDF5", "pnetcdf": "PnetCDF", "mpi": ""}


def libraries_of(
    original: Characterization, replica: Characterization
) -> tuple[Library | None, list[tuple[str, str]]]:
    """Whether they are the same, and the versions that differ; None where no library made calls for the application."""
    names = sorted(_used(original.files))
    if not names:
        return None, []
    pairs = {name: (original.libraries.get(name), replica.libraries.get(name)) for name in names}
    differing = [
        (f"{SHOWN[name]} {before}".strip(), f"{SHOWN[name]} {after}".strip())
        for name, (before, after) in pairs.items()
        if before is not None and after is not None and before != after
    ]
    if differing:
        return "another", differing
    known = all(before is not None and after is not None for before, after in pairs.values())
    return ("same" if known else "unknown"), []


def _used(files: Iterable[FileFacts]) -> set[str]:
    return {MADE_BY[module] for file in files for module in file.modules if module in MADE_BY}
