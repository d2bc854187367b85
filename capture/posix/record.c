#include "posix/record.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/access.h"
#include "core/export.h"
#include "core/hash.h"
#include "core/module.h"
#include "core/mounts.h"
#include "core/records.h"
#include "core/sandbox.h"
#include "core/settings.h"
#include "core/side_counters.h"
#include "log/events.h"
#include "log/heatmap.h"
#include "posix/inherited.h"

static const struct record_shape shape = {
    .module = MODULE_POSIX,
    .entry_size = sizeof(struct posix_record),
    .record_at = offsetof(struct posix_record, log),
    .record_size = sizeof(struct posix_stored),
    .access_at = offsetof(struct posix_record, history.sizes),
    .access_width = 1,
    .stride_at = offsetof(struct posix_record, history.strides),
};

/* Completes a record that may be new. */
static struct posix_record* complete(struct entry* entry, const char* name) {
    struct posix_record* record = (struct posix_record*)entry;
    if (record && !record->log.counter[POSIX_FILE_ALIGNMENT]) {
        record->name = records_name(record->log.base.id);
        record->log.counter[POSIX_MEM_ALIGNMENT] = MEMORY_ALIGNMENT;
        record->log.counter[POSIX_FILE_ALIGNMENT] = mounts_block_size(name);
    }
    return record;
}

static struct posix_record* find(const char* name) {
    bool made;
    return complete(records_find(&shape, name, &made), name);
}

struct posix_record* posix_record_of(const char* name) {
    bool made;
    return complete(records_find_counted(&shape, name, &made), name);
}

/* What this thread named last: programs open, close and stat the same file one after the other. */
static _Thread_local struct {
    struct posix_record* record;
    unsigned generation;
} latest __attribute__((tls_model("initial-exec")));

static bool is_latest(const char* path) {
    return latest.record && latest.generation == atomic_load(&records_generation) &&
           strcmp(latest.record->name, path) == 0;
}

struct posix_record* posix_record_at(int folder, const char* path) {
    char name[NAME_ROOM];
    if (path && *path == '/' && is_latest(path)) return latest.record;
    if (!path_absolute_at(folder, path, name)) return NULL;
    struct posix_record* record = posix_record_of(name);
    if (record) {
        latest.record = record;
        latest.generation = atomic_load(&records_generation);
    }
    return record;
}

void posix_show_closing(int fd, struct posix_record* record) {
    if (atomic_load_explicit(&record->looked, memory_order_relaxed)) return;
    atomic_store_explicit(&record->looked, modules_closing(fd, record->name), memory_order_relaxed);
}

const char* posix_record_name(const struct posix_record* record) {
    return record->name;
}

struct posix_record* posix_record_of_file(struct open_file* file) {
    struct posix_record* record = atomic_load_explicit(&file->record, memory_order_acquire);
    if (__builtin_expect(!record, 0)) {
        record = find(file->name);
        atomic_store(&file->record, record);
    }
    return record;
}

/* The counters and times of reads and of writes. */
struct kind {
    enum posix_counter slowest_size;
    enum data_time start, end, time, slowest;
};

static const struct kind kinds[2] = {
    {POSIX_MAX_READ_TIME_SIZE, READ_START, READ_END, READ_TIME, MAX_READ_TIME},
    {POSIX_MAX_WRITE_TIME_SIZE, WRITE_START, WRITE_END, WRITE_TIME, MAX_WRITE_TIME},
};

static void count_access(struct posix_record* record, enum transfer which, int64_t offset, int64_t size,
                         const void* memory) {
    int64_t* counter = record->log.counter;
    if ((uintptr_t)memory % MEMORY_ALIGNMENT) ++counter[POSIX_MEM_NOT_ALIGNED];
    posix_transferred(&record->history, counter, which, offset, size);
}

static void count_times(struct posix_record* record, enum transfer which, int64_t size, struct span span) {
    const struct kind* kind = &kinds[which];
    double* time = record->log.time;
    note_window(&time[kind->start], &time[kind->end], span);
    note_time(&time[kind->time], which == TRANSFER_READ ? &record->read_end : &record->write_end, span);
    note_slowest(&time[kind->slowest], &record->log.counter[kind->slowest_size], size, span);
}

