/* Makes stored records from the mapping, and packed regions from the records. */
#include <string.h>

#include "core/mapping.h"
#include "core/module.h"
#include "core/records.h"
#include "counting/common_values.h"
#include "log/deflate.h"
#include "log/log.h"
#include "log/trace.h"

/* Writes the four most frequent values of a table. Values (of `width` numbers) and counts are consecutive. */
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

static void store_tables(const struct record_kind* kind, const struct entry* entry, void* stored) {
    int64_t* counter = (int64_t*)stored + kind->head;
    for (int i = 0; i < kind->commons; ++i) {
        const struct common_rule* common = &kind->common[i];
        store_common((const char*)entry + common->table, common->width, &counter[common->value],
                     &counter[common->count]);
    }
}

/* Processes begin at different moments; in a log all times count from the first start. */
static void shift_moments(const struct record_kind* kind, void* stored, double seconds) {
    double* time = (double*)((int64_t*)stored + kind->head + kind->counters) + kind->moments[0];
    for (int i = 0; i < kind->moments[1]; ++i) {
        if (time[i] != 0) time[i] += seconds;
    }
}

double log_seconds_late(const struct job_times* job) {
    const struct mapping_header* header = mapping_header();
    return (double)(header->start_sec - job->start_sec) +
           (double)(header->start_nsec - job->start_nsec) * 1e-9;
}

static void collect_record(struct log_content* content, struct entry* entry, int64_t rank, double late) {
    const struct record_kind* kind = module_kind((enum module)entry->module);
    void* stored = buffer_add(&content->records[entry->module], entry->record_size);
    if (!stored) return;
    memcpy(stored, (const char*)entry + entry->record_at, entry->record_size);
    struct base_record* base = stored;
    base->rank = rank;
    if (!kind) return;
    store_tables(kind, entry, stored);
    shift_moments(kind, stored, late);
    if (!kind->size) records_mark_name(base->id); /* later the start of such a record is not known */
    if (kind->traces) {
        const void* chains = (const char*)entry + kind->traces;
        trace_collect(&content->records[kind->trace_module], chains, base->id, rank, late);
    }
}

void log_collect(struct log_content* content, int64_t rank, const struct job_times* job) {
    const double late = log_seconds_late(job);
    for (struct entry* entry = mapping_next(NULL); entry; entry = mapping_next(entry)) {
        if (!atomic_load(&entry->ready) || !atomic_load(&entry->counted)) continue;
        if (entry->kind == ENTRY_RECORD) collect_record(content, entry, rank, late);
    }
}

void log_complete(struct log_content* content, const struct job_times* job, int64_t rank,
                  struct side_texts* side) {
    for (int at = 0; at < capture_module_count; ++at) {
        const struct capture_module* module = capture_modules[at];
        struct buffer* counted = &content->records[MODULE_SIDE + at];
        if (module && module->counters) side_text(&side->part[at], module->counters, counted);
        if (module && module->log) module->log(content, job, rank, &side->part[at]);
    }
    for (int module = 1; module < MODULES; ++module) {
        const struct record_kind* kind = module_kind((enum module)module);
        if (!kind || !kind->version) buffer_release(&content->records[module]);
    }
}

uint64_t log_partial(void) {
    return atomic_load(&mapping_header()->partial) & ((UINT64_C(1) << MODULE_SIDE) - 1);
}

/* Marks the names that records need. */
static void mark_names(const struct record_kind* kind, const struct buffer* records) {
    for (size_t at = 0; at + kind->size <= records->used; at += kind->size) {
        const int64_t* stored = (const int64_t*)(const void*)(records->data + at);
        records_mark_name((uint64_t)stored[0]);
        if (kind->head > 2) records_mark_name((uint64_t)stored[2]);
        const int64_t other = kind->other_name ? stored[kind->head + kind->other_name] : 0;
        if (other) records_mark_name((uint64_t)other);
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
        const struct record_kind* kind = module_kind((enum module)module);
        if (kind && kind->size) mark_names(kind, &content->records[module]);
    }
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
