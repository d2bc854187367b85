/* All ranks read a shared input of 1 MiB, each its quarter by two calls; rank 0 alone writes four results of 100,000 bytes
   into one file, at the offsets 0, 2, 4 and 6 times that. The input is written by another run ("prepare"). */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INPUT = 1048576, CALLS = 2, RESULTS = 4, RESULT = 100000 };

static void must(int done) {
    if (!done) MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* data = calloc(1, INPUT);
    if (argc > 1 && strcmp(argv[1], "prepare") == 0) {
        int file = open("input.dat", O_CREAT | O_WRONLY, 0644);
        must(rank != 0 || write(file, data, INPUT) == INPUT);
        close(file);
    } else {
        int file = open("input.dat", O_RDONLY);
        size_t part = INPUT / ranks / CALLS;
        for (int i = 0; i < CALLS; i++)
            must(pread(file, data, part, (rank * CALLS + i) * (off_t)part) == (ssize_t)part);
        close(file);
        if (rank == 0) {
            file = open("results.dat", O_CREAT | O_WRONLY, 0644);
            for (int i = 0; i < RESULTS; i++) must(pwrite(file, data, RESULT, 2 * i * (off_t)RESULT) == RESULT);
            close(file);
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
