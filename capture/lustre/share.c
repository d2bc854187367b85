#include "lustre/share.h"

#include <stdbool.h>
#include <string.h>

#include "lustre/layout.h"

enum { ID, RANK };

static int64_t* find(struct buffer* records, uint64_t id) {
    for (size_t at = 0; at < records->used;) {
        int64_t* record = (int64_t*)(void*)(records->data + at);
        if ((uint64_t)record[ID] == id) return record;
        at += lustre_words(record) * sizeof *record;
    }
    return NULL;
}

/* What ranks compare of a file's record. A process that closed the file early may have seen fewer
   components than those that wrote later. */
struct seen {
    uint64_t id;
    int64_t words;
};

static int64_t list_records(const struct buffer* records, struct buffer* all) {
    int64_t count = 0;
    for (size_t at = 0; at < records->used; ++count) {
        const int64_t* record = (const int64_t*)(const void*)(records->data + at);
        const struct seen seen = {(uint64_t)record[ID], (int64_t)lustre_words(record)};
        buffer_append(all, &seen, sizeof seen);
        at += (size_t)seen.words * sizeof *record;
    }
    return count;
}

static bool has_record_of_same_size(struct buffer* records, const struct seen* seen) {
    const int64_t* record = find(records, seen->id);
    return record && (int64_t)lustre_words(record) == seen->words;
}

/* If all ranks have equal records of a file, rank 0's record is kept and the others are removed. */
static void keep_one(struct buffer* records, uint64_t id, int rank) {
    int64_t* record = find(records, id);
    if (!record) return;
    if (rank == 0) {
        record[RANK] = -1;
        return;
    }
    const size_t bytes = lustre_words(record) * sizeof *record;
    unsigned char* after = (unsigned char*)record + bytes;
    memmove(record, after, (size_t)(records->data + records->used - after));
    records->used -= bytes;
}

void lustre_share(struct log_content* content, mpi_handle comm, int rank) {
    const struct mpi_abi* abi = mpi_abi();
    struct buffer* records = &content->records[MODULE_LUSTRE];
    struct buffer all = {0}, lacking = {0};
    int64_t count = rank == 0 ? list_records(records, &all) : 0;
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(&count, 8, abi->byte, 0, comm);
    if (count == 0) return;
    if (rank) buffer_add(&all, (size_t)count * sizeof(struct seen));
    unsigned char* lacks = buffer_add(&lacking, (size_t)count);
    const struct seen* seen = (const struct seen*)(const void*)all.data;
    const int bytes = (int)((size_t)count * sizeof *seen);
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(all.data, bytes, abi->byte, 0, comm);
    for (int64_t i = 0; i < count; ++i) lacks[i] = !has_record_of_same_size(records, &seen[i]);
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, lacks, (int)count, abi->byte, abi->bit_or, comm);
    for (int64_t i = 0; i < count; ++i) {
        if (!lacks[i]) keep_one(records, seen[i].id, rank);
    }
    buffer_release(&all);
    buffer_release(&lacking);
}
