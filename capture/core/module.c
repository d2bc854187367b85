#include "core/module.h"

#include "core/side_counters.h"

static const struct record_kind* kinds[MODULES];

/* Counters for the side file are summed over ranks. */
static struct record_kind side_kinds[MODULES_AT_MOST];

static void add_side_kind(int at, const struct side_counters* counters) {
    static const uint8_t sums[SIDE_COUNTERS] = {RULE_SUM};
    side_kinds[at] = (struct record_kind){
        .module = (enum module)(MODULE_SIDE + at),
        .size = sizeof(struct base_record) + (size_t)counters->count * sizeof(int64_t),
        .head = 2,
        .counters = counters->count,
        .reduced = true,
        .counter_rule = sums,
        .bytes = {NOWHERE, NOWHERE},
        .spent = {NOWHERE, NOWHERE, NOWHERE},
        .ranks = NOWHERE,
        .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
    };
    kinds[MODULE_SIDE + at] = &side_kinds[at];
}

void modules_collect_kinds(void) {
    for (int at = 0; at < capture_module_count; ++at) {
        const struct capture_module* module = capture_modules[at];
        if (!module) continue;
        for (const struct record_kind* const* kind = module->kinds; kind && *kind; ++kind) {
            kinds[(*kind)->module] = *kind;
        }
        if (module->counters) add_side_kind(at, module->counters);
    }
}

bool modules_closing(int fd, const char* name) {
    bool done = true;
    for (int at = 0; at < capture_module_count; ++at) {
        const struct capture_module* module = capture_modules[at];
        if (module && module->closing) done = module->closing(fd, name) && done;
    }
    return done;
}

const struct record_kind* module_kind(enum module module) {
    return kinds[module];
}

enum module module_of_counters(const struct side_counters* counters) {
    int at = 0;
    while (at < capture_module_count && (!capture_modules[at] || capture_modules[at]->counters != counters))
        ++at;
    return (enum module)(MODULE_SIDE + at);
}
