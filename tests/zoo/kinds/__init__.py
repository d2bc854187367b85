"""All kinds of programs, by what they stand on."""

from ..program import KINDS
from . import (  # noqa: F401
    arrays,
    fortran,
    hdf5_parallel,
    hdf5_serial,
    mpi_libraries,
    mpiio,
    posix_data,
    posix_names,
    posix_stores,
    records,
    stdio,
)

__all__ = ["KINDS"]
