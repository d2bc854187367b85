/* Writes and reads one shared file as IOR does with -a MPIIO: SEGMENTS times a block of each rank, in transfers,
   independent, then read back by the next rank. Arguments: FILE SEGMENTS BLOCK TRANSFER (bytes). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pass(const char* name, int mode, int shift, long segments, long block, long transfer, char* data) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    for (long s = 0; s < segments; ++s) {
        for (long at = 0; at < block; at += transfer) {
            MPI_Offset place = ((MPI_Offset)s * ranks + (rank + shift) % ranks) * block + at;
            if (mode & MPI_MODE_WRONLY)
                MPI_File_write_at(file, place, data, (int)transfer, MPI_BYTE, MPI_STATUS_IGNORE);
            else
                MPI_File_read_at(file, place, data, (int)transfer, MPI_BYTE, MPI_STATUS_IGNORE);
        }
    }
    MPI_File_close(&file);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    long transfer = atol(argv[4]);
    char* data = malloc((size_t)transfer);
    memset(data, 7, (size_t)transfer);
    pass(argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, 0, atol(argv[2]), atol(argv[3]), transfer, data);
    MPI_Barrier(MPI_COMM_WORLD);
    pass(argv[1], MPI_MODE_RDONLY, 1, atol(argv[2]), atol(argv[3]), transfer, data);
    free(data);
    MPI_Finalize();
    return 0;
}
