/* Receives: their source and tag are known from the status, when they are complete. */
#ifndef WORKALIKE_CAPTURE_MPI_RECEIVES_H
#define WORKALIKE_CAPTURE_MPI_RECEIVES_H

#include "mpi/abi.h"

/* Room for the status of any MPI. */
struct mpi_status {
    int word[16];
};

/* The status to pass on: ours, where the program ignores it. */
void* receive_status(void* status, struct mpi_status* own);

/* Records a receive that is complete, by its status. */
void receive_note(mpi_handle comm, const void* status, int64_t start, int result);

/* Remembers a receive that was posted at `start`, until a call completes its request. */
void receive_pend(mpi_handle comm, int from, const mpi_handle* request, int64_t start);

#endif
