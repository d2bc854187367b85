#include "log/reduce.h"

#include <stdbool.h>
#include <string.h>

#include "core/module.h"
#include "counting/common_values.h"

/* A record as its counters and times. */
struct view {
    int64_t* counter;
    double* time;
};

static struct view view_of(const struct record_kind* kind, void* record) {
    int64_t* counter = (int64_t*)record + kind->head;
    return (struct view){counter, (double*)(counter + kind->counters)};
}

int reduces(enum module module) {
    const struct record_kind* kind = module_kind(module);
    return kind && kind->reduced;
}

size_t reduced_size(enum module module) {
    return sizeof(struct reduced) + module_kind(module)->size;
}

static double spent(const struct record_kind* kind, struct view view) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += kind->spent[i] == NOWHERE ? 0 : view.time[kind->spent[i]];
    return sum;
}

static int64_t bytes_moved(const struct record_kind* kind, struct view view) {
    int64_t sum = 0;
    for (int i = 0; i < 2; ++i) sum += kind->bytes[i] == NOWHERE ? 0 : view.counter[kind->bytes[i]];
    return sum;
}

void reduced_begin(enum module module, struct reduced* element, const void* record, int64_t rank) {
    const struct record_kind* kind = module_kind(module);
    void* copy = element + 1;
    memcpy(copy, record, module_kind(module)->size);
    ((struct base_record*)copy)->rank = -1;
    const struct view view = view_of(kind, copy);
    const double time = spent(kind, view);
    const int64_t bytes = bytes_moved(kind, view);
    element->time = (struct spread){1, time, 0};
    element->bytes = (struct spread){1, (double)bytes, 0};
    if (kind->ranks == NOWHERE) return;
    for (int i = 0; i < 4; i += 2) {
        view.counter[kind->ranks + i] = rank;
        view.counter[kind->ranks + i + 1] = bytes;
    }
    view.time[kind->fastest_time] = view.time[kind->fastest_time + 1] = time;
}

/* The spread of two groups of values together (Chan, Golub and LeVeque). */
static void add_spread(struct spread* result, const struct spread* other) {
    const double count = result->count + other->count;
    const double apart = other->mean - result->mean;
    result->squares += other->squares + apart * apart * result->count * other->count / count;
    result->mean += apart * other->count / count;
    result->count = count;
}

/* Takes the rank of `other` if it was faster (or slower); at a tie the first one is kept. */
static void add_ranks(const struct record_kind* kind, struct view result, struct view other) {
    for (int slow = 0; slow < 2; ++slow) {
        const int time = kind->fastest_time + slow, rank = kind->ranks + 2 * slow;
        const bool takes = slow ? other.time[time] > result.time[time] : other.time[time] < result.time[time];
        if (!takes) continue;
        result.time[time] = other.time[time];
        result.counter[rank] = other.counter[rank];
        result.counter[rank + 1] = other.counter[rank + 1];
    }
}

static void add_slowest(const struct record_kind* kind, struct view result, struct view other) {
    for (int i = 0; i < 2; ++i) {
        const int time = kind->slowest[i].time, size = kind->slowest[i].size;
        if (time == NOWHERE || other.time[time] <= result.time[time]) continue;
        result.time[time] = other.time[time];
        result.counter[size] = other.counter[size];
    }
}

static void add_common(const struct common_rule* rule, int64_t* result, const int64_t* other) {
    common_add(rule->width, result + rule->value, result + rule->count, other + rule->value,
               other + rule->count);
}

static void add_counter(enum rule rule, int64_t* result, int64_t other) {
    switch (rule) {
        case RULE_SUM:
            *result = *result == -1 || other == -1 ? -1 : *result + other;
            break;
        case RULE_MAX:
            *result = other > *result ? other : *result;
            break;
        case RULE_OR:
            *result = *result || other;
            break;
        case RULE_FIRST:
        case RULE_KEEP:
            *result = *result ? *result : other;
            break;
        case RULE_ELSEWHERE:
            break;
    }
}

static void add_time(enum rule rule, double* result, double other) {
    if (rule == RULE_SUM) *result += other;
    if (rule == RULE_MAX && other > *result) *result = other;
    if (rule == RULE_FIRST && other != 0 && (*result == 0 || other < *result)) *result = other;
}

void reduced_add(enum module module, struct reduced* element, const struct reduced* other) {
    const struct record_kind* kind = module_kind(module);
    const struct view result = view_of(kind, element + 1);
    const struct view more = view_of(kind, (void*)(other + 1));
    add_spread(&element->time, &other->time);
    add_spread(&element->bytes, &other->bytes);
    if (kind->ranks != NOWHERE) add_ranks(kind, result, more);
    add_slowest(kind, result, more);
    for (int i = 0; i < kind->commons; ++i) add_common(&kind->common[i], result.counter, more.counter);
    for (int i = 0; i < kind->counters; ++i) {
        add_counter((enum rule)kind->counter_rule[i], &result.counter[i], more.counter[i]);
    }
    for (int i = 0; i < kind->times; ++i)
        add_time((enum rule)kind->time_rule[i], &result.time[i], more.time[i]);
}

void reduced_end(enum module module, const struct reduced* element, void* record) {
    const struct record_kind* kind = module_kind(module);
    memcpy(record, element + 1, module_kind(module)->size);
    if (kind->ranks == NOWHERE) return;
    const struct view view = view_of(kind, record);
    view.time[kind->variance_time] = element->time.squares / element->time.count;
    view.time[kind->variance_time + 1] = element->bytes.squares / element->bytes.count;
}
