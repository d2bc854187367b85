/* The life of a captured process: start, fork, exec, exit. */
#ifndef WORKALIKE_CAPTURE_PROCESS_H
#define WORKALIKE_CAPTURE_PROCESS_H

#include <stdbool.h>

#include "core/mapping.h"

/* Whether files are to be counted in this process: wanted, and not over. Cheap. */
bool process_counts(void);

/* Begins the mapping at the first thing to count; false if nothing can be counted. */
bool process_begin(void);

/* Whether this is really our process, and not a vfork's child that borrows its memory. */
bool process_is_ours(void);

/* Fills in who and when. */
void process_describe(struct mapping_header* header);

/* The rank in an MPI job, told by MPI_Init. */
void process_joins_job(int rank, int ranks, uint64_t job);

/* True for the one caller who may end the capture; nothing is counted afterwards. */
bool process_end(void);

/* Whether an MPI job is running, whose log is written by MPI_Finalize. */
bool process_in_job(void);

#endif
