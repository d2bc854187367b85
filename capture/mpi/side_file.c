#include "mpi/side_file.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/settings.h"
#include "log/events.h"
#include "stdio/sizes.h"

/* Appends what all ranks have to say to rank 0's text. */
static void gather(struct buffer* own, mpi_handle comm, int rank, int ranks, struct buffer* text) {
    const struct mpi_abi* abi = mpi_abi();
    struct buffer table = {0};
    int64_t most = (int64_t)own->used;
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, &most, 1, abi->integer, abi->max, comm);
    if (most == 0) return;
    int *lengths = buffer_add(&table, 2 * (size_t)ranks * sizeof *lengths), *places = lengths + ranks;
    int length = (int)own->used, sum = 0;
    MPI(Gather, void*, int, mpi_handle, void*, int, mpi_handle, int, mpi_handle)
    (&length, sizeof length, abi->byte, lengths, sizeof length, abi->byte, 0, comm);
    for (int i = 0; rank == 0 && i < ranks; ++i) {
        /* Room for what stands between the texts of two ranks. */
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

/* What the clock of the job shows at this process, in nanoseconds: the one that events are written in. */
static int64_t job_clock(double late) {
    return clock_ns() - clock_origin + (int64_t)(late * 1e9);
}

static void add_clock(struct buffer* text, int rank, double offset, double error) {
    char line[128];
    snprintf(line, sizeof line, "%s  {\"rank\": %d, \"offset\": %.9f, \"error\": %.9f}",
             text->used ? ",\n" : "", rank, offset, error);
    extra_add(text, line);
}

/* Rank 0 asks a rank for its time; the quickest of some answers tells most (Cristian). */
static void ask_clock(struct buffer* text, int rank, double late, mpi_handle comm) {
    int64_t best = INT64_MAX, offset = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        int64_t there = 0, before = job_clock(late);
        send(&before, rank, comm);
        receive(&there, rank, comm);
        const int64_t after = job_clock(late);
        if (after - before >= best) continue;
        best = after - before;
        offset = before + best / 2 - there;
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

void mpi_extra_gather(struct log_content* content, const struct job_times* times, mpi_handle comm, int rank,
                      int ranks, struct extra_texts* texts) {
    struct buffer own[EXTRA_PARTS] = {{0}};
    const double late = log_seconds_late(times);
    extra_text(&own[EXTRA_HDF5], &content->records[MODULE_EXTRA]);
    buffer_release(&content->records[MODULE_EXTRA]);
    gather(&own[EXTRA_HDF5], comm, rank, ranks, &texts->part[EXTRA_HDF5]);
    if (settings.sizes) {
        sizes_text(&own[EXTRA_SIZES], &content->records[MODULE_SIZES]);
        gather(&own[EXTRA_SIZES], comm, rank, ranks, &texts->part[EXTRA_SIZES]);
    }
    buffer_release(&content->records[MODULE_SIZES]);
    if (settings.events) {
        struct buffer* clocks = &texts->part[EXTRA_CLOCKS];
        events_text(&own[EXTRA_EVENTS], rank, late);
        gather(&own[EXTRA_EVENTS], comm, rank, ranks, &texts->part[EXTRA_EVENTS]);
        if (rank) answer_clock(late, comm);
        if (!rank) add_clock(clocks, 0, 0, 0);
        for (int other = 1; !rank && other < ranks; ++other) ask_clock(clocks, other, late, comm);
    }
    for (int part = 0; part < EXTRA_PARTS; ++part) buffer_release(&own[part]);
}
