/* Messages from one rank to another. A send orders from its start on, and a receive from its completion. */
#include <string.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/guard.h"
#include "core/process.h"
#include "mpi/abi.h"
#include "mpi/messages.h"
#include "mpi/receives.h"
#include "mpi/transfer.h"

static int note_send(mpi_handle comm, int to, int tag, int64_t start, int result) {
    if (message_wanted() && to >= 0) message_note(MESSAGE_SEND, comm, to, tag, start, result);
    return result;
}

#define SEND(name)                                                                                          \
    int MPI_##name(const void* data, int count, mpi_handle type, int to, int tag, mpi_handle comm);         \
    EXPORT int MPI_##name(const void* data, int count, mpi_handle type, int to, int tag, mpi_handle comm) { \
        const int64_t start = message_wanted() ? clock_ns() : 0;                                            \
        return note_send(comm, to, tag, start,                                                              \
                         MPI(name, const void*, int, mpi_handle, int, int, mpi_handle)(data, count, type,   \
                                                                                       to, tag, comm));     \
    }                                                                                                       \
    BOTH_NAMES(name)

#define SEND_LATER(name)                                                                                  \
    int MPI_##name(const void* data, int count, mpi_handle type, int to, int tag, mpi_handle comm,        \
                   mpi_handle* request);                                                                  \
    EXPORT int MPI_##name(const void* data, int count, mpi_handle type, int to, int tag, mpi_handle comm, \
                          mpi_handle* request) {                                                          \
        const int64_t start = message_wanted() ? clock_ns() : 0;                                          \
        return note_send(comm, to, tag, start,                                                            \
                         MPI(name, const void*, int, mpi_handle, int, int, mpi_handle, mpi_handle*)(      \
                             data, count, type, to, tag, comm, request));                                 \
    }                                                                                                     \
    BOTH_NAMES(name)

SEND(Send);
SEND(Ssend);
SEND(Bsend);
SEND(Rsend);
SEND_LATER(Isend);
SEND_LATER(Issend);
SEND_LATER(Ibsend);
SEND_LATER(Irsend);

int MPI_Recv(void* data, int count, mpi_handle type, int from, int tag, mpi_handle comm, void* status);
EXPORT int MPI_Recv(void* data, int count, mpi_handle type, int from, int tag, mpi_handle comm,
                    void* status) {
    struct mpi_status own;
    const int64_t start = message_wanted() ? clock_ns() : 0;
    void* used = message_wanted() ? receive_status(status, &own) : status;
    const int result = MPI(Recv, void*, int, mpi_handle, int, int, mpi_handle, void*)(data, count, type, from,
                                                                                      tag, comm, used);
    if (message_wanted()) receive_note(comm, used, start, result);
    return result;
}
BOTH_NAMES(Recv);

int MPI_Irecv(void* data, int count, mpi_handle type, int from, int tag, mpi_handle comm,
              mpi_handle* request);
EXPORT int MPI_Irecv(void* data, int count, mpi_handle type, int from, int tag, mpi_handle comm,
                     mpi_handle* request) {
    const int64_t start = message_wanted() ? clock_ns() : 0;
    const int result = MPI(Irecv, void*, int, mpi_handle, int, int, mpi_handle, mpi_handle*)(
        data, count, type, from, tag, comm, request);
    if (message_wanted() && result == MPI_DONE && mpi_abi()) receive_pend(comm, from, request, start);
    return result;
}
BOTH_NAMES(Irecv);

int MPI_Sendrecv(const void* out, int count, mpi_handle type, int to, int tag, void* in, int count2,
                 mpi_handle type2, int from, int tag2, mpi_handle comm, void* status);
EXPORT int MPI_Sendrecv(const void* out, int count, mpi_handle type, int to, int tag, void* in, int count2,
                        mpi_handle type2, int from, int tag2, mpi_handle comm, void* status) {
    struct mpi_status own;
    const int64_t start = message_wanted() ? clock_ns() : 0;
    void* used = message_wanted() ? receive_status(status, &own) : status;
    const int result =
        MPI(Sendrecv, const void*, int, mpi_handle, int, int, void*, int, mpi_handle, int, int, mpi_handle,
            void*)(out, count, type, to, tag, in, count2, type2, from, tag2, comm, used);
    note_send(comm, to, tag, start, result);
    if (message_wanted()) receive_note(comm, used, start, result);
    return result;
}
BOTH_NAMES(Sendrecv);

int MPI_Sendrecv_replace(void* data, int count, mpi_handle type, int to, int tag, int from, int tag2,
                         mpi_handle comm, void* status);
EXPORT int MPI_Sendrecv_replace(void* data, int count, mpi_handle type, int to, int tag, int from, int tag2,
                                mpi_handle comm, void* status) {
    struct mpi_status own;
    const int64_t start = message_wanted() ? clock_ns() : 0;
    void* used = message_wanted() ? receive_status(status, &own) : status;
    const int result = MPI(Sendrecv_replace, void*, int, mpi_handle, int, int, int, int, mpi_handle, void*)(
        data, count, type, to, tag, from, tag2, comm, used);
    note_send(comm, to, tag, start, result);
    if (message_wanted()) receive_note(comm, used, start, result);
    return result;
}
BOTH_NAMES(Sendrecv_replace);
