/* The shared files of a job, reduced to one record each at rank 0. */
#ifndef WORKALIKE_CAPTURE_MPI_REDUCE_H
#define WORKALIKE_CAPTURE_MPI_REDUCE_H

#include "log/log.h"
#include "mpi/abi.h"

/* Collective. Afterwards rank 0 has the reduced records and its own. The other ranks keep only records of
   files that some rank did not use. If it returns false, the records are unchanged. */
bool mpi_reduce_shared(struct log_content* content, mpi_handle comm, int rank);

#endif
