/* Opens files, then times the bare sequence of a log (slowest rank) and MPI_Finalize (rank 0), in ms: for
   capture_shutdown.py. Arguments: files shared by all ranks, files of each rank. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 744 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void touch(const char* kind, int rank, int count) {
    char name[64];
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "f.%s.%d.%d", kind, rank, i);
        const int fd = open(name, O_CREAT | O_RDWR, 0600);
        if (pwrite(fd, "x", 1, rank) != 1) abort();
        close(fd);
    }
}

/* What a log cannot do without: reduce, open, write, close; with as much data as there are records. */
static double bare(int rank, int shared, int own) {
    const int bytes = RECORD * (shared ? shared : 1), part = RECORD * own + 512;
    char *records = calloc(1, (size_t)bytes), *sum = calloc(1, (size_t)bytes), *mine = calloc(1, (size_t)part);
    MPI_File file;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    MPI_Reduce(records, sum, bytes / 8, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, "bare", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * part, mine, part, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return now() - start;
}

int main(int count, char** arguments) {
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int shared = atoi(arguments[1]), own = atoi(arguments[2]);
    touch("shared", 0, shared);
    touch("own", rank, own);
    double slowest = 0, mine = bare(rank, shared, own);
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now();
    MPI_Finalize();
    if (rank == 0) fprintf(stderr, "bare %.2f\nfinalize %.2f\n", slowest, now() - start);
    return 0;
}
