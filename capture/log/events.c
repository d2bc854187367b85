#include "log/events.h"

#include <stdio.h>

#include "core/module.h"
#include "core/records.h"
#include "core/settings.h"
#include "log/side_file.h"

enum { CHUNK_EVENTS = 256 };

struct event {
    uint64_t id;
    double start, end;
    uint32_t module;
    _Atomic(uint32_t) kind; /* set last: an event without it was incomplete when the process died */
};

struct chunk {
    struct entry head;
    _Atomic(uint32_t) used; /* may exceed the room */
    uint32_t room;
    struct event event[CHUNK_EVENTS];
};

bool events_wanted;

static _Atomic(struct chunk*) current;
static spin_lock chunk_lock;

void events_start(void) {
    events_wanted = settings_flag("WORKALIKE_CAPTURE_EVENTS");
}

/* A chunk with room; `full` is the chunk that has none left. */
static struct chunk* next_chunk(struct chunk* full) {
    spin_acquire(&chunk_lock);
    struct chunk* chunk = atomic_load(&current);
    if (chunk == full) {
        chunk = (struct chunk*)mapping_add(ENTRY_EVENTS, MODULE_EVENTS, sizeof *chunk);
        if (chunk) {
            chunk->room = CHUNK_EVENTS;
            atomic_store(&chunk->head.counted, 1);
            mapping_ready(&chunk->head);
            atomic_store(&current, chunk);
        }
    }
    spin_release(&chunk_lock);
    return chunk;
}

void events_add(enum module module, enum event_kind kind, uint64_t id, struct span span) {
    struct chunk* chunk = atomic_load(&current);
    for (;;) {
        const uint32_t at = chunk ? atomic_fetch_add(&chunk->used, 1) : CHUNK_EVENTS;
        if (at < CHUNK_EVENTS) {
            struct event* event = &chunk->event[at];
            event->id = id;
            event->start = span.start;
            event->end = span.end;
            event->module = module;
            atomic_store_explicit(&event->kind, kind, memory_order_release);
            return;
        }
        if (chunk) atomic_store(&chunk->used, CHUNK_EVENTS);
        chunk = next_chunk(chunk);
        if (!chunk) return;
    }
}

static void add_event(struct buffer* text, const struct event* event, int64_t rank, double late) {
    static const char* const words[] = {"", "open", "close", "sync"};
    char line[160];
    const char* name = records_name(event->id);
    const struct record_kind* kind = module_kind((enum module)event->module);
    side_add(text, text->used ? ",\n  {\"file\": " : "  {\"file\": ");
    side_add_quoted(text, name ? name : "");
    snprintf(line, sizeof line,
             ", \"rank\": %lld, \"module\": \"%s\", \"event\": \"%s\", \"start\": %.9f, \"end\": %.9f}",
             (long long)rank, kind ? kind->word : "", words[event->kind], event->start + late,
             event->end + late);
    side_add(text, line);
}

void events_text(struct buffer* text, int64_t rank, double late) {
    for (struct entry* entry = mapping_next(NULL); entry; entry = mapping_next(entry)) {
        if (entry->kind != ENTRY_EVENTS || !atomic_load(&entry->ready)) continue;
        const struct chunk* chunk = (const struct chunk*)entry;
        for (uint32_t i = 0; i < CHUNK_EVENTS; ++i) {
            const struct event* event = &chunk->event[i];
            if (atomic_load(&event->kind)) add_event(text, event, rank, late);
        }
    }
}

void events_after_fork(void) {
    atomic_store(&current, NULL);
    chunk_lock = 0;
}
