/* What the four programs share: MPI, checks of results, and the choice of how to do the I/O.
   SPDX-License-Identifier: BSD-3-Clause */
#ifndef ECP_COMMON_H
#define ECP_COMMON_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Whether the I/O is as the study advises, not as it found it. */
static int advised;

static void check(long result, const char* call) {
    if (result >= 0) return;
    fprintf(stderr, "%s failed on rank %d\n", call, rank);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check((long)(call), #call)

/* usage: PROGRAM as-found|advised */
static void start(int* count, char*** arguments) {
    MPI_Init(count, arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* how = *count == 2 ? (*arguments)[1] : "";
    advised = !strcmp(how, "advised");
    if (!advised && strcmp(how, "as-found") != 0) {
        if (rank == 0) fprintf(stderr, "usage: %s as-found|advised\n", (*arguments)[0]);
        MPI_Finalize();
        exit(2);
    }
}

/* Some work between two outputs, so that the ranks come to them together. */
static inline void compute(double* values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = values[i] * 0.99 + (double)rank;
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
