/* The log of an MPI job: one record for a file that all ranks share, and one collective write. */
#ifndef WORKALIKE_CAPTURE_MPI_LOG_H
#define WORKALIKE_CAPTURE_MPI_LOG_H

/* Collective over all ranks, before MPI_Finalize. */
void mpi_log_write(void);

#endif
