/* For stat_and_open.py: the slowest rank's time, in ms, to stat a file, to open it, and to open a file together and
   write a few bytes of each rank collectively. Arguments: FILE REPEATS BYTES HINTS (0 or 1). */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[4096];
static int bytes;
static MPI_Info info = MPI_INFO_NULL;
static char* data;

static void stat_it(int rank) {
    struct stat found;
    (void)rank;
    if (stat(name, &found) != 0) abort();
}

static void open_it(int rank) {
    (void)rank;
    close(open(name, O_RDONLY));
}

static void open_and_write(int rank) {
    char path[sizeof name + 8];
    MPI_File file;
    snprintf(path, sizeof path, "%s.small", name);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file) != MPI_SUCCESS)
        abort();
    MPI_File_write_at_all(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The paper's figures are of all processes at once; the slowest counts. */
static void measure(const char* word, void (*act)(int), int repeats) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < repeats; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        double mine = MPI_Wtime(), slowest = 0;
        act(rank);
        mine = MPI_Wtime() - mine;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) fprintf(stderr, "%s %.4f\n", word, slowest * 1e3);
    }
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    if (count != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(name, sizeof name, "%s", arguments[1]);
    bytes = atoi(arguments[3]);
    data = calloc(1, (size_t)bytes);
    if (atoi(arguments[4])) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "romio_no_indep_rw", "true");
        MPI_Info_set(info, "cb_nodes", "4");
    }
    measure("stat", stat_it, atoi(arguments[2]));
    measure("open", open_it, atoi(arguments[2]));
    measure("write", open_and_write, atoi(arguments[2]));
    MPI_Finalize();
    return 0;
}
