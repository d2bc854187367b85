#include "pnetcdf/record.h"

#include <stdio.h>
#include <string.h>

#include "core/access.h"
#include "core/hash.h"
#include "core/jump.h"
#include "core/module.h"
#include "core/records.h"
#include "core/utf8.h"
#include "counting/size_bins.h"
#include "log/events.h"
#include "pnetcdf/api.h"

static const struct record_shape file_shape = {
    .module = MODULE_PNETCDF_FILE,
    .entry_size = sizeof(struct pnetcdf_file_record),
    .record_at = offsetof(struct pnetcdf_file_record, log),
    .record_size = sizeof(struct pnetcdf_file_stored),
};

static const struct record_shape variable_shape = {
    .module = MODULE_PNETCDF_VAR,
    .entry_size = sizeof(struct pnetcdf_var_record),
    .record_at = offsetof(struct pnetcdf_var_record, log),
    .record_size = sizeof(struct pnetcdf_var_stored),
    .access_at = offsetof(struct pnetcdf_var_record, accesses),
    .access_width = SLAB_WIDTH,
};

struct pnetcdf_file_record* pnetcdf_file_record_of(const char* path) {
    char name[NAME_ROOM];
    bool made;
    if (!records_path(path, name)) return NULL;
    return (struct pnetcdf_file_record*)records_find(&file_shape, name, &made);
}

struct pnetcdf_var_record* pnetcdf_var_record_of(const struct pnetcdf_file_record* file, const char* name) {
    char full[NAME_ROOM + PNETCDF_NAME + 1];
    bool made;
    const char* path = records_name(file->log.base.id);
    if (!path) return NULL;
    const bool others = records_is_others(&file->head);
    snprintf(full, sizeof full, others ? "%s" : "%s:%s", path, name);
    if (!utf8_escape(full, sizeof full)) return NULL;
    struct pnetcdf_var_record* record =
        (struct pnetcdf_var_record*)records_find(&variable_shape, full, &made);
    if (record && made)
        record->log.file_id = records_is_others(&record->head) ? record->log.base.id : file->log.base.id;
    return record;
}

