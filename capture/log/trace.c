#include "log/trace.h"

#include <string.h>
#include <unistd.h>

enum { FIRST_CHUNK = 32, LARGEST_CHUNK = 2048, HOST_NAME = 64 };

struct segment {
    int64_t offset, length;
    double start, end;
};

struct chunk {
    struct entry head;
    uint64_t id, next; /* next: place of the following chunk */
    uint32_t write, room;
    _Atomic(uint32_t) used;
    uint32_t unused;
    struct segment segment[];
};

static struct chunk* chunk_at(uint64_t place) {
    return place ? (struct chunk*)((char*)mapping_header() + place) : NULL;
}

static struct chunk* add_chunk(struct trace_chains* chains, enum module module, uint64_t id, bool write) {
    struct chunk* last = chunk_at(chains->last[!write]);
    uint32_t room = last ? last->room * 2 : FIRST_CHUNK;
    if (room > LARGEST_CHUNK) room = LARGEST_CHUNK;
    struct chunk* chunk =
        (struct chunk*)mapping_add(ENTRY_TRACE, module, sizeof *chunk + room * sizeof(struct segment));
    if (!chunk) return NULL;
    chunk->id = id;
    chunk->write = write;
    chunk->room = room;
    atomic_store(&chunk->head.counted, 1);
    mapping_ready(&chunk->head);
    const uint64_t place = (uint64_t)((char*)chunk - (char*)mapping_header());
    if (last) {
        last->next = place;
    } else {
        chains->first[!write] = place;
    }
    chains->last[!write] = place;
    return chunk;
}

void trace_add(struct trace_chains* chains, enum module module, uint64_t id, bool write, int64_t offset,
               int64_t length, struct span span) {
    struct chunk* chunk = chunk_at(chains->last[!write]);
    if (!chunk || atomic_load(&chunk->used) == chunk->room) chunk = add_chunk(chains, module, id, write);
    if (!chunk) return;
    const uint32_t at = atomic_load(&chunk->used);
    chunk->segment[at] = (struct segment){offset, length, span.start, span.end};
    atomic_store_explicit(&chunk->used, at + 1, memory_order_release);
}

static int64_t count(uint64_t place) {
    int64_t sum = 0;
    for (struct chunk* chunk = chunk_at(place); chunk; chunk = chunk_at(chunk->next)) sum += chunk->used;
    return sum;
}

static void append(struct buffer* records, uint64_t place, double late) {
    for (struct chunk* chunk = chunk_at(place); chunk; chunk = chunk_at(chunk->next)) {
        const size_t bytes = chunk->used * sizeof(struct segment);
        struct segment* segments = buffer_add(records, bytes);
        if (!segments) return;
        memcpy(segments, chunk->segment, bytes);
        for (uint32_t i = 0; i < chunk->used; ++i) {
            segments[i].start += late;
            segments[i].end += late;
        }
    }
}

void trace_collect(struct buffer* records, const struct trace_chains* chains, uint64_t id, int64_t rank,
                   double late) {
    struct {
        struct base_record base;
        int64_t shared;
        char host[HOST_NAME];
        int64_t writes, reads;
    } head = {{id, rank}, 0, "", count(chains->first[0]), count(chains->first[1])};
    if (!head.writes && !head.reads) return;
    gethostname(head.host, sizeof head.host - 1);
    buffer_append(records, &head, sizeof head);
    append(records, chains->first[0], late);
    append(records, chains->first[1], late);
}
