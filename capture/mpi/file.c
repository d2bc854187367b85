/* MPI-IO. Each function has both names, MPI_ and PMPI_: Open MPI's Fortran bindings, and profiling tools
   that are called before us, use the second. */
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/process.h"
#include "mpi/abi.h"
#include "mpi/record.h"
#include "mpi/transfer.h"

static struct handle_table files;

static int size_of(mpi_handle comm) {
    int size = 1;
    MPI(Comm_size, mpi_handle, int*)(comm, &size);
    return size;
}

void mpi_note_opened(mpi_handle comm, const char* name, int mode, mpi_handle info, void* file,
                     int64_t start) {
    const struct span span = clock_span(start);
    if (mpi_nested() || !process_counts() || !guard_enter()) return;
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
    if (result == MPI_DONE) mpi_note_opened(comm, name, mode, info, *file, start);
    return result;
}
BOTH_NAMES(File_open);

struct mpiio_record* mpi_record_of(void* file) {
    return mpi_nested() ? NULL : handle_find(&files, (intptr_t)file);
}

struct mpiio_record* mpi_forget(void* file) {
    return mpi_nested() ? NULL : handle_remove(&files, (intptr_t)file);
}

int mpi_end_close(struct mpiio_record* record, int64_t start, int result) {
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_close(record, clock_span(start));
        guard_leave();
    }
    return result;
}

int mpi_end_sync(struct mpiio_record* record, int64_t start, int result) {
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_sync(record, clock_span(start));
        guard_leave();
    }
    return result;
}

int mpi_end_view(struct mpiio_record* record, mpi_handle info, int64_t start, int result) {
    if (record && result == MPI_DONE && guard_enter()) {
        mpiio_count_view(record, !mpi_is_no_info(info), clock_span(start));
        guard_leave();
    }
    return result;
}

int MPI_File_close(void** file);
EXPORT int MPI_File_close(void** file) {
    struct mpiio_record* record = mpi_forget(*file);
    const int64_t start = clock_ns();
    return mpi_end_close(record, start, MPI(File_close, void**)(file));
}
BOTH_NAMES(File_close);

int MPI_File_sync(void* file);
EXPORT int MPI_File_sync(void* file) {
    struct mpiio_record* record = mpi_record_of(file);
    const int64_t start = clock_ns();
    return mpi_end_sync(record, start, MPI(File_sync, void*)(file));
}
BOTH_NAMES(File_sync);

int MPI_File_set_view(void* file, mpi_count at, mpi_handle etype, mpi_handle type, const char* representation,
                      mpi_handle info);
EXPORT int MPI_File_set_view(void* file, mpi_count at, mpi_handle etype, mpi_handle type,
                             const char* representation, mpi_handle info) {
    struct mpiio_record* record = mpi_record_of(file);
    const int64_t start = clock_ns();
    const int result = MPI(File_set_view, void*, mpi_count, mpi_handle, mpi_handle, const char*, mpi_handle)(
        file, at, etype, type, representation, info);
    return mpi_end_view(record, info, start, result);
}
BOTH_NAMES(File_set_view);

/* Sizes are those requested, in 64 bits, since a call may move more than 2 GiB. */
int mpi_end_transfer(void* file, enum mpiio_counter counter, mpi_count at, mpi_count count, mpi_handle type,
                     int64_t start, int result) {
    struct mpiio_record* record = mpi_record_of(file);
    if (!record || result != MPI_DONE || !guard_enter()) return result;
    const struct span span = clock_span(start);
    mpi_count size = 0;
    MPI(Type_size_x, mpi_handle, mpi_count*)(type, &size);
    mpiio_count_transfer(record, counter, at, size * count, span);
    guard_leave();
    return result;
}

ALL(read, READS, , int);
ALL(write, WRITES, , int);
