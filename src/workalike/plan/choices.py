"""Closed lists that a plan's options choose from; importing this costs next to nothing."""

from __future__ import annotations

from typing import Literal

Clock = Literal["gap", "deadline"]
GapFill = Literal["sleep", "busy", "memory", "mpi"]
Backend = Literal["null", "record", "posix", "stdio", "mpiio", "hdf5", "typhonio", "pnetcdf", "adios2"]
