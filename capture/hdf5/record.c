#include "hdf5/record.h"

#include <stdio.h>
#include <string.h>

#include "core/access.h"
#include "core/hash.h"
#include "core/module.h"
#include "core/records.h"
#include "core/utf8.h"
#include "counting/size_bins.h"
#include "hdf5/counters.h"
#include "log/events.h"

enum { DATASET_NAME = 256 };

static const struct record_shape file_shape = {
    .module = MODULE_H5F,
    .entry_size = sizeof(struct h5f_record),
    .record_at = offsetof(struct h5f_record, log),
    .record_size = sizeof(struct h5f_stored),
};

static const struct record_shape dataset_shape = {
    .module = MODULE_H5D,
    .entry_size = sizeof(struct h5d_record),
    .record_at = offsetof(struct h5d_record, log),
    .record_size = sizeof(struct h5d_stored),
    .access_at = offsetof(struct h5d_record, accesses),
    .access_width = SLAB_WIDTH,
};

struct h5f_record* h5f_record_of(const char* path) {
    char name[NAME_ROOM];
    bool made;
    return records_path(path, name) ? (struct h5f_record*)records_find(&file_shape, name, &made) : NULL;
}

struct h5d_record* h5d_record_of(const struct hdf5_api* api, hid location, const char* name) {
    char path[PATH_MAX], file[NAME_ROOM], full[NAME_ROOM + DATASET_NAME], object[DATASET_NAME] = "";
    bool made;
    if (api->Fget_name(location, path, sizeof path) <= 0 || !records_path(path, file)) return NULL;
    api->Iget_name(location, object, sizeof object);
    /* Darshan's form: the location and the name next to each other, without a slash. */
    const int length = snprintf(full, sizeof full, "%s:%s%s", file, object, name);
    if (length >= DATASET_NAME)
        full[strlen(file) + 1 < DATASET_NAME ? DATASET_NAME - 1 : strlen(file) + 1] = '\0';
    if (!utf8_escape(full, sizeof full)) return NULL;
    struct h5d_record* record = (struct h5d_record*)records_find(&dataset_shape, full, &made);
    if (record && made) {
        const bool others = records_is_others(&record->head);
        record->log.file_id = record_id(others ? OTHER_FILES : file);
        if (!others) records_enter_name(file);
    }
    return record;
}

