/* Three checkpoints of all ranks, each one shared file by collective MPI-IO: 8 blocks of 64 KiB a rank, the blocks of the
   ranks side by side. Between them the ranks compute. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DUMPS = 3, BLOCKS = 8, BLOCK = 65536, COMPUTE_US = 200000 };

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char* block = calloc(1, BLOCK);
    for (int dump = 0; dump < DUMPS; dump++) {
        usleep(COMPUTE_US);
        char name[32];
        snprintf(name, sizeof name, "checkpoint_%04d.dat", dump);
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        for (int i = 0; i < BLOCKS; i++) {
            MPI_Offset offset = ((MPI_Offset)i * ranks + rank) * BLOCK;
            MPI_File_write_at_all(file, offset, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
        }
        MPI_File_close(&file);
    }
    free(block);
    MPI_Finalize();
    return 0;
}
