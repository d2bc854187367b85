#include "mpi/reduce.h"

#include <string.h>

#include "core/module.h"
#include "log/reduce.h"

/* For one module: which of rank 0's ids all ranks have, and where each rank has their records. */
struct shared {
    enum module module;
    size_t size;           /* of a record */
    int64_t count;         /* number of rank 0's records */
    struct buffer ids;     /* rank 0's ids, in its order */
    struct buffer missing; /* a byte per id: whether a rank lacks it */
    struct buffer places;  /* a number per id: the record in this rank's records, plus one */
};

static struct base_record* record_at(const struct buffer* records, size_t size, size_t number) {
    return (struct base_record*)(records->data + number * size);
}

/* Record numbers by id, for as many lookups as rank 0 has records: an open hash table in a buffer. */
struct index {
    struct buffer slots; /* record number plus one, 0 free */
    size_t room;
};

static size_t index_place(const struct index* index, const struct buffer* records, size_t size, uint64_t id) {
    const uint32_t* slot = (const uint32_t*)index->slots.data;
    size_t at = id & (index->room - 1);
    while (slot[at] && record_at(records, size, slot[at] - 1)->id != id) at = (at + 1) & (index->room - 1);
    return at;
}

static bool index_records(struct index* index, const struct buffer* records, size_t size) {
    const size_t count = records->used / size;
    index->room = 64;
    while (index->room < 2 * count) index->room *= 2;
    uint32_t* slot = buffer_add(&index->slots, index->room * sizeof *slot);
    for (size_t i = 0; slot && i < count; ++i) {
        slot[index_place(index, records, size, record_at(records, size, i)->id)] = (uint32_t)i + 1;
    }
    return slot != NULL;
}

static void find_places(struct shared* shared, const struct buffer* records) {
    struct index index = {0};
    const uint64_t* ids = (const uint64_t*)shared->ids.data;
    uint32_t* places = buffer_add(&shared->places, (size_t)shared->count * sizeof *places);
    unsigned char* missing = buffer_add(&shared->missing, (size_t)shared->count);
    if (places && missing && index_records(&index, records, shared->size)) {
        const uint32_t* slot = (const uint32_t*)index.slots.data;
        for (int64_t i = 0; i < shared->count; ++i) {
            places[i] = slot[index_place(&index, records, shared->size, ids[i])];
            missing[i] = places[i] == 0;
        }
    }
    buffer_release(&index.slots);
}

/* Rank 0 sends its ids; afterwards all ranks know which of them every rank has. */
static bool find_shared(struct shared* shared, const struct buffer* records, mpi_handle comm, int rank) {
    const struct mpi_abi* abi = mpi_abi();
    shared->count = (int64_t)(records->used / shared->size);
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(&shared->count, 8, abi->byte, 0, comm);
    if (shared->count == 0) return true;
    uint64_t* ids = buffer_add(&shared->ids, (size_t)shared->count * sizeof *ids);
    if (!ids) return false;
    for (int64_t i = 0; rank == 0 && i < shared->count; ++i)
        ids[i] = record_at(records, shared->size, (size_t)i)->id;
    MPI(Bcast, void*, int, mpi_handle, int, mpi_handle)(ids, (int)(8 * shared->count), abi->byte, 0, comm);
    find_places(shared, records);
    MPI(Allreduce, void*, void*, int, mpi_handle, mpi_handle, mpi_handle)
    (abi->in_place, shared->missing.data, (int)shared->count, abi->byte, abi->bit_or, comm);
    return true;
}

/* MPI calls the operation without a parameter of ours, so the module that is being reduced is stored here. */
static enum module reducing;

static void combine(void* other, void* combined, int* count, void* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) {
        const size_t at = (size_t)i * reduced_size(reducing);
        reduced_add(reducing, (struct reduced*)((char*)combined + at),
                    (const struct reduced*)((const char*)other + at));
    }
}

static int reduce_elements(struct buffer* elements, struct buffer* result, enum module module,
                           mpi_handle comm) {
    const struct mpi_abi* abi = mpi_abi();
    const int size = (int)reduced_size(module);
    mpi_handle type = 0, operation = 0;
    reducing = module;
    MPI(Type_contiguous, int, mpi_handle, mpi_handle*)(size, abi->byte, &type);
    MPI(Type_commit, mpi_handle*)(&type);
    MPI(Op_create, void (*)(void*, void*, int*, void*), int, mpi_handle*)(combine, 1, &operation);
    const int done = MPI(Reduce, void*, void*, int, mpi_handle, mpi_handle, int, mpi_handle)(
        elements->data, result->data, (int)(elements->used / (size_t)size), type, operation, 0, comm);
    MPI(Op_free, mpi_handle*)(&operation);
    MPI(Type_free, mpi_handle*)(&type);
    return done;
}

/* Keeps the records that are not shared and moves them together; rank 0 gets the reduced ones at the end. */
static void replace(struct shared* shared, struct buffer* records, const struct buffer* result, int rank) {
    const uint32_t* places = (const uint32_t*)shared->places.data;
    size_t kept = 0;
    for (int64_t i = 0; i < shared->count; ++i) {
        if (!shared->missing.data[i]) record_at(records, shared->size, places[i] - 1)->rank = -1;
    }
    for (size_t i = 0; i < records->used / shared->size; ++i) {
        struct base_record* record = record_at(records, shared->size, i);
        if (record->rank >= 0) memmove(record_at(records, shared->size, kept++), record, shared->size);
    }
    records->used = kept * shared->size;
    for (size_t at = 0; rank == 0 && at < result->used; at += reduced_size(shared->module)) {
        void* record = buffer_add(records, shared->size);
        if (record) reduced_end(shared->module, (const struct reduced*)(result->data + at), record);
    }
}

static void reduce_found(struct shared* shared, struct buffer* records, mpi_handle comm, int rank) {
    struct buffer elements = {0}, result = {0};
    const uint32_t* places = (const uint32_t*)shared->places.data;
    for (int64_t i = 0; i < shared->count; ++i) {
        if (shared->missing.data[i]) continue;
        void* element = buffer_add(&elements, reduced_size(shared->module));
        if (element) {
            reduced_begin(shared->module, element, record_at(records, shared->size, places[i] - 1), rank);
        }
    }
    if (elements.used && buffer_add(&result, elements.used) &&
        reduce_elements(&elements, &result, shared->module, comm) == MPI_DONE) {
        replace(shared, records, &result, rank);
    }
    buffer_release(&elements);
    buffer_release(&result);
}

bool mpi_reduce_shared(struct log_content* content, mpi_handle comm, int rank) {
    bool done = true;
    for (int module = 1; module < MODULES; ++module) {
        if (!reduces((enum module)module)) continue;
        struct shared shared = {.module = (enum module)module,
                                .size = module_kind((enum module)module)->size};
        done = find_shared(&shared, &content->records[module], comm, rank) && done;
        if (shared.count) reduce_found(&shared, &content->records[module], comm, rank);
        buffer_release(&shared.ids);
        buffer_release(&shared.missing);
        buffer_release(&shared.places);
    }
    return done;
}
