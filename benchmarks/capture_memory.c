/* For capture_memory.py: writes to files and prints what memory the process then has (kB), as the kernel reports it.
   Arguments: FOLDER FILES. Built with mpicc and -DWITH_MPI it is an MPI program. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static char data[4096], text[4096];

static void work(const char* folder, int files, int rank) {
    char name[4096];
    for (int i = 0; i < files; ++i) {
        snprintf(name, sizeof name, "%s/%d.%d", folder, rank, i);
        const int fd = open(name, O_CREAT | O_RDWR, 0600);
        for (int k = 0; k < 100; ++k) {
            if (write(fd, data, (size_t)(k + 1)) < 0) abort();
        }
        close(fd);
    }
}

int main(int count, char** arguments) {
    int rank = 0;
#ifdef WITH_MPI
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    if (count != 3) return 2;
    work(arguments[1], atoi(arguments[2]), rank);
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    if (read(fd, text, sizeof text - 1) < 0) abort();
    if (rank == 0) fputs(text, stderr);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
