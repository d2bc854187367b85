/* MPI-IO. Each function stands for both its names, MPI_ and PMPI_: the Fortran bindings of Open MPI, and
   profiling tools in front of us, call the second. */
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/process.h"
#include "mpi/abi.h"
#include "mpi/record.h"

static struct handle_table files;

#ifdef CAPTURE_STATIC
/* PMPI_ stays the library's. */
#define BOTH_NAMES(name) _Static_assert(1, "")
#else
#define BOTH_NAMES(name) EXPORT_ALIAS(PMPI_##name, MPI_##name)
#endif

static int size_of(mpi_handle comm) {
    int size = 1;
    MPI(Comm_size, mpi_handle, int*)(comm, &size);
    return size;
}

static void note_opened(mpi_handle comm, const char* name, int mode, mpi_handle info, void* file,
                        int64_t start) {
    const struct span span = clock_span(start);
    if (!process_counts() || !guard_enter()) return;
    struct mpiio_record* record = mpiio_record_of(name);
    if (record) {
        mpiio_count_open(record, size_of(comm) > 1, mode, !mpi_is_no_info(info), span);
        handle_enter(&files, (intptr_t)file, record);
    }
    guard_leave();
}

int MPI_File_open(mpi_handle comm, const char* name, int mode, mpi_handle info, void** file);
EXPORT int MPI_File_open(mpi_handle comm, const char* name, int mode, mpi_handle info, void** file) {
    const int64_t start = clock_ns();
    const int result =
        MPI(File_open, mpi_handle, const char*, int, mpi_handle, void**)(comm, name, mode, info, file);
    if (result == MPI_DONE) note_opened(comm, name, mode, info, *file, start);
    return result;
}
BOTH_NAMES(File_open);

int MPI_File_close(void** file);
EXPORT int MPI_File_close(void** file) {
    struct mpiio_record* record = handle_remove(&files, (intptr_t)*file);
    const int64_t start = clock_ns();
    const int result = MPI(File_close, void**)(file);
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_close(record, clock_span(start));
        guard_leave();
    }
    return result;
}
BOTH_NAMES(File_close);

int MPI_File_sync(void* file);
EXPORT int MPI_File_sync(void* file) {
    struct mpiio_record* record = handle_find(&files, (intptr_t)file);
    const int64_t start = clock_ns();
    const int result = MPI(File_sync, void*)(file);
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_sync(record, clock_span(start));
        guard_leave();
    }
    return result;
}
BOTH_NAMES(File_sync);

int MPI_File_set_view(void* file, mpi_count at, mpi_handle etype, mpi_handle type, const char* words,
                      mpi_handle info);
EXPORT int MPI_File_set_view(void* file, mpi_count at, mpi_handle etype, mpi_handle type, const char* words,
                             mpi_handle info) {
    struct mpiio_record* record = handle_find(&files, (intptr_t)file);
    const int64_t start = clock_ns();
    const int result = MPI(File_set_view, void*, mpi_count, mpi_handle, mpi_handle, const char*, mpi_handle)(
        file, at, etype, type, words, info);
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_view(record, !mpi_is_no_info(info), clock_span(start));
        guard_leave();
    }
    return result;
}
BOTH_NAMES(File_set_view);

/* Sizes are those asked for, in 64 bits: a call may move more than 2 GiB. */
static int end(void* file, enum mpiio_counter counter, mpi_count at, mpi_count count, mpi_handle type,
               int64_t start, int result) {
    struct mpiio_record* record = handle_find(&files, (intptr_t)file);
    if (!record || result != MPI_DONE || !guard_enter()) return result;
    const struct span span = clock_span(start);
    mpi_count size = 0;
    MPI(Type_size_x, mpi_handle, mpi_count*)(type, &size);
    mpiio_count_transfer(record, counter, at, size * count, span);
    guard_leave();
    return result;
}

/* The four shapes of a transfer: with or without an offset; with something at the end (a status or a request)
   or nothing. Those of MPI 4 with large counts (_c) have the same shapes. */
#define TRANSFER(name, integer, counter)                                                                  \
    int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type, void* last);            \
    EXPORT int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type, void* last) {    \
        const int64_t start = clock_ns();                                                                 \
        return end(                                                                                       \
            file, counter, NO_OFFSET, count, type, start,                                                 \
            MPI(File_##name, void*, void*, integer, mpi_handle, void*)(file, memory, count, type, last)); \
    }                                                                                                     \
    BOTH_NAMES(File_##name)

#define TRANSFER_AT(name, integer, counter)                                                                  \
    int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type, void* last); \
    EXPORT int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type,       \
                               void* last) {                                                                 \
        const int64_t start = clock_ns();                                                                    \
        return end(file, counter, at, count, type, start,                                                    \
                   MPI(File_##name, void*, mpi_count, void*, integer, mpi_handle, void*)(                    \
                       file, at, memory, count, type, last));                                                \
    }                                                                                                        \
    BOTH_NAMES(File_##name)

#define BEGIN(name, integer, counter)                                                               \
    int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type);                  \
    EXPORT int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type) {          \
        const int64_t start = clock_ns();                                                           \
        return end(file, counter, NO_OFFSET, count, type, start,                                    \
                   MPI(File_##name, void*, void*, integer, mpi_handle)(file, memory, count, type)); \
    }                                                                                               \
    BOTH_NAMES(File_##name)

#define BEGIN_AT(name, integer, counter)                                                                    \
    int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type);            \
    EXPORT int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type) {    \
        const int64_t start = clock_ns();                                                                   \
        return end(                                                                                         \
            file, counter, at, count, type, start,                                                          \
            MPI(File_##name, void*, mpi_count, void*, integer, mpi_handle)(file, at, memory, count, type)); \
    }                                                                                                       \
    BOTH_NAMES(File_##name)

#define ALL(direction, kind, suffix, integer)                              \
    TRANSFER(direction##suffix, integer, MPIIO_INDEP_##kind);              \
    TRANSFER(direction##_all##suffix, integer, MPIIO_COLL_##kind);         \
    TRANSFER(direction##_shared##suffix, integer, MPIIO_INDEP_##kind);     \
    TRANSFER(direction##_ordered##suffix, integer, MPIIO_COLL_##kind);     \
    TRANSFER(i##direction##suffix, integer, MPIIO_NB_##kind);              \
    TRANSFER(i##direction##_all##suffix, integer, MPIIO_NB_##kind);        \
    TRANSFER(i##direction##_shared##suffix, integer, MPIIO_NB_##kind);     \
    TRANSFER_AT(direction##_at##suffix, integer, MPIIO_INDEP_##kind);      \
    TRANSFER_AT(direction##_at_all##suffix, integer, MPIIO_COLL_##kind);   \
    TRANSFER_AT(i##direction##_at##suffix, integer, MPIIO_NB_##kind);      \
    TRANSFER_AT(i##direction##_at_all##suffix, integer, MPIIO_NB_##kind);  \
    BEGIN(direction##_all_begin##suffix, integer, MPIIO_SPLIT_##kind);     \
    BEGIN(direction##_ordered_begin##suffix, integer, MPIIO_SPLIT_##kind); \
    BEGIN_AT(direction##_at_all_begin##suffix, integer, MPIIO_SPLIT_##kind)

ALL(read, READS, , int);
ALL(write, WRITES, , int);
ALL(read, READS, _c, mpi_count);
ALL(write, WRITES, _c, mpi_count);
