/* The most frequent values of something, such as access sizes, per file: at most 32 distinct ones are
   counted, as in Darshan; the best four go into the log. Lives in the counters' mapping. */
#ifndef WORKALIKE_CAPTURE_COMMON_VALUES_H
#define WORKALIKE_CAPTURE_COMMON_VALUES_H

#include <stdint.h>

#include "core/layouts.h"

enum { COMMON_VALUES = 32, COMMON_KEPT = 4 };

struct common_values {
    uint32_t used, last; /* last: the slot hit last, where the next hit is most likely */
    int64_t value[COMMON_VALUES];
    int64_t count[COMMON_VALUES];
};

static inline void common_values_count(struct common_values* values, int64_t value) {
    if (values->last < values->used && values->value[values->last] == value) {
        ++values->count[values->last];
        return;
    }
    uint32_t i = 0;
    while (i < values->used && values->value[i] != value) ++i;
    if (i == COMMON_VALUES) return;
    if (i == values->used) {
        values->value[i] = value;
        values->count[i] = 0;
        values->used = i + 1;
    }
    ++values->count[i];
    values->last = i;
}

/* The same for values of several numbers; the first one is the size. */
struct common_slabs {
    uint32_t used, last;
    int64_t value[COMMON_VALUES][SLAB_WIDTH];
    int64_t count[COMMON_VALUES];
};

void common_slabs_count(struct common_slabs* slabs, const int64_t value[SLAB_WIDTH]);

/* The places of the best four by count, ties by larger (first) number; the number of them. */
int common_best(const int64_t* values, int width, const int64_t* counts, uint32_t used,
                int best[COMMON_KEPT]);

#endif
