/* A restart and two checkpoints, a file a rank by POSIX calls: each rank reads its file of 12 calls of 20,000 bytes, then
   writes two of them, each followed by fsync. The files to read are written by another run of the program ("prepare"). */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DUMPS = 2, CALLS = 12, SIZE = 20000, COMPUTE_US = 200000 };

static void must(int done) {
    if (!done) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_file(const char* name, char* data, int sync) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    must(file >= 0);
    for (int i = 0; i < CALLS; i++) must(write(file, data, SIZE) == SIZE);
    if (sync) must(fsync(file) == 0);
    must(close(file) == 0);
}

int main(int argc, char** argv) {
    int rank;
    char name[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char* data = calloc(1, SIZE);
    snprintf(name, sizeof name, "restart.%05d", rank);
    if (argc > 1 && strcmp(argv[1], "prepare") == 0) {
        write_file(name, data, 0);
    } else {
        int file = open(name, O_RDONLY);
        must(file >= 0);
        for (int i = 0; i < CALLS; i++) must(read(file, data, SIZE) == SIZE);
        must(close(file) == 0);
        for (int dump = 0; dump < DUMPS; dump++) {
            usleep(COMPUTE_US);
            snprintf(name, sizeof name, "state.%03d.%05d", dump, rank);
            write_file(name, data, 1);
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
