/* What a module says of its records, so that the log can be made of them without knowing the module: their
   size, which of their numbers are what, and how those of several ranks become one. */
#ifndef WORKALIKE_CAPTURE_RECORD_KIND_H
#define WORKALIKE_CAPTURE_RECORD_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/layouts.h"

/* Places of no counter. */
enum { NOWHERE = -1 };

/* How a number is combined over ranks. */
enum rule {
    RULE_SUM, /* the default: calls, bytes, bins, times */
    RULE_MAX,
    RULE_FIRST,    /* the smallest that is not 0: start times */
    RULE_KEEP,     /* one side's value, the one that is not 0 */
    RULE_OR,       /* 0 or 1 */
    RULE_ELSEWHERE /* handled together with others: common values, slowest call, fastest rank */
};

/* A table of common values: where it stands in the entry (struct common_values or common_slabs), and the
   counters that take its best: four groups of `width` numbers, then four counts. */
struct common_rule {
    size_t table;
    int value, count, width;
};

struct record_kind {
    enum module module;
    const char* word;          /* its name in the side file */
    uint32_t version;          /* of its records, for readers of a log */
    size_t size;               /* of a stored record; 0: each has its own, or there are no entries */
    int head, counters, times; /* head: words before the counters; a third one is the id of its file */
    int moments[2];            /* the times that are moments rather than durations: the first, and how many */
    int other_name;            /* the counter that holds the id of another name; 0: none */

    /* Traces of its calls: where the entry has its chains, and the module that they go to; 0: none. */
    size_t traces;
    enum module trace_module;

    struct common_rule common[2];
    int commons;

    /* How records of one file are combined; not at all without `reduced`. */
    bool reduced;
    const uint8_t* counter_rule; /* enum rule, one for each counter */
    const uint8_t* time_rule;
    /* A rank's bytes and time, for the fastest and slowest: counters and times that add up. */
    int bytes[2], spent[3];
    int ranks; /* first of FASTEST_RANK, _BYTES, SLOWEST_RANK, _BYTES; NOWHERE if there are none */
    int fastest_time, variance_time;
    /* The slowest read and write: its time and the counter of its size. */
    struct {
        int time, size;
    } slowest[2];
};

/* The rules of the times that POSIX, MPI-IO, H5D and PNETCDF_VAR share. */
extern const uint8_t data_time_rules[DATA_TIMES];

#endif
