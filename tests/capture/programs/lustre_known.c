/* Each rank writes to a shared file and to one of its own. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void write_to(const char* name) {
    const int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) != 0) abort();
}

int main(int argument_count, char** arguments) {
    char name[32];
    int rank;
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "v1.%d", rank);
    write_to(name);
    write_to("v1.shared");
    write_to("pfl.shared");
    write_to("grown");
    MPI_Finalize();
    return 0;
}
