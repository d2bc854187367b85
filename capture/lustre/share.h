/* One LUSTRE record for a file that all ranks have. */
#ifndef WORKALIKE_CAPTURE_MPI_LUSTRE_H
#define WORKALIKE_CAPTURE_MPI_LUSTRE_H

#include "log/log.h"
#include "mpi/abi.h"

void mpi_lustre_share(struct log_content* content, mpi_handle comm, int rank);

#endif
