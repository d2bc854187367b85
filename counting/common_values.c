#include "counting/common_values.h"

#include <stdbool.h>
#include <string.h>

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

/* A group of common values: the value itself, and for arrays what belongs to it. */
struct group {
    const int64_t* values;
    int64_t count;
};

static bool better(struct group first, struct group other) {
    return first.count > other.count || (first.count == other.count && first.values[0] > other.values[0]);
}

void common_add(int width, int64_t* value, int64_t* count, const int64_t* other_value,
                const int64_t* other_count) {
    enum { BOTH = 2 * COMMON_KEPT, WIDEST = 16 };
    const size_t bytes = (size_t)width * sizeof *value;
    struct group groups[BOTH];
    int64_t kept[COMMON_KEPT][WIDEST], counts[COMMON_KEPT] = {0};
    int used = 0;
    for (int side = 0; side < 2; ++side) {
        const int64_t* from = side ? other_value : value;
        for (int i = 0; i < COMMON_KEPT; ++i) {
            const struct group group = {from + width * i, (side ? other_count : count)[i]};
            int at = 0;
            while (at < used && memcmp(groups[at].values, group.values, bytes) != 0) ++at;
            if (group.count <= 0) continue;
            if (at < used) {
                groups[at].count += group.count;
            } else {
                groups[used++] = group;
            }
        }
    }
    memset(kept, 0, sizeof kept);
    for (int place = 0; place < COMMON_KEPT && place < used; ++place) {
        int best = place;
        for (int i = place + 1; i < used; ++i) best = better(groups[i], groups[best]) ? i : best;
        const struct group chosen = groups[best];
        groups[best] = groups[place];
        groups[place] = chosen;
        memcpy(kept[place], chosen.values, bytes);
        counts[place] = chosen.count;
    }
    for (int i = 0; i < COMMON_KEPT; ++i) {
        memcpy(value + width * i, kept[i], bytes);
        count[i] = counts[i];
    }
}
