#include "mpi/receives.h"

#include <string.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/guard.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/spin.h"
#include "mpi/messages.h"
#include "mpi/transfer.h"

/* Posted receives by their request, in sets of a few places. */
enum { SETS = 1024, WAYS = 8 };
struct pending {
    mpi_handle request;
    struct group group;
    int peer; /* a rank in the job, or -1: any */
    mpi_handle
        members; /* of the communicator, which may be freed before the receive is complete; 0: not needed */
    int64_t start;
};
static struct pending table[SETS][WAYS];
static spin_lock table_lock;
static _Atomic(int) pending_count;

/* Open MPI has pointers as handles, and the null status of address 0; MPICH has ints. */
static bool open_mpi(void) {
    return !mpi_abi()->no_status;
}

static mpi_handle handle_at(const void* handles, size_t at) {
    return open_mpi() ? ((const mpi_handle*)handles)[at] : (mpi_handle)((const int*)handles)[at];
}

static size_t status_size(void) {
    return open_mpi() ? 4 * sizeof(int) + sizeof(size_t) : 5 * sizeof(int);
}

void* receive_status(void* status, struct mpi_status* own) {
    const struct mpi_abi* abi = mpi_abi();
    return abi && status == abi->no_status ? own : status;
}

void receive_note(mpi_handle comm, const void* status, int64_t start, int result) {
    const int* word = status;
    if (!mpi_abi() || result != MPI_DONE) return;
    if (!open_mpi()) word += 2;
    /* The source is negative where there is no message (MPI_PROC_NULL). */
    if (word[0] >= 0) message_note(MESSAGE_RECEIVE, comm, word[0], word[1], start, result);
}

