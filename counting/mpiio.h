/* How the MPI-IO counters of a file follow from a rank's calls: as counting/posix.h for POSIX. */
#ifndef WORKALIKE_COUNTING_MPIIO_H
#define WORKALIKE_COUNTING_MPIIO_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/common_values.h"
#include "counting/size_bins.h"

/* The counters in the order of a log of format 3.41. */
enum mpiio_counter {
    MPIIO_INDEP_OPENS,
    MPIIO_COLL_OPENS,
    MPIIO_INDEP_READS,
    MPIIO_INDEP_WRITES,
    MPIIO_COLL_READS,
    MPIIO_COLL_WRITES,
    MPIIO_SPLIT_READS,
    MPIIO_SPLIT_WRITES,
    MPIIO_NB_READS,
    MPIIO_NB_WRITES,
    MPIIO_SYNCS,
    MPIIO_HINTS,
    MPIIO_VIEWS,
    MPIIO_MODE,
    MPIIO_BYTES_READ,
    MPIIO_BYTES_WRITTEN,
    MPIIO_RW_SWITCHES,
    MPIIO_MAX_READ_TIME_SIZE,
    MPIIO_MAX_WRITE_TIME_SIZE,
    MPIIO_SIZE_READ = 19,
    MPIIO_SIZE_WRITE = 29,
    MPIIO_ACCESS = 39,
    MPIIO_ACCESS_COUNT = 43,
    MPIIO_FASTEST_RANK = 47,
    MPIIO_FASTEST_RANK_BYTES,
    MPIIO_SLOWEST_RANK,
    MPIIO_SLOWEST_RANK_BYTES,
    MPIIO_COUNTERS
};

/* What is remembered of a file between calls. All zero: nothing was done yet. */
struct mpiio_history {
    int32_t last_kind; /* what the latest access was: 0 none yet, 1 a read, 2 a write */
    struct common_values sizes;
};

/* A call that moved `size` bytes; `call` is the counter of its kind, MPIIO_INDEP_READS to MPIIO_NB_WRITES. */
static inline void mpiio_transferred(struct mpiio_history* history, int64_t* counter, enum mpiio_counter call,
                                     int64_t size) {
    const bool writes = ((int)call - (int)MPIIO_INDEP_READS) % 2;
    ++counter[call];
    counter[writes ? MPIIO_BYTES_WRITTEN : MPIIO_BYTES_READ] += size;
    ++counter[(writes ? (int)MPIIO_SIZE_WRITE : (int)MPIIO_SIZE_READ) + size_bin(size)];
    if (size) common_values_count(&history->sizes, size);
    if (history->last_kind && history->last_kind != (int)writes + 1) ++counter[MPIIO_RW_SWITCHES];
    history->last_kind = (int)writes + 1;
}

#endif