/* Where a transfer began that has just moved the offset of the file, by the kernel. */
static int64_t before_offset(int fd, int64_t size) {
    const int64_t end = REAL(syscall)(SYS_lseek, fd, (off_t)0, SEEK_CUR);
    return end >= size ? end - size : 0;
}

/* A write with O_APPEND goes to the end of the file, where the kernel then sets the offset. The kernel is
   asked at the first such write, and again only after another write to the file. */
static int64_t appended_at(const struct posix_record* record, struct open_file* file, int fd, int64_t size) {
    if (file->append_end >= 0 && file->append_end == record->history.last[TRANSFER_WRITE] + 1)
        return file->append_end;
    if (sandboxed()) return file->append_end > 0 ? file->append_end : 0;
    return before_offset(fd, size);
}

/* The place of a transfer at the file's own offset, which moves. */
static int64_t moved_offset(const struct posix_record* record, struct open_file* file, int fd,
                            enum transfer which, int64_t size) {
    int64_t offset = file->offset;
    if (which == TRANSFER_WRITE && file->append) {
        offset = appended_at(record, file, fd, size);
        file->append_end = offset + size;
    } else if (file->shared && !sandboxed()) {
        offset = before_offset(fd, size);
    }
    file->offset = offset + size;
    return offset;
}

/* A trace of several files would be one of none. */
static void trace(struct posix_record* record, enum transfer which, int64_t offset, int64_t size,
                  struct span span) {
    if (records_is_others(&record->head)) {
        mapping_note_partial(MODULE_DXT_POSIX);
    } else {
        trace_add(&record->traces, MODULE_DXT_POSIX, record->log.base.id, which == TRANSFER_WRITE, offset,
                  size, span);
    }
}

void posix_count_transfer(int fd, struct open_file* file, enum transfer which, int64_t offset, int64_t size,
                          const void* memory, struct span span) {
    struct posix_record* record = posix_record_of_file(file);
    if (!record) return;
    record_lock(&record->head);
    if (offset == CURRENT_OFFSET) offset = moved_offset(record, file, fd, which, size);
    const bool counts = record_counts(&record->head);
    if (counts) {
        count_access(record, which, offset, size, memory);
        count_times(record, which, size, span);
        if (settings.dxt) trace(record, which, offset, size, span);
    }
    record_unlock(&record->head);
    if (counts) heatmap_count(HEATMAP_POSIX, which == TRANSFER_WRITE, size, span);
}

