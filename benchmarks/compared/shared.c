/* Ranks write a shared file by MPI-IO; the argument names the one thing that is done otherwise. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 16, STEPS = 8 };
static char data[2 * BLOCK];
static const char* change = "";

static int is(const char* name) {
    return strcmp(change, name) == 0;
}

static void put(MPI_File file, MPI_Offset offset, int size) {
    MPI_Status status;
    MPI_Request request;
    if (is("independent"))
        MPI_File_write_at(file, offset, data, size, MPI_BYTE, &status);
    else if (is("split")) {
        MPI_File_write_at_all_begin(file, offset, data, size, MPI_BYTE);
        MPI_File_write_at_all_end(file, data, &status);
    } else if (is("nonblocking")) {
        MPI_File_iwrite_at(file, offset, data, size, MPI_BYTE, &request);
        MPI_Wait(&request, &status);
    } else
        MPI_File_write_at_all(file, offset, data, size, MPI_BYTE, &status);
}

int main(int argc, char** argv) {
    int rank, ranks;
    MPI_File file;
    MPI_Info info = MPI_INFO_NULL;
    char name[100] = "shared.dat";
    if (argc > 1) change = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm comm = MPI_COMM_WORLD;
    if (is("file-per-rank")) {
        snprintf(name, sizeof name, "own.%d.dat", rank);
        comm = MPI_COMM_SELF;
    }
    if (is("hint")) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "cb_buffer_size", "1048576");
    }
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    if (is("view")) MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    int size = is("double-size") ? 2 * BLOCK : BLOCK;
    for (int step = 0; step < STEPS; step++) {
        put(file, ((MPI_Offset)step * ranks + rank) * size, size);
        if (is("sync-each")) MPI_File_sync(file);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
