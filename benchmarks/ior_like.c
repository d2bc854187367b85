/* Writes one shared file and reads it back as IOR does with -a MPIIO, independently, in one of several patterns.
   Prints the seconds of the last write, from the first rank's open to the last one's close.
   Arguments: FILE PATTERN SEGMENTS BLOCK TRANSFER END (bytes; END is `sync` where writers sync before they close).

   block      each rank a block, in transfers
   collective the same, with collective calls
   segmented  SEGMENTS times a block of each rank
   views      the same through a file view: a call has a transfer in each of the segments
   random     the transfers of a rank in another order
   sync       block, with a sync after each write
   shifted    segmented, read by the next rank
   rewritten  block, written SEGMENTS times */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static const char* pattern;
static long segments, block, transfer;
static char* data;

static bool is(const char* word) { return strcmp(pattern, word) == 0; }

static void check(int code) {
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void move(MPI_File file, bool writes, MPI_Offset place, long bytes) {
    if (is("collective")) {
        check(writes ? MPI_File_write_at_all(file, place, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                     : MPI_File_read_at_all(file, place, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
        return;
    }
    check(writes ? MPI_File_write_at(file, place, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                 : MPI_File_read_at(file, place, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* The segments of `owner`, one after the other, in transfers. */
static void in_segments(MPI_File file, bool writes, int owner, long count) {
    for (long s = 0; s < count; ++s)
        for (long at = 0; at < block; at += transfer) {
            move(file, writes, ((MPI_Offset)s * ranks + owner) * block + at, transfer);
            if (writes && is("sync")) check(MPI_File_sync(file));
        }
}

/* The transfers of a block in an order that a multiplication gives: 7919 divides no number of transfers here. */
static void in_random_order(MPI_File file, bool writes) {
    const long count = segments * block / transfer;
    for (long i = 0; i < count; ++i)
        move(file, writes, (MPI_Offset)rank * segments * block + i * 7919 % count * transfer, transfer);
}

static void through_view(MPI_File file, bool writes) {
    MPI_Datatype pieces, view;
    check(MPI_Type_vector((int)segments, (int)transfer, (int)(ranks * block), MPI_BYTE, &pieces));
    check(MPI_Type_create_resized(pieces, 0, transfer, &view));
    check(MPI_Type_commit(&view));
    check(MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, view, "native", MPI_INFO_NULL));
    const long calls = block / transfer;
    for (long i = 0; i < calls; ++i) move(file, writes, i * segments * transfer, segments * transfer);
    check(MPI_Type_free(&view));
    check(MPI_Type_free(&pieces));
}

static void pass(const char* name, bool writes, bool syncs) {
    MPI_File file;
    const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
    check(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    if (is("views")) {
        through_view(file, writes);
    } else if (is("random")) {
        in_random_order(file, writes);
    } else {
        const int owner = !writes && is("shifted") ? (rank + 1) % ranks : rank;
        in_segments(file, writes, owner, is("segmented") || is("shifted") ? segments : 1);
    }
    if (writes && syncs) check(MPI_File_sync(file));
    check(MPI_File_close(&file));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 7) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pattern = argv[2];
    segments = atol(argv[3]);
    block = atol(argv[4]);
    transfer = atol(argv[5]);
    const bool syncs = strcmp(argv[6], "sync") == 0;
    data = malloc((size_t)(segments * transfer));
    memset(data, 7, (size_t)(segments * transfer));
    const long writes = is("rewritten") ? segments : 1;
    double start = 0;
    for (long i = 0; i < writes; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        pass(argv[1], true, syncs);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%.6f\n", MPI_Wtime() - start);
    pass(argv[1], false, false);
    free(data);
    MPI_Finalize();
    return 0;
}
