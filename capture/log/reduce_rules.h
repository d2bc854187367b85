/* How each counter of each module is combined over ranks: data, one table a module. */
#ifndef WORKALIKE_CAPTURE_REDUCE_RULES_H
#define WORKALIKE_CAPTURE_REDUCE_RULES_H

#include <stdint.h>

#include "core/layouts.h"

/* Places of no counter. */
enum { NOWHERE = -1 };

enum rule {
    RULE_SUM, /* the default: calls, bytes, bins, times */
    RULE_MAX,
    RULE_FIRST,    /* the smallest that is not 0: start times */
    RULE_KEEP,     /* one side's value, the one that is not 0 */
    RULE_OR,       /* 0 or 1 */
    RULE_ELSEWHERE /* handled together with others: common values, slowest call, fastest rank */
};

/* A table of common values: four groups of `width` counters, then four counts. */
struct common_rule {
    int value, count, width;
};

struct reduce_rules {
    int head, counters, times; /* head: words before the counters */
    const uint8_t* counter_rule;
    const uint8_t* time_rule;
    struct common_rule common[2];
    int commons;
    /* A rank's time and bytes, for the fastest and slowest: counters and times that add up. */
    int bytes[2], spent[3];
    int ranks; /* first of FASTEST_RANK, _BYTES, SLOWEST_RANK, _BYTES; NOWHERE if there are none */
    int fastest_time, variance_time;
    /* The slowest read and write: its time and the counter of its size. */
    struct {
        int time, size;
    } slowest[2];
};

/* NULL for modules whose records are never reduced. */
const struct reduce_rules* reduce_rules(enum module module);

#endif
