/* What the MPI-IO calls of C (file.c, large.c) and Fortran (fortran.h) have in common. */
#ifndef WORKALIKE_CAPTURE_MPI_TRANSFER_H
#define WORKALIKE_CAPTURE_MPI_TRANSFER_H

#include "core/clock.h"
#include "core/export.h"
#include "core/guard.h"
#include "mpi/abi.h"
#include "mpi/record.h"

#ifdef CAPTURE_STATIC /* PMPI_ remains the library's */
#define BOTH_NAMES(name) _Static_assert(1, "")
#else
#define BOTH_NAMES(name) EXPORT_ALIAS(PMPI_##name, MPI_##name)
#endif

#ifdef CAPTURE_STATIC
/* Greater than 0 while a Fortran binding is running. It may call the C function, which is then no call of
   the application. */
extern _Thread_local int mpi_fortran_depth;
extern _Thread_local uintptr_t mpi_fortran_place; /* the stack position where it was called */
static inline void mpi_fortran_enter(void) {
    if (!mpi_fortran_depth++) mpi_fortran_place = stack_place();
}
static inline bool mpi_nested(void) {
    return mpi_fortran_depth > 0;
}
#else
static inline bool mpi_nested(void) {
    return false;
}
#endif

void mpi_note_opened(mpi_handle comm, const char* name, int mode, mpi_handle info, void* file, int64_t start);
struct mpiio_record* mpi_record_of(void* file);
/* The same, but removes the handle, which is about to be closed. */
struct mpiio_record* mpi_forget(void* file);
/* Each counts a call that began at `start`, and returns `result`. */
int mpi_end_close(struct mpiio_record* record, int64_t start, int result);
int mpi_end_sync(struct mpiio_record* record, int64_t start, int result);
int mpi_end_view(struct mpiio_record* record, mpi_handle info, int64_t start, int result);
int mpi_end_transfer(void* file, enum mpiio_counter counter, mpi_count at, mpi_count count, mpi_handle type,
                     int64_t start, int result);

/* The four forms of a transfer: with or without an offset, and with a last argument (a status or a
   request) or none. The transfers of MPI 4 with large counts (_c) have the same forms. */
#define TRANSFER(name, integer, counter)                                                                  \
    int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type, void* last);            \
    EXPORT int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type, void* last) {    \
        const int64_t start = clock_ns();                                                                 \
        return mpi_end_transfer(                                                                          \
            file, counter, NO_OFFSET, count, type, start,                                                 \
            MPI(File_##name, void*, void*, integer, mpi_handle, void*)(file, memory, count, type, last)); \
    }                                                                                                     \
    BOTH_NAMES(File_##name)

#define TRANSFER_AT(name, integer, counter)                                                                  \
    int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type, void* last); \
    EXPORT int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type,       \
                               void* last) {                                                                 \
        const int64_t start = clock_ns();                                                                    \
        return mpi_end_transfer(file, counter, at, count, type, start,                                       \
                                MPI(File_##name, void*, mpi_count, void*, integer, mpi_handle, void*)(       \
                                    file, at, memory, count, type, last));                                   \
    }                                                                                                        \
    BOTH_NAMES(File_##name)

#define BEGIN(name, integer, counter)                                                        \
    int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type);           \
    EXPORT int MPI_File_##name(void* file, void* memory, integer count, mpi_handle type) {   \
        const int64_t start = clock_ns();                                                    \
        return mpi_end_transfer(                                                             \
            file, counter, NO_OFFSET, count, type, start,                                    \
            MPI(File_##name, void*, void*, integer, mpi_handle)(file, memory, count, type)); \
    }                                                                                        \
    BOTH_NAMES(File_##name)

#define BEGIN_AT(name, integer, counter)                                                                    \
    int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type);            \
    EXPORT int MPI_File_##name(void* file, mpi_count at, void* memory, integer count, mpi_handle type) {    \
        const int64_t start = clock_ns();                                                                   \
        return mpi_end_transfer(                                                                            \
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

#endif
