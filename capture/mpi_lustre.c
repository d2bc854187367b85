#include "mpi_lustre.h"

#include <stdbool.h>
#include <string.h>

enum { ID, RANK, COMPONENTS, STRIPES, HEAD_WORDS, COMPONENT_WORDS = 9 };

/* Records vary in length: the words of the one at this place. */
static size_t words_of(const int64_t* record) {
    return HEAD_WORDS + COMPONENT_WORDS * (size_t)record[COMPONENTS] + (size_t)record[STRIPES];
}

static int64_t* find(struct buffer* records, uint64_t id) {
    for (size_t at = 0; at < records->used;) {
        int64_t* record = (int64_t*)(void*)(records->data + at);
        if ((uint64_t)record[ID] == id) return record;
        at += words_of(record) * sizeof *record;
    }
    return NULL;
}

static int64_t list_ids(const struct buffer* records, struct buffer* ids) {
    int64_t count = 0;
    for (size_t at = 0; at < records->used; ++count) {
        const int64_t* record = (const int64_t*)(const void*)(records->data + at);
        buffer_append(ids, &record[ID], sizeof record[ID]);
        at += words_of(record) * sizeof *record;
    }
    return count;
}

/* Rank 0's record of a file that every rank has stands for all; the others' go. */
static void keep_one(struct buffer* records, uint64_t id, int rank) {
    int64_t* record = find(records, id);
    if (!record) return;
    if (rank == 0) {
        record[RANK] = -1;
        return;
    }
    const size_t bytes = words_of(record) * sizeof *record;
    unsigned char* behind = (unsigned char*)record + bytes;
    memmove(record, behind, (size_t)(records->data + records->used - behind));
    records->used -= bytes;
}

void mpi_lustre_share(struct log_content* content, mpi_handle comm, int rank) {
    const struct mpi_abi* abi = mpi_abi();
    struct buffer* records = &content->records[MODULE_LUSTRE];
    struct buffer ids = {0}, lacking = {0};
    int64_t count = rank == 0 ? list_ids(records, &ids) : 0;
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(&count, 8, abi->byte, 0, comm);
    if (count == 0) return;
    if (rank) buffer_add(&ids, (size_t)count * sizeof(uint64_t));
    unsigned char* lacks = buffer_add(&lacking, (size_t)count);
    const uint64_t* id = (const uint64_t*)(const void*)ids.data;
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(ids.data, (int)(8 * count), abi->byte, 0, comm);
    for (int64_t i = 0; i < count; ++i) lacks[i] = find(records, id[i]) == NULL;
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, lacks, (int)count, abi->byte, abi->bit_or, comm);
    for (int64_t i = 0; i < count; ++i) {
        if (!lacks[i]) keep_one(records, id[i], rank);
    }
    buffer_release(&ids);
    buffer_release(&lacking);
}