static struct pending* set_of(mpi_handle request) {
    return table[((uint64_t)request * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

void receive_pend(mpi_handle comm, int from, const mpi_handle* request, int64_t start) {
    const int null_process = open_mpi() ? -2 : -1;
    if (from == null_process || !process_counts() || !process_in_job() || !guard_enter()) return;
    const mpi_handle handle = handle_at(request, 0);
    struct pending pending = {.request = handle, .peer = from, .start = start};
    bool kept = !message_group(comm, &pending.group, &pending.peer);
    if (!kept && pending.peer < 0) MPI(Comm_group, mpi_handle, mpi_handle*)(comm, &pending.members);
    spin_acquire(&table_lock);
    struct pending* set = set_of(handle);
    for (int way = 0; way < WAYS && !kept; ++way) {
        if (set[way].start && set[way].request != handle) continue;
        if (!set[way].start) atomic_fetch_add(&pending_count, 1);
        set[way] = pending;
        kept = true;
    }
    spin_release(&table_lock);
    guard_leave();
    if (!kept) message_note(MESSAGE_UNSEEN, comm, -1, 0, start, MPI_DONE);
}

static bool take(mpi_handle request, struct pending* found) {
    bool taken = false;
    if (!guard_enter()) return false;
    spin_acquire(&table_lock);
    struct pending* set = set_of(request);
    for (int way = 0; way < WAYS && !taken; ++way) {
        if (!set[way].start || set[way].request != request) continue;
        *found = set[way];
        set[way].start = 0;
        taken = true;
        atomic_fetch_sub(&pending_count, 1);
    }
    spin_release(&table_lock);
    guard_leave();
    return taken;
}

static void complete(mpi_handle request, const void* status) {
    struct pending found;
    const int* word = status;
    if (!take(request, &found)) return;
    const struct span span = clock_span(found.start);
    if (!process_counts() || !guard_enter()) return;
    if (!open_mpi()) word += 2;
    int peer = found.peer;
    if (peer < 0 && found.members) peer = message_rank(found.members, word[0]);
    if (peer >= 0) message_add(MESSAGE_RECEIVE, found.group, peer, word[1], span);
    if (found.members) MPI(Group_free, mpi_handle*)(&found.members);
    guard_leave();
}

static bool watching(void) {
    return message_wanted() && atomic_load_explicit(&pending_count, memory_order_relaxed) > 0 && mpi_abi();
}

/* The requests of a call before it sets them to null, and the statuses that it fills. */
struct batch {
    struct buffer handles, own;
    void* statuses;
    bool watched;
};

static void batch_begin(struct batch* batch, size_t count, const void* requests, void* statuses) {
    *batch = (struct batch){.statuses = statuses, .watched = watching() && count};
    if (!batch->watched) return;
    buffer_append(&batch->handles, requests, count * (open_mpi() ? sizeof(mpi_handle) : sizeof(int)));
    if (statuses == mpi_abi()->no_status) {
        batch->statuses = buffer_add(&batch->own, count * status_size());
        if (!batch->statuses) batch->statuses = statuses;
    }
    batch->watched = !batch->handles.failed && batch->statuses != mpi_abi()->no_status;
}

/* Request `request` of the batch is complete, with status number `status`. */
static void batch_complete(struct batch* batch, int request, int status) {
    if (!batch->watched || request < 0) return;
    complete(handle_at(batch->handles.data, (size_t)request),
             (const char*)batch->statuses + (size_t)status * status_size());
}

static void batch_end(struct batch* batch) {
    buffer_release(&batch->handles);
    buffer_release(&batch->own);
}

int MPI_Wait(void* request, void* status);
EXPORT int MPI_Wait(void* request, void* status) {
    struct batch batch;
    batch_begin(&batch, 1, request, status);
    const int result = MPI(Wait, void*, void*)(request, batch.statuses);
    if (result == MPI_DONE) batch_complete(&batch, 0, 0);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Wait);

int MPI_Test(void* request, int* done, void* status);
EXPORT int MPI_Test(void* request, int* done, void* status) {
    struct batch batch;
    batch_begin(&batch, 1, request, status);
    const int result = MPI(Test, void*, int*, void*)(request, done, batch.statuses);
    if (result == MPI_DONE && *done) batch_complete(&batch, 0, 0);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Test);

int MPI_Waitall(int count, void* requests, void* statuses);
EXPORT int MPI_Waitall(int count, void* requests, void* statuses) {
    struct batch batch;
    batch_begin(&batch, (size_t)count, requests, statuses);
    const int result = MPI(Waitall, int, void*, void*)(count, requests, batch.statuses);
    for (int i = 0; result == MPI_DONE && i < count; ++i) batch_complete(&batch, i, i);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Waitall);

int MPI_Testall(int count, void* requests, int* done, void* statuses);
EXPORT int MPI_Testall(int count, void* requests, int* done, void* statuses) {
    struct batch batch;
    batch_begin(&batch, (size_t)count, requests, statuses);
    const int result = MPI(Testall, int, void*, int*, void*)(count, requests, done, batch.statuses);
    for (int i = 0; result == MPI_DONE && *done && i < count; ++i) batch_complete(&batch, i, i);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Testall);

int MPI_Waitany(int count, void* requests, int* which, void* status);
EXPORT int MPI_Waitany(int count, void* requests, int* which, void* status) {
    struct batch batch;
    batch_begin(&batch, (size_t)count, requests, status);
    const int result = MPI(Waitany, int, void*, int*, void*)(count, requests, which, batch.statuses);
    if (result == MPI_DONE && *which < count) batch_complete(&batch, *which, 0);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Waitany);

int MPI_Testany(int count, void* requests, int* which, int* done, void* status);
EXPORT int MPI_Testany(int count, void* requests, int* which, int* done, void* status) {
    struct batch batch;
    batch_begin(&batch, (size_t)count, requests, status);
    const int result =
        MPI(Testany, int, void*, int*, int*, void*)(count, requests, which, done, batch.statuses);
    if (result == MPI_DONE && *done && *which < count) batch_complete(&batch, *which, 0);
    batch_end(&batch);
    return result;
}
BOTH_NAMES(Testany);

#define SOME(name)                                                                                  \
    int MPI_##name(int count, void* requests, int* done, int* which, void* statuses);               \
    EXPORT int MPI_##name(int count, void* requests, int* done, int* which, void* statuses) {       \
        struct batch batch;                                                                         \
        batch_begin(&batch, (size_t)count, requests, statuses);                                     \
        const int result =                                                                          \
            MPI(name, int, void*, int*, int*, void*)(count, requests, done, which, batch.statuses); \
        for (int i = 0; result == MPI_DONE && i < *done; ++i) batch_complete(&batch, which[i], i);  \
        batch_end(&batch);                                                                          \
        return result;                                                                              \
    }                                                                                               \
    BOTH_NAMES(name)

SOME(Waitsome);
SOME(Testsome);

int MPI_Request_free(void* request);
EXPORT int MPI_Request_free(void* request) {
    struct pending found;
    if (watching() && take(handle_at(request, 0), &found) && found.members) {
        MPI(Group_free, mpi_handle*)(&found.members);
    }
    return MPI(Request_free, void*)(request);
}
BOTH_NAMES(Request_free);
