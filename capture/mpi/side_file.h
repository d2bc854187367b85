/* The side file of an MPI job. */
#ifndef WORKALIKE_CAPTURE_MPI_EXTRA_H
#define WORKALIKE_CAPTURE_MPI_EXTRA_H

#include "log/log.h"
#include "log/side_file.h"
#include "mpi/abi.h"

/* All ranks' parts as one at rank 0, and how their clocks differ if events are recorded. Collective. */
void mpi_extra_gather(struct log_content* content, const struct job_times* times, mpi_handle comm, int rank,
                      int ranks, struct extra_texts* texts);

#endif
