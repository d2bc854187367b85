/* The most frequent values of something, such as access sizes, per file: at most 32 distinct ones are
   counted, as in Darshan; the best four go into the log. Lives in the counters' mapping. */
#ifndef WORKALIKE_CAPTURE_COMMON_VALUES_H
#define WORKALIKE_CAPTURE_COMMON_VALUES_H

#include <stdint.h>

enum { COMMON_VALUES = 32, COMMON_KEPT = 4 };

struct common_values {
    uint32_t used, last; /* last: the slot hit last, where the next hit is most likely */
    int64_t value[COMMON_VALUES];
    int64_t count[COMMON_VALUES];
};

struct common_value {
    int64_t value, count;
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

/* The best four by count, ties by larger value; the rest of `best` becomes zero. */
void common_values_best(const int64_t* value, const int64_t* count, uint32_t used,
                        struct common_value best[COMMON_KEPT]);

#endif
