/* From the mapping to stored records, and from these to packed regions. */
#include <stddef.h>
#include <string.h>

#include "core/common_values.h"
#include "core/mapping.h"
#include "core/records.h"
#include "log/deflate.h"
#include "log/heatmap.h"
#include "log/log.h"
#include "mpi/record.h"
#include "posix/record.h"

int log_record_size(enum module module) {
    switch (module) {
        case MODULE_POSIX:
            return sizeof(struct posix_stored);
        case MODULE_MPIIO:
            return sizeof(struct mpiio_stored);
        case MODULE_STDIO:
            return sizeof(struct stdio_stored);
        case MODULE_H5F:
            return sizeof(struct h5f_stored);
        case MODULE_H5D:
            return sizeof(struct h5d_stored);
        case MODULE_PNETCDF_FILE:
            return sizeof(struct pnetcdf_file_stored);
        case MODULE_PNETCDF_VAR:
            return sizeof(struct pnetcdf_var_stored);
        case MODULE_EXTRA:
            return sizeof(struct extra_stored);
        default:
            return 0;
    }
}

/* Writes the best four of a table: values (of `width` numbers) and counts each stand in a row. */
static void store_common(const void* table, int width, int64_t* value, int64_t* count) {
    const uint32_t used = *(const uint32_t*)table;
    const int64_t* values = (const int64_t*)table + 1;
    const int64_t* counts = values + COMMON_VALUES * width;
    int best[COMMON_KEPT];
    const int kept = common_best(values, width, counts, used, best);
    for (int i = 0; i < kept; ++i) {
        memcpy(value + width * i, values + width * best[i], (size_t)width * sizeof *value);
        count[i] = counts[best[i]];
    }
}

static void store_tables(const struct entry* entry, void* stored) {
    const char* accesses = (const char*)entry + entry->access_at;
    int64_t* counter = (int64_t*)stored + 2;
    switch (entry->module) {
        case MODULE_POSIX:
            store_common(accesses, 1, &counter[POSIX_ACCESS], &counter[POSIX_ACCESS_COUNT]);
            store_common((const char*)entry + entry->stride_at, 1, &counter[POSIX_STRIDE],
                         &counter[POSIX_STRIDE_COUNT]);
            break;
        case MODULE_MPIIO:
            store_common(accesses, 1, &counter[MPIIO_ACCESS], &counter[MPIIO_ACCESS_COUNT]);
            break;
        case MODULE_H5D:
            store_common(accesses, SLAB_WIDTH, &counter[1 + H5D_ACCESS], &counter[1 + H5D_ACCESS_COUNT]);
            break;
        case MODULE_PNETCDF_VAR:
            store_common(accesses, SLAB_WIDTH, &counter[1 + PNETCDF_VAR_ACCESS],
                         &counter[1 + PNETCDF_VAR_ACCESS_COUNT]);
            break;
        default:
            break;
    }
}

/* Where a record holds moments, rather than durations: the first, and how many. */
struct time_range {
    size_t first, count;
};

static struct time_range moments(enum module module) {
    switch (module) {
        case MODULE_POSIX:
            return (struct time_range){offsetof(struct posix_stored, time), CLOSE_END + 1};
        case MODULE_MPIIO:
            return (struct time_range){offsetof(struct mpiio_stored, time), CLOSE_END + 1};
        case MODULE_STDIO:
            return (struct time_range){
                offsetof(struct stdio_stored, time) + STDIO_OPEN_START * sizeof(double),
                STDIO_READ_END + 1 - STDIO_OPEN_START};
        case MODULE_H5F:
            return (struct time_range){offsetof(struct h5f_stored, time), H5F_CLOSE_END + 1};
        case MODULE_H5D:
            return (struct time_range){offsetof(struct h5d_stored, time), CLOSE_END + 1};
        case MODULE_PNETCDF_FILE:
            return (struct time_range){offsetof(struct pnetcdf_file_stored, time), PNETCDF_WAIT_END + 1};
        case MODULE_PNETCDF_VAR:
            return (struct time_range){offsetof(struct pnetcdf_var_stored, time), CLOSE_END + 1};
        default:
            return (struct time_range){0, 0};
    }
}

