/* Two ranks do what their texts say, word by word: see test_conflicts_captured.py.
   usage: ordered posix|mpi KINDS TEXT0 TEXT1; KINDS has w or r of each rank. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[100];
static int rank, by_mpi, fd = -1;
static MPI_File file;
static MPI_Request request;

static void must(int condition) {
    if (!condition) abort();
}

static void access_file(int write_it) {
    const long at = 50L * rank;
    if (by_mpi && write_it) MPI_File_write_at(file, at, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    if (by_mpi && !write_it) MPI_File_read_at(file, at, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!by_mpi) must((write_it ? pwrite(fd, data, 100, at) : pread(fd, data, 100, at)) >= 0);
}

static void perform(const char* word, int write_it) {
    int number = 0, other = 1 - rank, flag = 0, which[2], done = 0;
    if (!strcmp(word, "open")) {
        if (by_mpi)
            MPI_File_open(MPI_COMM_SELF, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        if (!by_mpi) must((fd = open("data", O_CREAT | O_RDWR, 0600)) >= 0);
    } else if (!strcmp(word, "close")) {
        if (by_mpi) MPI_File_close(&file);
        if (!by_mpi) must(close(fd) == 0);
    } else if (!strcmp(word, "sync")) {
        if (by_mpi) MPI_File_sync(file);
        if (!by_mpi) must(fsync(fd) == 0);
    } else if (!strcmp(word, "extend")) { /* a read of nothing touches nothing */
        must(ftruncate(fd, 200) == 0);
    } else if (!strcmp(word, "x")) {
        access_file(write_it);
    } else if (!strcmp(word, "|")) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(word, "bcast0")) {
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (!strcmp(word, "reduce0")) {
        MPI_Reduce(&rank, &number, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (!strcmp(word, "reduce1")) {
        MPI_Reduce(&rank, &number, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    } else if (!strcmp(word, "scan")) {
        MPI_Scan(&rank, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (!strcmp(word, "dup|")) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Allreduce(&rank, &number, 1, MPI_INT, MPI_SUM, copy);
        MPI_Comm_free(&copy);
    } else if (!strcmp(word, "send")) {
        MPI_Send(&rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD);
    } else if (!strcmp(word, "isend")) {
        MPI_Isend(&rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "recv")) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "irecv")) {
        MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    } else if (!strcmp(word, "irecv_freed")) { /* MPI completes a receive after its communicator is freed */
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 5, copy, &request);
        MPI_Comm_free(&copy);
    } else if (!strcmp(word, "send_freed")) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Send(&rank, 1, MPI_INT, other, 5, copy);
        MPI_Comm_free(&copy);
    } else if (!strcmp(word, "wait")) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "waitall")) {
        MPI_Request both[2] = {MPI_REQUEST_NULL, request};
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else if (!strcmp(word, "waitsome")) {
        MPI_Request both[2] = {MPI_REQUEST_NULL, request};
        MPI_Waitsome(2, both, &done, which, MPI_STATUSES_IGNORE);
    } else if (!strcmp(word, "test")) {
        while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "swap")) {
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 5, &number, 1, MPI_INT, other, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "ibarrier")) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "iallreduce")) {
        MPI_Iallreduce(&rank, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "iallgatherv")) {
        const int counts[2] = {1, 1}, places[2] = {0, 1};
        MPI_Iallgatherv(&rank, 1, MPI_INT, which, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(word, "alltoallw")) {
        const int counts[2] = {1, 1}, places[2] = {0, sizeof(int)}, own[2] = {rank, rank};
        const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
        MPI_Alltoallw(own, counts, places, types, which, counts, places, types, MPI_COMM_WORLD);
        must(which[0] == 0 && which[1] == 1);
    } else if (!strcmp(word, "neighbours")) {
        MPI_Comm ring;
        const int ranks = 2, periodic = 1;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
        MPI_Neighbor_allgather(&rank, 1, MPI_INT, which, 1, MPI_INT, ring);
        must(which[0] == other && which[1] == other);
        MPI_Comm_free(&ring);
    } else if (!strcmp(word, "persistent")) {
        if (rank == 0) MPI_Send_init(&rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
        if (rank == 1) MPI_Recv_init(&number, 1, MPI_INT, other, 5, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (!strcmp(word, "one-sided")) {
        MPI_Win window;
        int* room;
        MPI_Win_allocate(sizeof *room, sizeof *room, MPI_INFO_NULL, MPI_COMM_WORLD, &room, &window);
        MPI_Win_lock_all(0, window);
        if (rank == 0) {
            MPI_Put(&number, 1, MPI_INT, other, 0, 1, MPI_INT, window);
            MPI_Win_flush(other, window);
        }
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    } else if (!strcmp(word, "split|")) {
        MPI_Comm made;
        MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &made);
        MPI_Comm_free(&made);
    } else {
        abort();
    }
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    by_mpi = !strcmp(arguments[1], "mpi");
    const int write_it = arguments[2][rank] == 'w';
    for (char* word = strtok(arguments[3 + rank], " "); word; word = strtok(NULL, " "))
        perform(word, write_it);
    MPI_Finalize();
    return 0;
}
