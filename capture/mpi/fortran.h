/* MPI's Fortran bindings for programs that the capture library is linked into. Inside a shared MPI library
   they call C functions that the linker cannot wrap. This file is included once for each set of names, and
   SUFFIX ends a name. */
#include <stddef.h>
#include <string.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/paths.h"
#include "mpi/fortran_handles.h"
#include "mpi/job.h"
#include "mpi/messages.h"
#include "mpi/transfer.h"

#define PASTE(name, suffix) mpi_##name##suffix
#define WITH_SUFFIX(name, suffix) PASTE(name, suffix)
#define NAMED(name) WITH_SUFFIX(name, SUFFIX)
#define ORIGINAL(symbol) REAL(symbol) /* after NAMED is expanded */

/* Fortran 2008 allows the error argument to be left out. */
static int fortran_result(const int* error) {
    return error ? *error : MPI_DONE;
}

/* How the ranks of a Fortran program wait for each other stays within the MPI library. */
static void mpi_calls_unseen(int result) {
    if (message_wanted()) message_note(MESSAGE_UNSEEN, 0, -1, 0, clock_ns(), result);
}

void NAMED(init)(int* error);
EXPORT void NAMED(init)(int* error) {
    ORIGINAL(NAMED(init))(error);
    mpi_after_init(fortran_result(error));
    mpi_calls_unseen(fortran_result(error));
}

void NAMED(init_thread)(int* required, int* provided, int* error);
EXPORT void NAMED(init_thread)(int* required, int* provided, int* error) {
    ORIGINAL(NAMED(init_thread))(required, provided, error);
    mpi_after_init(fortran_result(error));
    mpi_calls_unseen(fortran_result(error));
}

void NAMED(finalize)(int* error);
EXPORT void NAMED(finalize)(int* error) {
    mpi_before_finalize();
    ORIGINAL(NAMED(finalize))(error);
}

/* Texts of Fortran are padded with blanks, and their lengths follow the arguments. */
static bool trimmed_text(const char* text, size_t length, char* room, size_t bytes) {
    while (length && text[length - 1] == ' ') --length;
    if (length >= bytes) return false;
    memcpy(room, text, length);
    room[length] = '\0';
    return true;
}

void NAMED(file_open)(int* comm, char* name, int* mode, int* info, int* file, int* error, size_t length);
EXPORT void NAMED(file_open)(int* comm, char* name, int* mode, int* info, int* file, int* error,
                             size_t length) {
    char path[PATH_MAX];
    const int64_t start = clock_ns();
    mpi_fortran_enter();
    ORIGINAL(NAMED(file_open))(comm, name, mode, info, file, error, length);
    --mpi_fortran_depth;
    if (fortran_result(error) != MPI_DONE || !trimmed_text(name, length, path, sizeof path)) return;
    mpi_note_opened(comm_of(*comm), path, *mode, info_of(*info), file_of(*file), start);
}

void NAMED(file_close)(int* file, int* error);
EXPORT void NAMED(file_close)(int* file, int* error) {
    struct mpiio_record* record = mpi_forget(file_of(*file));
    const int64_t start = clock_ns();
    mpi_fortran_enter();
    ORIGINAL(NAMED(file_close))(file, error);
    --mpi_fortran_depth;
    mpi_end_close(record, start, fortran_result(error));
}

void NAMED(file_sync)(int* file, int* error);
EXPORT void NAMED(file_sync)(int* file, int* error) {
    const int64_t start = clock_ns();
    mpi_fortran_enter();
    ORIGINAL(NAMED(file_sync))(file, error);
    --mpi_fortran_depth;
    mpi_end_sync(mpi_record_of(file_of(*file)), start, fortran_result(error));
}

void NAMED(file_set_view)(int* file, mpi_count* at, int* etype, int* type, char* representation, int* info,
                          int* error, size_t length);
EXPORT void NAMED(file_set_view)(int* file, mpi_count* at, int* etype, int* type, char* representation,
                                 int* info, int* error, size_t length) {
    const int64_t start = clock_ns();
    mpi_fortran_enter();
    ORIGINAL(NAMED(file_set_view))(file, at, etype, type, representation, info, error, length);
    --mpi_fortran_depth;
    mpi_end_view(mpi_record_of(file_of(*file)), info_of(*info), start, fortran_result(error));
}

static void end_fortran_transfer(const int* file, enum mpiio_counter counter, mpi_count at, const int* count,
                                 const int* type, int64_t start, const int* error) {
    mpi_end_transfer(file_of(*file), counter, at, *count, type_of(*type), start, fortran_result(error));
}

#define MOVING(name, counter, place, parameters, arguments)                    \
    void NAMED(file_##name) parameters;                                        \
    EXPORT void NAMED(file_##name) parameters {                                \
        const int64_t start = clock_ns();                                      \
        mpi_fortran_enter();                                                   \
        ORIGINAL(NAMED(file_##name)) arguments;                                \
        --mpi_fortran_depth;                                                   \
        end_fortran_transfer(file, counter, place, count, type, start, error); \
    }                                                                          \
    _Static_assert(1, "")

/* Transfers with a status or a request or neither, each with or without an offset. */
#define MOVE(name, counter)                                                         \
    MOVING(name, counter, NO_OFFSET,                                                \
           (int* file, void* memory, int* count, int* type, int* last, int* error), \
           (file, memory, count, type, last, error))
#define MOVE_AT(name, counter)                                                                     \
    MOVING(name, counter, *at,                                                                     \
           (int* file, mpi_count* at, void* memory, int* count, int* type, int* last, int* error), \
           (file, at, memory, count, type, last, error))
#define MOVE_BEGIN(name, counter)                                                                  \
    MOVING(name, counter, NO_OFFSET, (int* file, void* memory, int* count, int* type, int* error), \
           (file, memory, count, type, error))
#define MOVE_BEGIN_AT(name, counter)                                                                        \
    MOVING(name, counter, *at, (int* file, mpi_count* at, void* memory, int* count, int* type, int* error), \
           (file, at, memory, count, type, error))

#define EVERY(direction, kind)                                 \
    MOVE(direction, MPIIO_INDEP_##kind);                       \
    MOVE(direction##_all, MPIIO_COLL_##kind);                  \
    MOVE(direction##_shared, MPIIO_INDEP_##kind);              \
    MOVE(direction##_ordered, MPIIO_COLL_##kind);              \
    MOVE(i##direction, MPIIO_NB_##kind);                       \
    MOVE(i##direction##_all, MPIIO_NB_##kind);                 \
    MOVE(i##direction##_shared, MPIIO_NB_##kind);              \
    MOVE_AT(direction##_at, MPIIO_INDEP_##kind);               \
    MOVE_AT(direction##_at_all, MPIIO_COLL_##kind);            \
    MOVE_AT(i##direction##_at, MPIIO_NB_##kind);               \
    MOVE_AT(i##direction##_at_all, MPIIO_NB_##kind);           \
    MOVE_BEGIN(direction##_all_begin, MPIIO_SPLIT_##kind);     \
    MOVE_BEGIN(direction##_ordered_begin, MPIIO_SPLIT_##kind); \
    MOVE_BEGIN_AT(direction##_at_all_begin, MPIIO_SPLIT_##kind)

EVERY(read, READS);
EVERY(write, WRITES);
