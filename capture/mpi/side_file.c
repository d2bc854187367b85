#include "mpi/side_file.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/module.h"
#include "log/events.h"

/* Appends the texts of all ranks to the text of rank 0. */
static void gather(struct buffer* own, mpi_handle comm, int rank, int ranks, struct buffer* text) {
    const struct mpi_abi* abi = mpi_abi();
    struct buffer table = {0};
    int *lengths = buffer_add(&table, 2 * (size_t)ranks * sizeof *lengths), *places = lengths + ranks;
    int length = (int)own->used, sum = 0;
    MPI(Gather, void*, int, mpi_handle, void*, int, mpi_handle, int, mpi_handle)
    (&length, sizeof length, abi->byte, lengths, sizeof length, abi->byte, 0, comm);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        /* Leaves room for the separator between the texts of two ranks. */
        places[i] = sum ? sum + 2 : 0;
        sum = lengths[i] ? places[i] + lengths[i] : sum;
    }
    unsigned char* all_text = rank == 0 ? buffer_add(text, (size_t)sum) : NULL;
    MPI(Gatherv, void*, int, mpi_handle, void*, const int*, const int*, mpi_handle, int, mpi_handle)
    (own->data, length, abi->byte, all_text, lengths, places, abi->byte, 0, comm);
    for (int i = 1; all_text && i < ranks; ++i) {
        if (lengths[i] && places[i]) memcpy(all_text + places[i] - 2, ",\n", 2);
    }
    buffer_release(&table);
}

enum { ROUNDS = 10, TAG = 17 };

static void send(int64_t* number, int to, mpi_handle comm) {
    const struct mpi_abi* abi = mpi_abi();
    MPI(Send, void*, int, mpi_handle, int, int, mpi_handle)(number, 8, abi->byte, to, TAG, comm);
}

static void receive(int64_t* number, int from, mpi_handle comm) {
    const struct mpi_abi* abi = mpi_abi();
    MPI(Recv, void*, int, mpi_handle, int, int, mpi_handle, void*)
    (number, 8, abi->byte, from, TAG, comm, abi->no_status);
}

/* The clock of the job at this process in nanoseconds, as it is used for events. */
static int64_t job_clock(double late) {
    return clock_ns() - clock_origin + (int64_t)(late * 1e9);
}

static void add_clock(struct buffer* text, int rank, double offset, double error) {
    char line[128];
    snprintf(line, sizeof line, "%s  {\"rank\": %d, \"offset\": %.9f, \"error\": %.9f}",
             text->used ? ",\n" : "", rank, offset, error);
    side_add(text, line);
}

/* Rank 0 asks a rank for its time. The answer with the shortest delay is the most exact one (Cristian). */
static void ask_clock(struct buffer* text, int rank, double late, mpi_handle comm) {
    int64_t best = INT64_MAX, offset = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        int64_t remote = 0, before = job_clock(late);
        send(&before, rank, comm);
        receive(&remote, rank, comm);
        const int64_t after = job_clock(late);
        if (after - before >= best) continue;
        best = after - before;
        offset = before + best / 2 - remote;
    }
    add_clock(text, rank, (double)offset * 1e-9, (double)best * 0.5e-9);
}

static void answer_clock(double late, mpi_handle comm) {
    for (int i = 0; i < ROUNDS; ++i) {
        int64_t number = 0;
        receive(&number, 0, comm);
        number = job_clock(late);
        send(&number, 0, comm);
    }
}

static bool part_is_wanted(const struct capture_module* module) {
    return module && (!module->part_wanted || *module->part_wanted);
}

void mpi_side_gather(struct side_texts* own, double late, mpi_handle comm, int rank, int ranks,
                     struct side_texts* texts) {
    const struct mpi_abi* abi = mpi_abi();
    int64_t longest[SIDE_PARTS], wanted[SIDE_PARTS] = {[SIDE_CLOCKS] = events_wanted};
    for (int part = 0; part < SIDE_PARTS; ++part) longest[part] = (int64_t)own->part[part].used;
    for (int part = 0; part < capture_module_count; ++part)
        wanted[part] = part_is_wanted(capture_modules[part]);
    /* A launcher may give only some ranks the whole environment, so the settings of rank 0 are used. */
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(wanted, sizeof wanted, abi->byte, 0, comm);
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, longest, SIDE_PARTS, abi->integer, abi->max, comm);
    for (int part = 0; part < SIDE_CLOCKS; ++part) {
        if (longest[part] && wanted[part]) gather(&own->part[part], comm, rank, ranks, &texts->part[part]);
    }
    if (wanted[SIDE_CLOCKS]) {
        struct buffer* clocks = &texts->part[SIDE_CLOCKS];
        if (rank) answer_clock(late, comm);
        if (!rank) add_clock(clocks, 0, 0, 0);
        for (int other = 1; !rank && other < ranks; ++other) ask_clock(clocks, other, late, comm);
    }
    side_release(own);
}
