#include "mpi/record.h"

#include <stddef.h>

#include "core/access.h"
#include "core/jump.h"
#include "core/module.h"
#include "core/records.h"
#include "core/settings.h"
#include "log/events.h"
#include "log/heatmap.h"
#include "mpi/messages.h"
#include "mpi/transfer.h"

static const struct record_shape shape = {
    .module = MODULE_MPIIO,
    .entry_size = sizeof(struct mpiio_record),
    .record_at = offsetof(struct mpiio_record, log),
    .record_size = sizeof(struct mpiio_stored),
    .access_at = offsetof(struct mpiio_record, history.sizes),
    .access_width = 1,
};

struct mpiio_record* mpiio_record_of(const char* path) {
    char name[NAME_ROOM];
    bool made;
    if (!records_path(path, name)) return NULL;
    return (struct mpiio_record*)records_find(&shape, name, &made);
}

void mpiio_count_open(struct mpiio_record* record, bool collective, int mode, bool hints, struct span span) {
    event(MODULE_MPIIO, EVENT_OPEN, record->log.base.id, span);
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    ++counter[collective ? MPIIO_COLL_OPENS : MPIIO_INDEP_OPENS];
    counter[MPIIO_MODE] = mode;
    counter[MPIIO_HINTS] += hints;
    note_window(&time[OPEN_START], &time[OPEN_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void mpiio_count_close(struct mpiio_record* record, struct span span) {
    event(MODULE_MPIIO, EVENT_CLOSE, record->log.base.id, span);
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    note_window(&time[CLOSE_START], &time[CLOSE_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void mpiio_count_sync(struct mpiio_record* record, struct span span) {
    event(MODULE_MPIIO, EVENT_SYNC, record->log.base.id, span);
    if (!record_begin(&record->head)) return;
    ++record->log.counter[MPIIO_SYNCS];
    note_time(&record->log.time[WRITE_TIME], &record->write_end, span);
    record_unlock(&record->head);
}

void mpiio_count_view(struct mpiio_record* record, bool hints, struct span span) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[MPIIO_VIEWS];
    record->log.counter[MPIIO_HINTS] += hints;
    note_time(&record->log.time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

static void count_times(struct mpiio_record* record, bool write, int64_t size, struct span span) {
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    if (write) {
        note_window(&time[WRITE_START], &time[WRITE_END], span);
        note_time(&time[WRITE_TIME], &record->write_end, span);
        note_slowest(&time[MAX_WRITE_TIME], &counter[MPIIO_MAX_WRITE_TIME_SIZE], size, span);
    } else {
        note_window(&time[READ_START], &time[READ_END], span);
        note_time(&time[READ_TIME], &record->read_end, span);
        note_slowest(&time[MAX_READ_TIME], &counter[MPIIO_MAX_READ_TIME_SIZE], size, span);
    }
}

void mpiio_count_transfer(struct mpiio_record* record, enum mpiio_counter counter, int64_t offset,
                          int64_t size, struct span span) {
    const bool write = (counter - MPIIO_INDEP_READS) % 2;
    if (!record_begin(&record->head)) return;
    mpiio_transferred(&record->history, record->log.counter, counter, size);
    count_times(record, write, size, span);
    if (settings.dxt && records_is_others(&record->head)) {
        mapping_note_partial(MODULE_DXT_MPIIO); /* a trace of several files would be one of none */
    } else if (settings.dxt) {
        trace_add(&record->traces, MODULE_DXT_MPIIO, record->log.base.id, write, offset, size, span);
    }
    record_unlock(&record->head);
    heatmap_count(HEATMAP_MPIIO, write, size, span);
}

static const uint8_t mpiio_counters[MPIIO_COUNTERS] = {
    [MPIIO_MODE] = RULE_KEEP,
    [MPIIO_MAX_READ_TIME_SIZE] = RULE_ELSEWHERE,
    [MPIIO_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [MPIIO_ACCESS... MPIIO_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct record_kind mpiio_kind = {
    .module = MODULE_MPIIO,
    .word = "MPI-IO",
    .version = 3,
    .size = sizeof(struct mpiio_stored),
    .moments = {OPEN_START, CLOSE_END + 1},
    .traces = offsetof(struct mpiio_record, traces),
    .trace_module = MODULE_DXT_MPIIO,
    .reduced = true,
    .head = 2,
    .counters = MPIIO_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = mpiio_counters,
    .time_rule = data_time_rules,
    .common = {{offsetof(struct mpiio_record, history.sizes), MPIIO_ACCESS, MPIIO_ACCESS_COUNT, 1}},
    .commons = 1,
    .bytes = {MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = MPIIO_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, MPIIO_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, MPIIO_MAX_WRITE_TIME_SIZE}},
};

#ifdef CAPTURE_STATIC
/* Handles a long jump out of a Fortran binding. */
static void on_jump(uintptr_t stack) {
    if (mpi_fortran_depth && jump_leaves(stack, mpi_fortran_place)) mpi_fortran_depth = 0;
}
#else
#define on_jump NULL
#endif

const struct capture_module mpi_module = {
    .name = "mpi",
    .jump = on_jump,
    .kinds = (const struct record_kind* const[]){&mpiio_kind, NULL},
    .part = "messages",
    .part_wanted = &messages_wanted,
    .start = messages_start,
    .fork = messages_after_fork,
    .log = messages_log,
};
