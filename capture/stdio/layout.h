/* The STDIO record, as a log of format 3.41 holds it. */
#ifndef WORKALIKE_CAPTURE_STDIO_LAYOUT_H
#define WORKALIKE_CAPTURE_STDIO_LAYOUT_H

#include "core/layouts.h"
#include "counting/stdio.h"

/* The order differs from that of the other modules. */
enum stdio_time {
    STDIO_META_TIME,
    STDIO_WRITE_TIME,
    STDIO_READ_TIME,
    STDIO_OPEN_START,
    STDIO_CLOSE_START,
    STDIO_WRITE_START,
    STDIO_READ_START,
    STDIO_OPEN_END,
    STDIO_CLOSE_END,
    STDIO_WRITE_END,
    STDIO_READ_END,
    STDIO_FASTEST_RANK_TIME,
    STDIO_SLOWEST_RANK_TIME,
    STDIO_VARIANCE_RANK_TIME,
    STDIO_VARIANCE_RANK_BYTES,
    STDIO_TIMES
};

struct stdio_stored {
    struct base_record base;
    int64_t counter[STDIO_COUNTERS];
    double time[STDIO_TIMES];
};

_Static_assert(sizeof(struct stdio_stored) == 248, "format 3.41, STDIO 2");

#endif
