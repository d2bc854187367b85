/* Known MPI-IO operations on every rank; test_mpi.py has the expected counters. */
#include <fcntl.h>
#include <signal.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char memory[100000];

static void must(int condition) {
    if (!condition) abort();
}

int main(int count, char** arguments) {
    int rank, ranks;
    MPI_File file;
    MPI_Info info;
    MPI_Request request;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info_create(&info);

    /* A file of all ranks: independent, collective, nonblocking and split writes, then a view and reads. */
    MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    for (int i = 0; i < 3; ++i) {
        MPI_File_write_at(file, (i * ranks + rank) * 1000L, memory, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_write_at_all(file, 20000 + rank * 400L, memory, 100, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 40000 + rank * 10L, memory, 10, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, 60000 + rank * 50L, memory, 50, MPI_BYTE);
    MPI_File_write_at_all_end(file, memory, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, memory, 200, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);

    /* A file of all ranks but rank 0, a file of each rank, and one of rank 1 only. */
    MPI_Comm others;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &others);
    if (rank) {
        MPI_File_open(others, "others", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        MPI_File_write(file, memory, rank, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    char name[32];
    snprintf(name, sizeof name, "own.%d", rank);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    must(write(fd, memory, 100 * (rank + 1)) == 100 * (rank + 1));
    close(fd);

    /* A file that all ranks open with POSIX; each writes a different amount. */
    fd = open("posix", O_CREAT | O_RDWR, 0600);
    must(pwrite(fd, memory, 1000 * (rank + 1), 10000L * rank) == 1000 * (rank + 1));
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (getenv("ABORT") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    if (getenv("KILL") && rank == 1) kill(getpid(), 9);
    if (getenv("KILL")) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
