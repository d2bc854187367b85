"""All kinds of programs, by what they stand on."""

from ..program import KINDS
from . import (  # noqa: F401
    arrays,
    benchmarks_mpi,
    builds,
    databases,
    earth_models,
    file_tools,
    fortran,
    genomics,
    grid_codes,
    hdf5_codes,
    hdf5_parallel,
    hdf5_python,
    hdf5_serial,
    learning,
    logs_and_tables,
    media,
    mpi_libraries,
    mpiio,
    observations,
    particle_codes,
    pnetcdf_codes,
    posix_data,
    posix_names,
    posix_stores,
    records,
    stdio,
    workflows,
)

__all__ = ["KINDS"]
