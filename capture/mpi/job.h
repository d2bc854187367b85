/* The beginning and end of an MPI job. */
#ifndef WORKALIKE_CAPTURE_MPI_JOB_H
#define WORKALIKE_CAPTURE_MPI_JOB_H

/* Called after MPI_Init of any kind: the rank joins its job. Returns `result`. */
int mpi_after_init(int result);

/* Collective: writes the log of the job. A second call does nothing. */
void mpi_before_finalize(void);

#endif
