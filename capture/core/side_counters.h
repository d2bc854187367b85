/* Counts of calls that Darshan's format cannot hold, for each file. They form a list in the side file
   (LOG.extra.json); a file shared by all ranks has one sum. A module declares what it counts. Storing,
   reducing, writing and recovering are the same for all modules. */
#ifndef WORKALIKE_CAPTURE_SIDE_COUNTERS_H
#define WORKALIKE_CAPTURE_SIDE_COUNTERS_H

#include "core/mapping.h"

enum { SIDE_COUNTERS = 32 };

struct side_counters {
    const char* part;         /* the key of the list */
    const char* const* names; /* of the counters */
    int count;                /* number of counters, at most SIDE_COUNTERS */
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

/* Adds one to a counter. */
void side_count(struct side_record* record, int counter);

#endif
