/* Who this process is, and whether it is captured now. */
#ifndef WORKALIKE_CAPTURE_PROCESS_H
#define WORKALIKE_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether files are to be counted in this process: wanted, and not over. Cheap. */
bool process_counts(void);

/* Begins the mapping at the first thing to count; false if nothing can be counted. */
bool process_begin(void);

/* Whether this is really our process, and not a vfork's child that borrows its memory. */
bool process_is_ours(void);

/* The process is to be captured from now on: its times count from here. */
void process_start(void);

/* In a fork's child: the same, with the parent noted; false if nothing was captured there. */
bool process_start_again(void);

/* The rank in an MPI job, known from MPI_Init. */
void process_joins_job(int rank, int ranks, uint64_t job);

/* True for the one caller who may end the capture; nothing is counted afterwards. */
bool process_end(void);

/* Whether an MPI job is running, whose log is written by MPI_Finalize. */
bool process_in_job(void);

#endif