void posix_count_open(struct posix_record* record, int mode, struct span span) {
    event(MODULE_POSIX, EVENT_OPEN, record->log.base.id, span);
    int64_t* counter = record->log.counter;
    double* time = record->log.time;
    if (!record_begin(&record->head)) return;
    posix_opened(&record->history, counter);
    if (mode) counter[POSIX_MODE] = mode;
    note_window(&time[OPEN_START], &time[OPEN_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void posix_count_copy(struct posix_record* record, enum posix_counter counter, struct span span) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[POSIX_OPENS];
    ++record->log.counter[counter];
    note_time(&record->log.time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void posix_count_close(struct posix_record* record, struct span span) {
    event(MODULE_POSIX, EVENT_CLOSE, record->log.base.id, span);
    double* time = record->log.time;
    /* A close alone does not bring a record into the log, because a child closes what its parent opened. */
    if (pause_active()) return;
    record_lock(&record->head);
    note_window(&time[CLOSE_START], &time[CLOSE_END], span);
    note_time(&time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void posix_count_seek(struct open_file* file, int64_t offset, struct span span) {
    struct posix_record* record = posix_record_of_file(file);
    if (!record) return;
    record_lock(&record->head);
    file->offset = offset;
    if (record_counts(&record->head)) {
        ++record->log.counter[POSIX_SEEKS];
        note_time(&record->log.time[META_TIME], &record->meta_end, span);
    }
    record_unlock(&record->head);
}

void posix_count_meta(struct posix_record* record, enum posix_counter counter, struct span span) {
    if (!record_begin(&record->head)) return;
    ++record->log.counter[counter];
    note_time(&record->log.time[META_TIME], &record->meta_end, span);
    record_unlock(&record->head);
}

void posix_count_sync(struct posix_record* record, enum posix_counter counter, struct span span) {
    event(MODULE_POSIX, EVENT_SYNC, record->log.base.id, span);
    if (!record_begin(&record->head)) return;
    ++record->log.counter[counter];
    note_time(&record->log.time[WRITE_TIME], &record->write_end, span);
    record_unlock(&record->head);
}

void posix_count_rename(const char* from, const char* to, struct span span) {
    struct posix_record* source = posix_record_of(from);
    struct posix_record* target = posix_record_of(to);
    if (source) posix_count_meta(source, POSIX_RENAME_SOURCES, span);
    if (!target) return;
    posix_count_meta(target, POSIX_RENAME_TARGETS, span);
    if (pause_active() || records_is_others(&target->head)) return;
    target->log.counter[POSIX_RENAMED_FROM] = (int64_t)record_id(from);
    records_enter_name(from);
}

static const uint8_t posix_counters[POSIX_COUNTERS] = {
    [POSIX_RENAMED_FROM] = RULE_KEEP,
    [POSIX_MODE] = RULE_KEEP,
    [POSIX_MAX_BYTE_READ] = RULE_MAX,
    [POSIX_MAX_BYTE_WRITTEN] = RULE_MAX,
    [POSIX_MEM_ALIGNMENT] = RULE_KEEP,
    [POSIX_FILE_ALIGNMENT] = RULE_KEEP,
    [POSIX_MAX_READ_TIME_SIZE] = RULE_ELSEWHERE,
    [POSIX_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [POSIX_STRIDE... POSIX_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct record_kind posix_kind = {
    .module = MODULE_POSIX,
    .word = "POSIX",
    .version = 4,
    .size = sizeof(struct posix_stored),
    .moments = {OPEN_START, CLOSE_END + 1},
    .other_name = POSIX_RENAMED_FROM,
    .traces = offsetof(struct posix_record, traces),
    .trace_module = MODULE_DXT_POSIX,
    .reduced = true,
    .head = 2,
    .counters = POSIX_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = posix_counters,
    .time_rule = data_time_rules,
    .common = {{offsetof(struct posix_record, history.strides), POSIX_STRIDE, POSIX_STRIDE_COUNT, 1},
               {offsetof(struct posix_record, history.sizes), POSIX_ACCESS, POSIX_ACCESS_COUNT, 1}},
    .commons = 2,
    .bytes = {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = POSIX_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, POSIX_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, POSIX_MAX_WRITE_TIME_SIZE}},
};

enum side_counter { TRUNCATIONS, REMOVALS, SIDE_COUNTS };
static const char* const side_names[SIDE_COUNTS] = {"truncations", "removals"};
static const struct side_counters side_counters = {
    .part = "files", .names = side_names, .count = SIDE_COUNTS};

static void count_beside(const char* name, enum side_counter counter) {
    if (pause_active()) return; /* no record, which would lie in the mapping without a count */
    struct side_record* record = side_record_of(&side_counters, name);
    if (record) side_count(record, counter);
}

void posix_count_truncation(const char* name) {
    count_beside(name, TRUNCATIONS);
}

/* Names without a record here that are counted each by itself: another rank may have opened them. The others
   have one sum, so that a cleaning program does not fill the mapping and the side file. */
enum { REMOVED_UNOPENED = 1000 };

static bool has_record(const char* name) {
    return records_known(MODULE_POSIX, name) || records_known(MODULE_STDIO, name) ||
           records_known(module_of_counters(&side_counters), name);
}

void posix_count_removal(const char* name) {
    static atomic_int unopened;
    if (pause_active() || !settings_count_path(name)) return;
    const bool opened = has_record(name);
    if (!opened && atomic_load(&unopened) < REMOVED_UNOPENED) {
        atomic_fetch_add(&unopened, 1);
        count_beside(name, REMOVALS);
    } else {
        count_beside(opened ? name : OTHER_FILES, REMOVALS);
    }
}

const struct capture_module posix_module = {
    .name = "posix",
    .counters = &side_counters,
    .start = inherited_find,
    .kinds = (const struct record_kind* const[]){&posix_kind, NULL},
};
