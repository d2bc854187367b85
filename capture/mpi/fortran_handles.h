/* Converts Fortran's handles, which are numbers, to those of C. */
#ifndef WORKALIKE_CAPTURE_MPI_FORTRAN_HANDLES_H
#define WORKALIKE_CAPTURE_MPI_FORTRAN_HANDLES_H

#include "mpi/abi.h"

mpi_handle comm_of(int number);
mpi_handle info_of(int number);
mpi_handle type_of(int number);
void* file_of(int number);

#endif
