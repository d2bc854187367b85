/* The MPI-IO record, as a log of format 3.41 holds it. */
#ifndef WORKALIKE_CAPTURE_MPI_LAYOUT_H
#define WORKALIKE_CAPTURE_MPI_LAYOUT_H

#include "core/layouts.h"
#include "counting/mpiio.h"

struct mpiio_stored {
    struct base_record base;
    int64_t counter[MPIIO_COUNTERS];
    double time[DATA_TIMES];
};

_Static_assert(sizeof(struct mpiio_stored) == 560, "format 3.41, MPI-IO 3");

#endif
