/* Opens, closes and syncs with their times, on request. An analysis of consistency needs them, and traces
   of reads and writes do not have them. They go into the side file. */
#ifndef WORKALIKE_CAPTURE_EVENTS_H
#define WORKALIKE_CAPTURE_EVENTS_H

#include "core/clock.h"
#include "core/mapping.h"
#include "core/memory.h"
#include "core/pause.h"

/* True if WORKALIKE_CAPTURE_EVENTS is set to 1. */
extern bool events_wanted;
void events_start(void);

enum event_kind { EVENT_OPEN = 1, EVENT_CLOSE, EVENT_SYNC };

void events_add(enum module module, enum event_kind kind, uint64_t id, struct span span);

static inline void event(enum module module, enum event_kind kind, uint64_t id, struct span span) {
    if (__builtin_expect(events_wanted, 0) && !pause_active()) events_add(module, kind, id, span);
}

/* Appends the events of this process as JSON objects with commas between them. `late` is the time in
   seconds from the start of the job to the origin of this process' times. */
void events_text(struct buffer* text, int64_t rank, double late);

/* In the child of a fork. */
void events_after_fork(void);

#endif
