/* Calls that Darshan's format has no place for, counted for each file. They go into a list of the side file
   (LOG.extra.json), over all ranks one sum for a file that all share. A module says what it counts; how that
   is kept, reduced, written and recovered is the same for all. */
#ifndef WORKALIKE_CAPTURE_SIDE_COUNTERS_H
#define WORKALIKE_CAPTURE_SIDE_COUNTERS_H

#include "core/mapping.h"

enum { SIDE_COUNTERS = 32 };

struct side_counters {
    const char* part;         /* the key of the list */
    const char* const* names; /* of the counters */
    int count;                /* of them, at most SIDE_COUNTERS */
};

struct side_stored {
    struct base_record base;
    int64_t counter[];
};

struct side_record {
    struct entry head;
    struct side_stored log;
};

/* The record of a file by its name in the log (records_path); NULL without room. */
struct side_record* side_record_of(const struct side_counters* counters, const char* name);

/* One more of a counter. */
void side_count(struct side_record* record, int counter);

#endif
