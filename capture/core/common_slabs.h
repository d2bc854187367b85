/* Common values of several numbers: what was accessed of an array. */
#ifndef WORKALIKE_CAPTURE_COMMON_SLABS_H
#define WORKALIKE_CAPTURE_COMMON_SLABS_H

#include "core/layouts.h"
#include "counting/common_values.h"

/* As common_values; the first number of a value is its size in bytes. */
struct common_slabs {
    uint32_t used, last;
    int64_t value[COMMON_VALUES][SLAB_WIDTH];
    int64_t count[COMMON_VALUES];
};

void common_slabs_count(struct common_slabs* slabs, const int64_t value[SLAB_WIDTH]);

#endif
