/* The POSIX record, as a log of format 3.41 holds it. */
#ifndef WORKALIKE_CAPTURE_POSIX_LAYOUT_H
#define WORKALIKE_CAPTURE_POSIX_LAYOUT_H

#include "core/layouts.h"
#include "counting/posix.h"

struct posix_stored {
    struct base_record base;
    int64_t counter[POSIX_COUNTERS];
    double time[DATA_TIMES];
};

_Static_assert(sizeof(struct posix_stored) == 704, "format 3.41, POSIX 4");

#endif