void pnetcdf_count_open(struct pnetcdf_file_record* record, enum pnetcdf_file_counter counter,
                        struct span span) {
    event(MODULE_PNETCDF_FILE, EVENT_OPEN, record->log.base.id, span);
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++record->log.counter[counter];
    note_window(&time[PNETCDF_OPEN_START], &time[PNETCDF_OPEN_END], span);
    note_time(&time[PNETCDF_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void pnetcdf_count_close(struct pnetcdf_file_record* record, int64_t read, int64_t written,
                         struct span span) {
    event(MODULE_PNETCDF_FILE, EVENT_CLOSE, record->log.base.id, span);
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    record->log.counter[PNETCDF_BYTES_READ] += read;
    record->log.counter[PNETCDF_BYTES_WRITTEN] += written;
    note_window(&time[PNETCDF_CLOSE_START], &time[PNETCDF_CLOSE_END], span);
    note_time(&time[PNETCDF_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void pnetcdf_count_meta(struct pnetcdf_file_record* record, int counter, struct span span) {
    if (counter == PNETCDF_SYNCS) event(MODULE_PNETCDF_FILE, EVENT_SYNC, record->log.base.id, span);
    if (!record_begin(&record->head)) return;
    if (counter != PNETCDF_NO_COUNTER) ++record->log.counter[counter];
    note_time(&record->log.time[PNETCDF_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void pnetcdf_count_wait(struct pnetcdf_file_record* record, bool collective, bool failed, struct span span) {
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++record->log.counter[collective ? PNETCDF_COLL_WAITS : PNETCDF_INDEP_WAITS];
    if (failed) ++record->log.counter[PNETCDF_WAIT_FAILURES];
    note_window(&time[PNETCDF_WAIT_START], &time[PNETCDF_WAIT_END], span);
    note_time(&time[PNETCDF_WAIT_TIME], &record->wait_end, span);
    record_unlock(&record->head);
}

void pnetcdf_var_set_shape(struct pnetcdf_var_record* record, const struct pnetcdf_shape* shape) {
    int64_t* counter = record->log.counter;
    if (records_is_others(&record->head)) return; /* variables of many shapes */
    record_lock(&record->head);
    (void)record_counts(&record->head);
    counter[PNETCDF_VAR_NDIMS] = shape->dimensions;
    counter[PNETCDF_VAR_TYPE_SIZE] = shape->type_size;
    counter[PNETCDF_VAR_IS_RECORD] = shape->records;
    /* The number of points of a variable with records grows with the records that are accessed. */
    if (!shape->records) counter[PNETCDF_VAR_NPOINTS] = shape->points;
    record->shape = *shape;
    record_unlock(&record->head);
}

void pnetcdf_var_count_open(struct pnetcdf_var_record* record, struct span span) {
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++record->log.counter[PNETCDF_VAR_OPENS];
    note_window(&time[OPEN_START], &time[OPEN_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

static void count_sizes(struct pnetcdf_var_record* record, const struct pnetcdf_access* access, bool write) {
    const int64_t size = access->slab[0];
    int64_t* counter = record->log.counter;
    ++counter[access->how];
    ++counter[access->call];
    counter[write ? PNETCDF_VAR_BYTES_WRITTEN : PNETCDF_VAR_BYTES_READ] += size;
    ++counter[(write ? PNETCDF_VAR_SIZE_WRITE : PNETCDF_VAR_SIZE_READ) + size_bin(size)];
    if (record->last_kind && record->last_kind != write + 1) ++counter[PNETCDF_VAR_RW_SWITCHES];
    record->last_kind = write + 1;
    if (!size) return;
    common_slabs_count(&record->accesses, access->slab);
    if (counter[PNETCDF_VAR_IS_RECORD] &&
        counter[PNETCDF_VAR_NPOINTS] < access->records * record->shape.points) {
        counter[PNETCDF_VAR_NPOINTS] = access->records * record->shape.points;
    }
}

void pnetcdf_var_count_access(struct pnetcdf_var_record* record, const struct pnetcdf_access* access,
                              struct span span) {
    const bool write = (access->how - PNETCDF_VAR_INDEP_READS) % 2;
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    count_sizes(record, access, write);
    note_window(&time[write ? WRITE_START : READ_START], &time[write ? WRITE_END : READ_END], span);
    note_time(&time[write ? WRITE_TIME : READ_TIME], write ? &record->write_end : &record->read_end, span);
    note_slowest(&time[write ? MAX_WRITE_TIME : MAX_READ_TIME],
                 &counter[write ? PNETCDF_VAR_MAX_WRITE_TIME_SIZE : PNETCDF_VAR_MAX_READ_TIME_SIZE],
                 access->slab[0], span);
    record_unlock(&record->head);
}

void pnetcdf_var_count_close(struct pnetcdf_var_record* record, struct span span) {
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    note_window(&time[CLOSE_START], &time[CLOSE_END], span);
    record_unlock(&record->head);
}

static const uint8_t pnetcdf_file_counters[PNETCDF_COUNTERS] = {RULE_SUM};

static const uint8_t pnetcdf_file_times[PNETCDF_TIMES] = {
    [PNETCDF_OPEN_START... PNETCDF_WAIT_START] = RULE_FIRST,
    [PNETCDF_OPEN_END... PNETCDF_WAIT_END] = RULE_MAX,
};

static const struct record_kind file_kind = {
    .module = MODULE_PNETCDF_FILE,
    .word = "PNETCDF_FILE",
    .version = 3,
    .size = sizeof(struct pnetcdf_file_stored),
    .moments = {PNETCDF_OPEN_START, PNETCDF_WAIT_END + 1},
    .reduced = true,
    .head = 2,
    .counters = PNETCDF_COUNTERS,
    .times = PNETCDF_TIMES,
    .counter_rule = pnetcdf_file_counters,
    .time_rule = pnetcdf_file_times,
    .bytes = {NOWHERE, NOWHERE},
    .spent = {NOWHERE, NOWHERE, NOWHERE},
    .ranks = NOWHERE,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static const uint8_t pnetcdf_var_counters[PNETCDF_VAR_COUNTERS] = {
    [PNETCDF_VAR_MAX_READ_TIME_SIZE... PNETCDF_VAR_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [PNETCDF_VAR_ACCESS... PNETCDF_VAR_NDIMS - 1] = RULE_ELSEWHERE,
    [PNETCDF_VAR_NDIMS] = RULE_KEEP,
    [PNETCDF_VAR_NPOINTS] = RULE_MAX,
    [PNETCDF_VAR_TYPE_SIZE] = RULE_KEEP,
    [PNETCDF_VAR_IS_RECORD] = RULE_OR,
    [PNETCDF_VAR_FASTEST_RANK... PNETCDF_VAR_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct record_kind variable_kind = {
    .module = MODULE_PNETCDF_VAR,
    .word = "PNETCDF_VAR",
    .version = 1,
    .size = sizeof(struct pnetcdf_var_stored),
    .moments = {OPEN_START, CLOSE_END + 1},
    .reduced = true,
    .head = 3,
    .counters = PNETCDF_VAR_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = pnetcdf_var_counters,
    .time_rule = data_time_rules,
    .common = {{offsetof(struct pnetcdf_var_record, accesses), PNETCDF_VAR_ACCESS, PNETCDF_VAR_ACCESS_COUNT,
                SLAB_WIDTH}},
    .commons = 1,
    .bytes = {PNETCDF_VAR_BYTES_READ, PNETCDF_VAR_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = PNETCDF_VAR_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, PNETCDF_VAR_MAX_READ_TIME_SIZE},
                {MAX_WRITE_TIME, PNETCDF_VAR_MAX_WRITE_TIME_SIZE}},
};

/* Handles a long jump out of a call of the library. */
static void on_jump(uintptr_t stack) {
    if (pnetcdf_depth && jump_leaves(stack, pnetcdf_place)) pnetcdf_depth = 0;
}

const struct capture_module pnetcdf_module = {
    .name = "pnetcdf",
    .jump = on_jump,
    .kinds = (const struct record_kind* const[]){&file_kind, &variable_kind, NULL},
};
