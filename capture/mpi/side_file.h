/* The side file of an MPI job. */
#ifndef WORKALIKE_CAPTURE_MPI_EXTRA_H
#define WORKALIKE_CAPTURE_MPI_EXTRA_H

#include "log/log.h"
#include "log/side_file.h"
#include "mpi/abi.h"

/* All ranks' parts as one at rank 0, and how their clocks differ if events are recorded. Collective; releases
   this rank's own. `late`: seconds from the job's start to the origin of this process' times. */
void mpi_side_gather(struct side_texts* own, double late, mpi_handle comm, int rank, int ranks,
                     struct side_texts* texts);

#endif