void h5f_count_open(struct h5f_record* record, bool mpiio, struct span span) {
    event(MODULE_H5F, EVENT_OPEN, record->log.base.id, span);
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++record->log.counter[H5F_OPENS];
    if (mpiio) record->log.counter[H5F_USE_MPIIO] = 1;
    note_window(&time[H5F_OPEN_START], &time[H5F_OPEN_END], span);
    note_time(&time[H5F_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void h5f_count_flush(struct h5f_record* record, struct span span) {
    event(MODULE_H5F, EVENT_SYNC, record->log.base.id, span);
    if (!record_begin(&record->head)) return;
    ++record->log.counter[H5F_FLUSHES];
    note_time(&record->log.time[H5F_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void h5f_count_close(struct h5f_record* record, struct span span) {
    event(MODULE_H5F, EVENT_CLOSE, record->log.base.id, span);
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    note_window(&time[H5F_CLOSE_START], &time[H5F_CLOSE_END], span);
    note_time(&time[H5F_META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void h5d_count_open(struct h5d_record* record, const struct h5d_shape* shape, bool deprecated,
                    struct span span) {
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    record_lock(&record->head);
    if (!records_is_others(&record->head)) {
        counter[H5D_NDIMS] = shape->dimensions;
        counter[H5D_NPOINTS] = shape->points;
        counter[H5D_TYPE_SIZE] = shape->type_size;
        memcpy(&counter[H5D_CHUNK], shape->chunk, sizeof shape->chunk);
    }
    if (record_counts(&record->head)) {
        ++counter[H5D_OPENS];
        if (deprecated) counter[H5D_DEPRECATED] = 1;
        note_window(&time[OPEN_START], &time[OPEN_END], span);
        note_time(&time[META_TIME], &record->meta_end, span);
    }
    record_unlock(&record->head);
}

static void count_selection(struct h5d_record* record, const struct h5d_access* access) {
    static const int counters[] = {
        [SELECTED_REGULAR] = H5D_REGULAR_HYPERSLABS,
        [SELECTED_IRREGULAR] = H5D_IRREGULAR_HYPERSLABS,
        [SELECTED_POINTS] = H5D_POINTS,
    };
    if (access->selection != SELECTED_ALL) ++record->log.counter[counters[access->selection]];
    if (access->collective) record->log.counter[H5D_COLLECTIVE] = 1;
    common_slabs_count(&record->accesses, access->slab);
}

void h5d_count_access(struct h5d_record* record, const struct h5d_access* access, struct span span) {
    const bool write = access->write;
    const int64_t size = access->slab[0];
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++counter[write ? H5D_WRITES : H5D_READS];
    counter[write ? H5D_BYTES_WRITTEN : H5D_BYTES_READ] += size;
    ++counter[(write ? H5D_SIZE_WRITE : H5D_SIZE_READ) + size_bin(size)];
    if (record->last_kind && record->last_kind != write + 1) ++counter[H5D_RW_SWITCHES];
    record->last_kind = write + 1;
    count_selection(record, access);
    note_window(&time[write ? WRITE_START : READ_START], &time[write ? WRITE_END : READ_END], span);
    note_time(&time[write ? WRITE_TIME : READ_TIME], write ? &record->write_end : &record->read_end, span);
    note_slowest(&time[write ? MAX_WRITE_TIME : MAX_READ_TIME],
                 &counter[write ? H5D_MAX_WRITE_TIME_SIZE : H5D_MAX_READ_TIME_SIZE], size, span);
    record_unlock(&record->head);
}

void h5d_count_flush(struct h5d_record* record, struct span span) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[H5D_FLUSHES];
    note_time(&record->log.time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void h5d_count_close(struct h5d_record* record, struct span span) {
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    note_window(&time[CLOSE_START], &time[CLOSE_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

static const uint8_t h5f_counters[H5F_COUNTERS] = {[H5F_USE_MPIIO] = RULE_OR};

static const uint8_t h5f_times[H5F_TIMES] = {
    [H5F_OPEN_START... H5F_CLOSE_START] = RULE_FIRST,
    [H5F_OPEN_END... H5F_CLOSE_END] = RULE_MAX,
};

static const struct record_kind file_kind = {
    .module = MODULE_H5F,
    .word = "H5F",
    .version = 3,
    .size = sizeof(struct h5f_stored),
    .moments = {H5F_OPEN_START, H5F_CLOSE_END + 1},
    .reduced = true,
    .head = 2,
    .counters = H5F_COUNTERS,
    .times = H5F_TIMES,
    .counter_rule = h5f_counters,
    .time_rule = h5f_times,
    .bytes = {NOWHERE, NOWHERE},
    .spent = {H5F_META_TIME, NOWHERE, NOWHERE},
    .ranks = NOWHERE,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static const uint8_t h5d_counters[H5D_COUNTERS] = {
    [H5D_MAX_READ_TIME_SIZE... H5D_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [H5D_ACCESS... H5D_NDIMS - 1] = RULE_ELSEWHERE,
    [H5D_NDIMS] = RULE_KEEP,
    [H5D_NPOINTS] = RULE_MAX,
    [H5D_TYPE_SIZE... H5D_COLLECTIVE - 1] = RULE_KEEP,
    [H5D_COLLECTIVE... H5D_DEPRECATED] = RULE_OR,
    [H5D_FASTEST_RANK... H5D_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct record_kind dataset_kind = {
    .module = MODULE_H5D,
    .word = "H5D",
    .version = 2,
    .size = sizeof(struct h5d_stored),
    .moments = {OPEN_START, CLOSE_END + 1},
    .reduced = true,
    .head = 3,
    .counters = H5D_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = h5d_counters,
    .time_rule = data_time_rules,
    .common = {{offsetof(struct h5d_record, accesses), H5D_ACCESS, H5D_ACCESS_COUNT, SLAB_WIDTH}},
    .commons = 1,
    .bytes = {H5D_BYTES_READ, H5D_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = H5D_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, H5D_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, H5D_MAX_WRITE_TIME_SIZE}},
};

const struct capture_module hdf5_module = {
    .name = "hdf5",
    .kinds = (const struct record_kind* const[]){&file_kind, &dataset_kind, NULL},
    .counters = &hdf5_counters,
};
