/* For second_tries.py: ranks on two clients of one file system write in one of four modes, several times. A group that
   shares a file (mode some) is on one client, as ranks of a node are.
   Arguments: CLIENT0 CLIENT1 MODE (one, own, some, root) PIECES BYTES REPEATS. Prints ms from the first open to the last
   close, slowest rank; rank R uses client R % 2. Pieces of a shared file are interleaved. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 4 };

static int rank, ranks, pieces, bytes;
static char* data;

static void write_pieces(const char* path, int first, int step) {
    int file = open(path, O_CREAT | O_WRONLY, 0666);
    if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < pieces; ++i)
        if (pwrite(file, data, (size_t)bytes, ((off_t)i * step + first) * bytes) != bytes)
            MPI_Abort(MPI_COMM_WORLD, 1);
    if (fsync(file) != 0 || close(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_by_root(const char* path) {
    char* all = rank == 0 ? malloc((size_t)ranks * bytes) : NULL;
    int file = rank == 0 ? open(path, O_CREAT | O_WRONLY, 0666) : 0;
    if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < pieces; ++i) {
        MPI_Gather(data, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        off_t length = (off_t)ranks * bytes;
        if (rank == 0 && pwrite(file, all, (size_t)length, i * length) != length) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0 && (fsync(file) != 0 || close(file) != 0)) MPI_Abort(MPI_COMM_WORLD, 1);
    free(all);
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 7) MPI_Abort(MPI_COMM_WORLD, 2);
    const char *folder = arguments[1 + rank % 2], *mode = arguments[3];
    pieces = atoi(arguments[4]);
    bytes = atoi(arguments[5]);
    data = calloc(1, (size_t)bytes);
    for (int run = 0; run < atoi(arguments[6]); ++run) {
        char path[4096];
        int own = strcmp(mode, "own") == 0, some = strcmp(mode, "some") == 0;
        int files = own ? ranks : some ? FILES : 1, file = rank % files;
        snprintf(path, sizeof path, "%s/%s-%d-%d", folder, mode, run, file);
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = MPI_Wtime(), slowest = 0;
        if (strcmp(mode, "root") == 0)
            write_by_root(path);
        else
            write_pieces(path, rank / files, ranks / files);
        mine = MPI_Wtime() - mine;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%.3f\n", 1e3 * slowest);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank < files) unlink(path);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
