#include "core/common_slabs.h"

#include <string.h>

void common_slabs_count(struct common_slabs* slabs, const int64_t value[SLAB_WIDTH]) {
    const size_t bytes = SLAB_WIDTH * sizeof *value;
    uint32_t i = slabs->last;
    if (i >= slabs->used || memcmp(slabs->value[i], value, bytes) != 0) {
        i = 0;
        while (i < slabs->used && memcmp(slabs->value[i], value, bytes) != 0) ++i;
    }
    if (i == COMMON_VALUES) return;
    if (i == slabs->used) {
        memcpy(slabs->value[i], value, bytes);
        slabs->count[i] = 0;
        slabs->used = i + 1;
    }
    ++slabs->count[i];
    slabs->last = i;
}
