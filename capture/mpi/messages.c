#include "mpi/messages.h"

#include <stdio.h>
#include <string.h>

#include "core/guard.h"
#include "core/mapping.h"
#include "core/process.h"
#include "core/settings.h"
#include "log/log.h"
#include "log/side_file.h"

enum { CHUNK_MESSAGES = 256 };

struct message {
    uint64_t comm;
    double start, end;
    int32_t size, peer, tag;
    _Atomic(uint32_t) flow; /* set last */
};

struct chunk {
    struct entry head;
    _Atomic(uint32_t) used; /* may exceed the room */
    uint32_t unused;
    struct message message[CHUNK_MESSAGES];
};

bool messages_wanted;

static _Atomic(struct chunk*) current;
static spin_lock chunk_lock;
static _Atomic(bool) lost;

void messages_start(void) {
    messages_wanted = settings_flag("WORKALIKE_CAPTURE_EVENTS");
}

void messages_after_fork(void) {
    atomic_store(&current, NULL);
    atomic_store(&lost, false);
    chunk_lock = 0;
}

/* A chunk with room; `full` is the chunk that has none left. */
static struct chunk* next_chunk(struct chunk* full) {
    spin_acquire(&chunk_lock);
    struct chunk* chunk = atomic_load(&current);
    if (chunk == full) {
        chunk = process_begin() ? (struct chunk*)mapping_add(ENTRY_MESSAGES, MODULE_MESSAGES, sizeof *chunk)
                                : NULL;
        if (chunk) {
            mapping_ready(&chunk->head);
            atomic_store(&current, chunk);
        }
    }
    spin_release(&chunk_lock);
    return chunk;
}

void message_add(enum flow flow, struct group group, int peer, int tag, struct span span) {
    struct chunk* chunk = atomic_load(&current);
    for (;;) {
        const uint32_t at = chunk ? atomic_fetch_add(&chunk->used, 1) : CHUNK_MESSAGES;
        if (at < CHUNK_MESSAGES) {
            struct message* message = &chunk->message[at];
            *message = (struct message){group.key, span.start, span.end, group.size, peer, tag, 0};
            atomic_store_explicit(&message->flow, flow, memory_order_release);
            return;
        }
        if (chunk) atomic_store(&chunk->used, CHUNK_MESSAGES);
        chunk = next_chunk(chunk);
        if (!chunk) {
            atomic_store(&lost, true);
            return;
        }
    }
}

/* FNV-1a over the ranks in the job of a communicator's ranks. Communicators of the same ranks in the same
   order share a key: their calls are taken as those of one. */
static uint64_t key_of(const int* ranks, int size) {
    uint64_t key = UINT64_C(14695981039346656037);
    for (size_t at = 0; at < (size_t)size * sizeof *ranks; ++at) {
        key = (key ^ ((const unsigned char*)ranks)[at]) * UINT64_C(1099511628211);
    }
    return key >> 1; /* readers of JSON have signed numbers */
}

bool message_group(mpi_handle comm, struct group* group, int* peer) {
    const struct mpi_abi* abi = mpi_abi();
    int between = 0, size = 0;
    if (!abi || MPI(Comm_test_inter, mpi_handle, int*)(comm, &between) != MPI_DONE ||
        MPI(Comm_size, mpi_handle, int*)(comm, &size) != MPI_DONE) {
        return false;
    }
    if (between) {
        atomic_store(&lost, true);
        return false;
    }
    if (size < 2) return false;
    struct buffer memory = {0};
    int *own = buffer_add(&memory, 2 * (size_t)size * sizeof *own), *job = own + size;
    mpi_handle members = 0, everyone = 0;
    bool known = own && MPI(Comm_group, mpi_handle, mpi_handle*)(comm, &members) == MPI_DONE &&
                 MPI(Comm_group, mpi_handle, mpi_handle*)(abi->world, &everyone) == MPI_DONE;
    for (int i = 0; known && i < size; ++i) own[i] = i;
    known = known && MPI(Group_translate_ranks, mpi_handle, int, const int*, mpi_handle, int*)(
                         members, size, own, everyone, job) == MPI_DONE;
    if (known) {
        *group = (struct group){key_of(job, size), size};
        if (*peer >= size) *peer = -1;
        if (*peer >= 0) *peer = job[*peer];
    } else {
        atomic_store(&lost, true);
    }
    if (members) MPI(Group_free, mpi_handle*)(&members);
    if (everyone) MPI(Group_free, mpi_handle*)(&everyone);
    buffer_release(&memory);
    return known;
}

int message_rank(mpi_handle members, int rank) {
    mpi_handle everyone = 0;
    int job = -1;
    if (rank < 0 || MPI(Comm_group, mpi_handle, mpi_handle*)(mpi_abi()->world, &everyone) != MPI_DONE)
        return -1;
    if (MPI(Group_translate_ranks, mpi_handle, int, const int*, mpi_handle, int*)(members, 1, &rank, everyone,
                                                                                  &job) != MPI_DONE) {
        job = -1;
    }
    MPI(Group_free, mpi_handle*)(&everyone);
    return job;
}

void message_note(enum flow flow, mpi_handle comm, int root, int tag, int64_t start, int result) {
    if (!message_wanted() || result != MPI_DONE) return;
    const struct span span = clock_span(start);
    if (!process_counts() || !process_in_job() || !guard_enter()) return;
    struct group group;
    if (flow == MESSAGE_UNSEEN) {
        atomic_store(&lost, true);
    } else if (message_group(comm, &group, &root)) {
        message_add(flow, group, root, tag, span);
    }
    guard_leave();
}

static void add_message(struct buffer* text, const struct message* message, int64_t rank, double late) {
    static const char* const words[] = {"", "all", "from-root", "to-root", "prefix", "send", "receive"};
    char line[240];
    snprintf(
        line, sizeof line,
        "%s  {\"rank\": %lld, \"flow\": \"%s\", \"comm\": %lld, \"size\": %d, \"peer\": %d, \"tag\": %d, "
        "\"start\": %.9f, \"end\": %.9f}",
        text->used ? ",\n" : "", (long long)rank, words[message->flow], (long long)message->comm,
        message->size, message->peer, message->tag, message->start + late, message->end + late);
    side_add(text, line);
}

void messages_log(struct log_content* content, const struct job_times* job, int64_t rank,
                  struct buffer* part) {
    (void)content;
    const double late = log_seconds_late(job);
    if (!messages_wanted) return;
    for (struct entry* entry = mapping_next(NULL); entry; entry = mapping_next(entry)) {
        if (entry->kind != ENTRY_MESSAGES || !atomic_load(&entry->ready)) continue;
        const struct chunk* chunk = (const struct chunk*)entry;
        for (uint32_t i = 0; i < CHUNK_MESSAGES; ++i) {
            if (atomic_load(&chunk->message[i].flow)) add_message(part, &chunk->message[i], rank, late);
        }
    }
    if (atomic_load(&lost)) {
        char line[80];
        snprintf(line, sizeof line, "%s  {\"rank\": %lld, \"flow\": \"unseen\"}", part->used ? ",\n" : "",
                 (long long)rank);
        side_add(part, line);
    }
}
