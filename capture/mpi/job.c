/* The MPI job: what the ranks share from MPI_Init on, and the log at MPI_Finalize. */
#include "mpi/job.h"

#include <stddef.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/export.h"
#include "core/guard.h"
#include "core/own_io.h"
#include "core/process.h"
#include "core/settings.h"
#include "mpi/abi.h"
#include "mpi/job_log.h"
#include "mpi/transfer.h"

/* A number that no other job on these nodes has, from the moment and the process of rank 0. */
static uint64_t new_job(void) {
    return (uint64_t)clock_ns() << 20 ^ (uint64_t)getpid();
}

int mpi_after_init(int result) {
    if (result != MPI_DONE || !settings.wanted || process_in_job() || !guard_enter()) return result;
    const struct mpi_abi* abi = mpi_abi();
    int rank = 0, ranks = 1;
    uint64_t job = new_job();
    if (!abi) {
        own_warn("unknown kind of MPI: each process is captured by itself");
    } else if (MPI(Comm_rank, mpi_handle, int*)(abi->world, &rank) == MPI_DONE &&
               MPI(Comm_size, mpi_handle, int*)(abi->world, &ranks) == MPI_DONE &&
               MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(&job, sizeof job, abi->byte, 0,
                                                                   abi->world) == MPI_DONE) {
        process_joins_job(rank, ranks, job);
    }
    guard_leave();
    return result;
}

int MPI_Init(int* count, char*** arguments);
EXPORT int MPI_Init(int* count, char*** arguments) {
    return mpi_after_init(MPI(Init, int*, char***)(count, arguments));
}
BOTH_NAMES(Init);

int MPI_Init_thread(int* count, char*** arguments, int required, int* provided);
EXPORT int MPI_Init_thread(int* count, char*** arguments, int required, int* provided) {
    return mpi_after_init(MPI(Init_thread, int*, char***, int, int*)(count, arguments, required, provided));
}
BOTH_NAMES(Init_thread);

void mpi_before_finalize(void) {
    static bool done;
    if (done || !process_in_job() || !guard_enter()) return;
    done = true;
    process_end();
    mpi_log_write();
    guard_leave();
}

int MPI_Finalize(void);
EXPORT int MPI_Finalize(void) {
    mpi_before_finalize();
    return MPI(Finalize, void)();
}
BOTH_NAMES(Finalize);
