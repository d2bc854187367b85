/* What a module declares about its records, so that a log can be made without knowing the module: their
   size, the meaning of their numbers, and how records of several ranks are combined. */
#ifndef WORKALIKE_CAPTURE_RECORD_KIND_H
#define WORKALIKE_CAPTURE_RECORD_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "core/layouts.h"

/* The place of a counter that does not exist. */
enum { NOWHERE = -1 };

/* How a number is combined over ranks. */
enum rule {
    RULE_SUM, /* the default: calls, bytes, bins, times */
    RULE_MAX,
    RULE_FIRST,    /* the smallest value that is not 0: start times */
    RULE_KEEP,     /* the value of the side where it is not 0 */
    RULE_OR,       /* 0 or 1 */
    RULE_ELSEWHERE /* handled together with others: common values, slowest call, fastest rank */
};

/* A table of common values: its place in the entry (struct common_values or common_slabs), and the first
   counter that receives the four most frequent ones. These are four groups of `width` numbers, then four
   counts. */
struct common_rule {
    size_t table;
    int value, count, width;
};

struct record_kind {
    enum module module;
    const char* word;          /* its name in the side file */
    uint32_t version;          /* of its records, for readers of a log */
    size_t size;               /* of a stored record; 0: sizes differ, or there are no entries */
    int head, counters, times; /* head: words before the counters; a third word is the id of the file */
    int moments[2]; /* times that are moments rather than durations: the first index, and how many */
    int other_name; /* the counter that holds the id of another name; 0: none */

    /* Traces of its calls: the place of their chains in the entry, and the module that they belong to; 0
       for none. */
    size_t traces;
    enum module trace_module;

    struct common_rule common[2];
    int commons;

    /* How records of one file are combined; only used with `reduced`. */
    bool reduced;
    const uint8_t* counter_rule; /* an enum rule for each counter */
    const uint8_t* time_rule;
    /* A rank's bytes and time, for the fastest and slowest rank: the sums of these counters and times. */
    int bytes[2], spent[3];
    int ranks; /* the first of FASTEST_RANK, _BYTES, SLOWEST_RANK, _BYTES; NOWHERE if there are none */
    int fastest_time, variance_time;
    /* The slowest read and write: the place of its time, and of the counter of its size. */
    struct {
        int time, size;
    } slowest[2];
};

/* The rules of the times that POSIX, MPI-IO, H5D and PNETCDF_VAR share. */
extern const uint8_t data_time_rules[DATA_TIMES];

#endif
