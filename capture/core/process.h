/* The identity of this process, and whether it is captured now. */
#ifndef WORKALIKE_CAPTURE_PROCESS_H
#define WORKALIKE_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/children.h"

/* Whether files are counted in this process now. Cheap. */
bool process_counts(void);

/* Makes the mapping when something is to be counted first; returns false if nothing can be counted. */
bool process_begin(void);

/* Whether this is the captured process itself, and not a child of vfork that shares its memory. */
static inline bool process_is_ours(void) {
    return __builtin_expect(children_none(), 1) || children_ask();
}

/* Starts the capture of the process; its times begin here. */
void process_start(void);

/* The same in the child of a fork, which notes its parent; returns false if the parent was not captured. */
bool process_start_again(void);

/* Sets the rank in an MPI job, which is known after MPI_Init. */
void process_joins_job(int rank, int ranks, uint64_t job);

/* Returns true to the single caller that may end the capture; nothing is counted afterwards. */
bool process_end(void);

/* Whether an MPI job is running, whose log MPI_Finalize writes. */
bool process_in_job(void);

#endif