/* Processes begin at different moments; in the log all times count from the first one's. */
static void shift_moments(void* stored, enum module module, double seconds) {
    const struct time_range range = moments(module);
    double* time = (double*)((char*)stored + range.first);
    for (size_t i = 0; i < range.count; ++i) {
        if (time[i] != 0) time[i] += seconds;
    }
}

double log_seconds_late(const struct job_times* job) {
    const struct mapping_header* header = mapping_header();
    return (double)(header->start_sec - job->start_sec) +
           (double)(header->start_nsec - job->start_nsec) * 1e-9;
}

static void collect_traces(struct log_content* content, const struct entry* entry, int64_t rank,
                           double late) {
    if (entry->module == MODULE_POSIX) {
        const struct posix_record* record = (const struct posix_record*)entry;
        trace_collect(&content->records[MODULE_DXT_POSIX], &record->traces, record->log.base.id, rank, late);
    } else if (entry->module == MODULE_MPIIO) {
        const struct mpiio_record* record = (const struct mpiio_record*)entry;
        trace_collect(&content->records[MODULE_DXT_MPIIO], &record->traces, record->log.base.id, rank, late);
    }
}

static void collect_record(struct log_content* content, struct entry* entry, int64_t rank, double late) {
    struct buffer* records = &content->records[entry->module];
    void* stored = buffer_add(records, entry->record_size);
    if (!stored) return;
    memcpy(stored, (const char*)entry + entry->record_at, entry->record_size);
    ((struct base_record*)stored)->rank = rank;
    store_tables(entry, stored);
    shift_moments(stored, (enum module)entry->module, late);
    if (entry->module == MODULE_LUSTRE) records_mark_name(((const struct base_record*)stored)->id);
    collect_traces(content, entry, rank, late);
}

void log_collect(struct log_content* content, int64_t rank, const struct job_times* job) {
    const double late = log_seconds_late(job);
    for (struct entry* entry = mapping_next(NULL); entry; entry = mapping_next(entry)) {
        if (!atomic_load(&entry->ready) || !atomic_load(&entry->counted)) continue;
        if (entry->kind == ENTRY_RECORD) collect_record(content, entry, rank, late);
    }
    heatmap_collect(&content->records[MODULE_HEATMAP], rank, job, late);
}

/* Names are marked by the records that need them. */
static void mark_names(const struct buffer* records, int size) {
    for (size_t at = 0; size && at + (size_t)size <= records->used; at += (size_t)size) {
        records_mark_name(((const struct base_record*)(records->data + at))->id);
    }
}

static void mark_rename_sources(const struct buffer* records) {
    const struct posix_stored* all = (const struct posix_stored*)records->data;
    for (size_t i = 0; i < records->used / sizeof *all; ++i) {
        const int64_t source = all[i].counter[POSIX_RENAMED_FROM];
        if (source) records_mark_name((uint64_t)source);
    }
}

/* Datasets and variables name their file right behind the head. */
static void mark_files(const struct buffer* records, size_t size) {
    for (size_t at = 0; at + size <= records->used; at += size) {
        records_mark_name(*(const uint64_t*)(records->data + at + sizeof(struct base_record)));
    }
}

static void pack(struct buffer* raw, struct buffer* packed) {
    if (raw->failed) packed->failed = true;
    if (raw->used) deflate_stream(packed, raw->data, raw->used);
    buffer_release(raw);
}

bool log_pack(struct log_content* content, struct log_packed* packed) {
    bool failed = false;
    struct buffer names = {0};
    for (int module = 1; module < MODULES; ++module) {
        mark_names(&content->records[module], log_record_size((enum module)module));
    }
    mark_rename_sources(&content->records[MODULE_POSIX]);
    mark_files(&content->records[MODULE_H5D], sizeof(struct h5d_stored));
    mark_files(&content->records[MODULE_PNETCDF_VAR], sizeof(struct pnetcdf_var_stored));
    records_collect_names(&names);
    pack(&names, &packed->region[LOG_NAMES]);
    for (int module = 1; module < MODULES; ++module) {
        pack(&content->records[module], &packed->region[module]);
    }
    for (int region = 0; region < LOG_REGIONS; ++region) failed |= packed->region[region].failed;
    return !failed;
}

void log_release(struct log_packed* packed) {
    for (int region = 0; region < LOG_REGIONS; ++region) buffer_release(&packed->region[region]);
}
