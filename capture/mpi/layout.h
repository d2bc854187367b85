/* The MPI-IO record, as a log of format 3.41 holds it. */
#ifndef WORKALIKE_CAPTURE_MPI_LAYOUT_H
#define WORKALIKE_CAPTURE_MPI_LAYOUT_H

#include "core/layouts.h"

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

struct mpiio_stored {
    struct base_record base;
    int64_t counter[MPIIO_COUNTERS];
    double time[DATA_TIMES];
};

_Static_assert(sizeof(struct mpiio_stored) == 560, "format 3.41, MPI-IO 3");

#endif
