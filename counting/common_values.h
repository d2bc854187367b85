/* The most frequent values of a quantity of a file, such as access sizes. At most 32 distinct values are
   counted, as in Darshan, and the four most frequent go into a log. The memory is the caller's. */
#ifndef WORKALIKE_COUNTING_COMMON_VALUES_H
#define WORKALIKE_COUNTING_COMMON_VALUES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COMMON_VALUES = 32, COMMON_KEPT = 4 };

struct common_values {
    uint32_t used, last; /* last: the slot of the latest hit, where the next one is most likely */
    int64_t value[COMMON_VALUES];
    int64_t count[COMMON_VALUES];
};

static inline void common_values_add(struct common_values* values, int64_t value, int64_t times) {
    if (values->last < values->used && values->value[values->last] == value) {
        values->count[values->last] += times;
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
    values->count[i] += times;
    values->last = i;
}

static inline void common_values_count(struct common_values* values, int64_t value) {
    common_values_add(values, value, 1);
}

/* Finds the indexes of the four most frequent values and returns how many there are. At equal counts, the
   larger (first) number comes first. */
int common_best(const int64_t* values, int width, const int64_t* counts, uint32_t used,
                int best[COMMON_KEPT]);

/* Adds the best four of another record: counts of equal values are added, then the best four of both are
   kept. `value` has COMMON_KEPT groups of `width` numbers (the first of a group decides ties), `count` their
   counts. */
void common_add(int width, int64_t* value, int64_t* count, const int64_t* other_value,
                const int64_t* other_count);

#ifdef __cplusplus
}
#endif

#endif
