/* The beginning and end of an MPI job. */
#ifndef WORKALIKE_CAPTURE_MPI_JOB_H
#define WORKALIKE_CAPTURE_MPI_JOB_H

/* After MPI_Init of any kind: the rank joins its job. Gives the result back. */
int mpi_after_init(int result);

/* Collective: the log of the job. A second call does nothing. */
void mpi_before_finalize(void);

#endif
