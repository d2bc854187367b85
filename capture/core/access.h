/* Functions for access times, shared by the modules that record the same ones. */
#ifndef WORKALIKE_CAPTURE_ACCESS_H
#define WORKALIKE_CAPTURE_ACCESS_H

#include <stdint.h>

#include "core/clock.h"

/* Keeps the first start and the last end of a kind of call. */
static inline void note_window(double* first, double* last, struct span span) {
    if (*first == 0.0 || span.start < *first) *first = span.start;
    if (span.end > *last) *last = span.end;
}

/* Adds the part of a span that lies after the last span of its class. Threads on one file then do not
   count the same second twice. */
static inline void note_time(double* total, double* last_end, struct span span) {
    if (span.end <= *last_end) return;
    *total += span.end - (span.start > *last_end ? span.start : *last_end);
    *last_end = span.end;
}

static inline void note_slowest(double* slowest, int64_t* its_size, int64_t size, struct span span) {
    if (span.end - span.start <= *slowest) return;
    *slowest = span.end - span.start;
    *its_size = size;
}

#endif
