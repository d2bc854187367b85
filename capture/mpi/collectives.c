/* Collective calls, as what they order: all ranks before all, the root before the others, or the others
   before the root. MPI promises this only by the data that moves, which is enough here. */
#include "core/clock.h"
#include "core/export.h"
#include "mpi/abi.h"
#include "mpi/messages.h"
#include "mpi/transfer.h"

#define OPEN(...) __VA_ARGS__

/* A wrapper of MPI_`name`: its parameters, their types and their names, each in parentheses. */
#define ORDERS(name, flow, comm, root, parameters, types, arguments)            \
    int MPI_##name parameters;                                                  \
    EXPORT int MPI_##name parameters {                                          \
        const int64_t start = message_wanted() ? clock_ns() : 0;                \
        const int result = MPI(name, OPEN types) arguments;                     \
        if (message_wanted()) message_note(flow, comm, root, 0, start, result); \
        return result;                                                          \
    }                                                                           \
    BOTH_NAMES(name)

ORDERS(Barrier, MESSAGE_ALL, comm, -1, (mpi_handle comm), (mpi_handle), (comm));
ORDERS(Bcast, MESSAGE_FROM_ROOT, comm, root,
       (void* data, int count, mpi_handle type, int root, mpi_handle comm),
       (void*, int, mpi_handle, int, mpi_handle), (data, count, type, root, comm));
ORDERS(Reduce, MESSAGE_TO_ROOT, comm, root,
       (const void* from, void* to, int count, mpi_handle type, mpi_handle op, int root, mpi_handle comm),
       (const void*, void*, int, mpi_handle, mpi_handle, int, mpi_handle),
       (from, to, count, type, op, root, comm));
ORDERS(Allreduce, MESSAGE_ALL, comm, -1,
       (const void* from, void* to, int count, mpi_handle type, mpi_handle op, mpi_handle comm),
       (const void*, void*, int, mpi_handle, mpi_handle, mpi_handle), (from, to, count, type, op, comm));
ORDERS(Scan, MESSAGE_PREFIX, comm, -1,
       (const void* from, void* to, int count, mpi_handle type, mpi_handle op, mpi_handle comm),
       (const void*, void*, int, mpi_handle, mpi_handle, mpi_handle), (from, to, count, type, op, comm));
ORDERS(Exscan, MESSAGE_PREFIX, comm, -1,
       (const void* from, void* to, int count, mpi_handle type, mpi_handle op, mpi_handle comm),
       (const void*, void*, int, mpi_handle, mpi_handle, mpi_handle), (from, to, count, type, op, comm));
ORDERS(Reduce_scatter, MESSAGE_ALL, comm, -1,
       (const void* from, void* to, const int* counts, mpi_handle type, mpi_handle op, mpi_handle comm),
       (const void*, void*, const int*, mpi_handle, mpi_handle, mpi_handle),
       (from, to, counts, type, op, comm));
ORDERS(Reduce_scatter_block, MESSAGE_ALL, comm, -1,
       (const void* from, void* to, int count, mpi_handle type, mpi_handle op, mpi_handle comm),
       (const void*, void*, int, mpi_handle, mpi_handle, mpi_handle), (from, to, count, type, op, comm));

ORDERS(Gather, MESSAGE_TO_ROOT, comm, root,
       (const void* from, int count, mpi_handle type, void* to, int count2, mpi_handle type2, int root,
        mpi_handle comm),
       (const void*, int, mpi_handle, void*, int, mpi_handle, int, mpi_handle),
       (from, count, type, to, count2, type2, root, comm));
ORDERS(Gatherv, MESSAGE_TO_ROOT, comm, root,
       (const void* from, int count, mpi_handle type, void* to, const int* counts, const int* places,
        mpi_handle type2, int root, mpi_handle comm),
       (const void*, int, mpi_handle, void*, const int*, const int*, mpi_handle, int, mpi_handle),
       (from, count, type, to, counts, places, type2, root, comm));
ORDERS(Scatter, MESSAGE_FROM_ROOT, comm, root,
       (const void* from, int count, mpi_handle type, void* to, int count2, mpi_handle type2, int root,
        mpi_handle comm),
       (const void*, int, mpi_handle, void*, int, mpi_handle, int, mpi_handle),
       (from, count, type, to, count2, type2, root, comm));
ORDERS(Scatterv, MESSAGE_FROM_ROOT, comm, root,
       (const void* from, const int* counts, const int* places, mpi_handle type, void* to, int count,
        mpi_handle type2, int root, mpi_handle comm),
       (const void*, const int*, const int*, mpi_handle, void*, int, mpi_handle, int, mpi_handle),
       (from, counts, places, type, to, count, type2, root, comm));
ORDERS(Allgather, MESSAGE_ALL, comm, -1,
       (const void* from, int count, mpi_handle type, void* to, int count2, mpi_handle type2,
        mpi_handle comm),
       (const void*, int, mpi_handle, void*, int, mpi_handle, mpi_handle),
       (from, count, type, to, count2, type2, comm));
ORDERS(Allgatherv, MESSAGE_ALL, comm, -1,
       (const void* from, int count, mpi_handle type, void* to, const int* counts, const int* places,
        mpi_handle type2, mpi_handle comm),
       (const void*, int, mpi_handle, void*, const int*, const int*, mpi_handle, mpi_handle),
       (from, count, type, to, counts, places, type2, comm));
ORDERS(Alltoall, MESSAGE_ALL, comm, -1,
       (const void* from, int count, mpi_handle type, void* to, int count2, mpi_handle type2,
        mpi_handle comm),
       (const void*, int, mpi_handle, void*, int, mpi_handle, mpi_handle),
       (from, count, type, to, count2, type2, comm));
ORDERS(Alltoallv, MESSAGE_ALL, comm, -1,
       (const void* from, const int* counts, const int* places, mpi_handle type, void* to, const int* counts2,
        const int* places2, mpi_handle type2, mpi_handle comm),
       (const void*, const int*, const int*, mpi_handle, void*, const int*, const int*, mpi_handle,
        mpi_handle),
       (from, counts, places, type, to, counts2, places2, type2, comm));

/* Who belongs to the new communicator follows from the colours of all ranks. */
ORDERS(Comm_split, MESSAGE_ALL, comm, -1, (mpi_handle comm, int color, int key, mpi_handle* made),
       (mpi_handle, int, int, mpi_handle*), (comm, color, key, made));
