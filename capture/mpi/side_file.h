/* The side file of an MPI job. */
#ifndef WORKALIKE_CAPTURE_MPI_EXTRA_H
#define WORKALIKE_CAPTURE_MPI_EXTRA_H

#include "log/log.h"
#include "log/side_file.h"
#include "mpi/abi.h"

/* Combines the parts of all ranks at rank 0, with the difference of their clocks if events are recorded.
   Collective; releases this rank's own part. `late` is the time in seconds from the start of the job to
   the origin of this process' times. */
void mpi_side_gather(struct side_texts* own, double late, mpi_handle comm, int rank, int ranks,
                     struct side_texts* texts);

#endif
