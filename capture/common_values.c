#include "common_values.h"

#include <stdbool.h>
#include <string.h>

static bool better(struct common_value one, struct common_value other) {
    return one.count > other.count || (one.count == other.count && one.value > other.value);
}

void common_values_best(const int64_t* value, const int64_t* count, uint32_t used,
                        struct common_value best[COMMON_KEPT]) {
    memset(best, 0, COMMON_KEPT * sizeof *best);
    for (uint32_t i = 0; i < used; ++i) {
        struct common_value one = {value[i], count[i]};
        for (int place = 0; place < COMMON_KEPT; ++place) {
            if (!better(one, best[place])) continue;
            struct common_value moved = best[place];
            best[place] = one;
            one = moved;
        }
    }
}
