#include "core/common_values.h"

#include <stdbool.h>
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

int common_best(const int64_t* values, int width, const int64_t* counts, uint32_t used,
                int best[COMMON_KEPT]) {
    int kept = 0;
    for (int i = 0; i < (int)used; ++i) {
        int place = kept;
        while (place > 0) {
            const int rival = best[place - 1];
            const bool more = counts[i] > counts[rival] ||
                              (counts[i] == counts[rival] && values[i * width] > values[rival * width]);
            if (!more) break;
            if (place < COMMON_KEPT) best[place] = rival;
            --place;
        }
        if (place == COMMON_KEPT) continue;
        best[place] = i;
        if (kept < COMMON_KEPT) ++kept;
    }
    return kept;
}
