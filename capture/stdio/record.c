#include "stdio/record.h"

#include <stddef.h>

#include "core/access.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/memory.h"
#include "core/module.h"
#include "core/records.h"
#include "core/settings.h"
#include "core/single_thread.h"
#include "log/events.h"
#include "log/heatmap.h"
#include "log/log.h"

enum { STREAM_CHUNK = 256, STREAM_CHUNKS = 4096 };

static _Atomic(struct stream*) chunks[STREAM_CHUNKS];
static spin_lock chunks_lock;

static const struct record_shape shape = {
    .module = MODULE_STDIO,
    .entry_size = sizeof(struct stdio_record),
    .record_at = offsetof(struct stdio_record, log),
    .record_size = sizeof(struct stdio_stored),
};

static struct stream* slot_of(int fd) {
    if ((unsigned)fd >= STREAM_CHUNK * STREAM_CHUNKS) return NULL;
    struct stream* chunk = atomic_load_explicit(&chunks[fd / STREAM_CHUNK], memory_order_acquire);
    return chunk ? &chunk[fd % STREAM_CHUNK] : NULL;
}

static struct stream* made_slot_of(int fd) {
    if ((unsigned)fd >= STREAM_CHUNK * STREAM_CHUNKS) return NULL;
    spin_acquire(&chunks_lock);
    if (!atomic_load(&chunks[fd / STREAM_CHUNK])) {
        atomic_store(&chunks[fd / STREAM_CHUNK], memory_pages(STREAM_CHUNK * sizeof(struct stream)));
    }
    spin_release(&chunks_lock);
    return slot_of(fd);
}

static struct stdio_record* find(const char* name) {
    bool made;
    struct stdio_record* record = (struct stdio_record*)records_find_counted(&shape, name, &made);
    if (record && made) {
        struct sizes_record* sizes = sizes_record_of(records_is_others(&record->head) ? OTHER_FILES : name);
        record_lock(&record->head);
        record->sizes = sizes;
        record_unlock(&record->head);
    }
    return record;
}

static struct stdio_record* record_of(struct stream* stream) {
    struct stdio_record* record = atomic_load_explicit(&stream->record, memory_order_acquire);
    if (__builtin_expect(!record, 0) && stream->name) {
        record = find(stream->name);
        atomic_store(&stream->record, record);
    }
    return record;
}

static const char* standard_name(const FILE* file) {
    if (file == stdin) return "<STDIN>";
    if (file == stdout) return "<STDOUT>";
    return file == stderr ? "<STDERR>" : NULL;
}

static struct stream* enter(FILE* file, const char* name, int64_t offset) {
    struct stream* stream = made_slot_of(file->_fileno);
    if (!stream) return NULL;
    stream->file = file;
    stream->name = name;
    stream->offset = offset;
    stream->no_position = false;
    stream->has_inlined = false;
    stream->read_to = stream->written_to = NULL;
    atomic_store(&stream->record, NULL);
    return stream;
}

struct stream* stream_of(FILE* file) {
    const int fd = file->_fileno; /* negative for streams that are no files */
    struct stream* stream = slot_of(fd);
    if (stream && stream->file == file) return stream;
    const char* name = fd >= 0 ? standard_name(file) : NULL;
    return name ? enter(file, settings_count_path(name) ? name : NULL, 0) : NULL;
}

static void count_window(struct stdio_record* record, enum stdio_time start, enum stdio_time end,
                         struct span span) {
    double* time = record->log.time;
    note_window(&time[start], &time[end], span);
    note_time(&time[STDIO_META_TIME], &record->meta_end, span);
}

bool stream_was_written(const char* name) {
    const struct stdio_record* record =
        settings_count_path(name) && records_known(MODULE_STDIO, name) ? find(name) : NULL;
    return record && record->log.counter[STDIO_BYTES_WRITTEN];
}

void stream_opened(FILE* file, const char* name, enum stdio_counter counter, int64_t offset,
                   struct span span) {
    struct stdio_record* record = find(name);
    struct stream* stream = record ? enter(file, records_name(record->log.base.id), offset) : NULL;
    if (!stream) return;
    atomic_store(&stream->record, record);
    event(MODULE_STDIO, EVENT_OPEN, record->log.base.id, span);
    if (!record_begin(&record->head)) return;
    ++record->log.counter[STDIO_OPENS];
    if (counter == STDIO_FDOPENS) ++record->log.counter[STDIO_FDOPENS];
    count_window(record, STDIO_OPEN_START, STDIO_OPEN_END, span);
    record_unlock(&record->head);
}

struct stdio_record* stream_forget(struct stream* stream) {
    struct stdio_record* record = record_of(stream);
    stream->file = NULL;
    return record;
}

void stdio_count_close(struct stdio_record* record, struct span span) {
    event(MODULE_STDIO, EVENT_CLOSE, record->log.base.id, span);
    /* A close alone does not bring a record into the log, because a child closes what its parent opened. */
    if (pause_active()) return;
    record_lock(&record->head);
    count_window(record, STDIO_CLOSE_START, STDIO_CLOSE_END, span);
    record_unlock(&record->head);
}

/* Counts `calls` of the same size. */
static void count_transfer(struct stdio_record* record, enum transfer_kind kind, int64_t end, int64_t size,
                           int64_t calls, struct span span) {
    const enum sized which = kind == STREAM_READ ? SIZED_READS : SIZED_WRITES;
    if (record->sizes) sizes_count(record->sizes, which, size, calls);
    stdio_transferred_by(calls, record->log.counter, kind == STREAM_WRITE, end, size * calls);
    double* time = record->log.time;
    if (kind == STREAM_READ) {
        note_window(&time[STDIO_READ_START], &time[STDIO_READ_END], span);
        note_time(&time[STDIO_READ_TIME], &record->read_end, span);
    } else {
        note_window(&time[STDIO_WRITE_START], &time[STDIO_WRITE_END], span);
        note_time(&time[STDIO_WRITE_TIME], &record->write_end, span);
    }
}

/* What is in the buffer of the stream now is counted. */
static void buffer_is_counted(struct stream* stream) {
    stream->read_to = stream->file->_IO_read_ptr;
    stream->written_to = stream->file->_IO_write_ptr;
}

static void count_calls(struct stream* stream, enum transfer_kind kind, int64_t size, int64_t calls,
                        struct span span) {
    struct stdio_record* record = record_of(stream);
    if (!record) return;
    record_lock(&record->head);
    stream->offset += size * calls;
    const bool counts = record_counts(&record->head);
    if (counts) count_transfer(record, kind, stream->offset, size, calls, span);
    buffer_is_counted(stream);
    record_unlock(&record->head);
    if (counts) heatmap_count(HEATMAP_STDIO, kind == STREAM_WRITE, size * calls, span);
}

void stream_count_transfer(struct stream* stream, enum transfer_kind kind, int64_t size, struct span span) {
    count_calls(stream, kind, size, 1, span);
}

/* The characters from a place that is counted to the present one; 0 if the buffer is another one by now. */
static int64_t moved_since(const char* counted, const char* begin, const char* end, const char* now) {
    return counted && begin && counted >= begin && counted <= end && now > counted ? now - counted : 0;
}

/* With other threads, a stream may be within a call that is not yet counted, so that only a call that the
   program itself made for an empty or full buffer shows that it uses the buffer. Wide characters have another
   buffer. */
static bool may_have_inlined(const struct stream* stream) {
    return (stream->has_inlined || has_single_thread()) && stream->file->_mode <= 0;
}

void stream_settle(struct stream* stream) {
    if (may_have_inlined(stream)) buffer_is_counted(stream);
}

void stream_count_inlined(struct stream* stream) {
    if (!may_have_inlined(stream)) return;
    const FILE* file = stream->file;
    const int64_t read =
        moved_since(stream->read_to, file->_IO_read_base, file->_IO_read_end, file->_IO_read_ptr);
    const int64_t written =
        moved_since(stream->written_to, file->_IO_write_base, file->_IO_buf_end, file->_IO_write_ptr);
    if (!read && !written) return;
    /* They took no time in a call; their moment is now. */
    const struct span now = clock_span(clock_ns());
    if (read) count_calls(stream, STREAM_READ, 1, read, now);
    if (written) count_calls(stream, STREAM_WRITE, 1, written, now);
}

struct stream* stream_at_call(FILE* file) {
    struct stream* stream = stream_of(file);
    if (stream &&
        (stream->file->_IO_read_ptr != stream->read_to ||
         stream->file->_IO_write_ptr != stream->written_to) &&
        guard_enter()) {
        KEEP_ERRNO();
        stream_count_inlined(stream);
        guard_leave();
    }
    return stream;
}

void streams_count_inlined(void) {
    for (int i = 0; i < STREAM_CHUNKS; ++i) {
        struct stream* chunk = atomic_load(&chunks[i]);
        for (int j = 0; chunk && j < STREAM_CHUNK; ++j) {
            if (chunk[j].file) stream_count_inlined(&chunk[j]);
        }
    }
}

void stream_count_seek(struct stream* stream, int64_t offset, struct span span) {
    struct stdio_record* record = record_of(stream);
    if (!record) return;
    record_lock(&record->head);
    stream->offset = offset;
    buffer_is_counted(stream);
    if (record_counts(&record->head)) {
        ++record->log.counter[STDIO_SEEKS];
        note_time(&record->log.time[STDIO_META_TIME], &record->meta_end, span);
    }
    record_unlock(&record->head);
}

void stream_count_flush(struct stream* stream, struct span span) {
    struct stdio_record* record = record_of(stream);
    if (!record) return;
    if (pause_active()) return;
    record_lock(&record->head); /* as in a close */
    buffer_is_counted(stream);
    ++record->log.counter[STDIO_FLUSHES];
    note_time(&record->log.time[STDIO_WRITE_TIME], &record->write_end, span);
    record_unlock(&record->head);
}

void streams_after_fork(void) {
    chunks_lock = 0;
    for (int i = 0; i < STREAM_CHUNKS; ++i) {
        struct stream* chunk = atomic_load(&chunks[i]);
        for (int j = 0; chunk && j < STREAM_CHUNK; ++j) atomic_store(&chunk[j].record, NULL);
    }
}

static const uint8_t stdio_counters[STDIO_COUNTERS] = {
    [STDIO_MAX_BYTE_READ] = RULE_MAX,
    [STDIO_MAX_BYTE_WRITTEN] = RULE_MAX,
    [STDIO_FASTEST_RANK... STDIO_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const uint8_t stdio_times[STDIO_TIMES] = {
    [STDIO_OPEN_START... STDIO_READ_START] = RULE_FIRST,
    [STDIO_OPEN_END... STDIO_READ_END] = RULE_MAX,
    [STDIO_FASTEST_RANK_TIME... STDIO_VARIANCE_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct record_kind stdio_kind = {
    .module = MODULE_STDIO,
    .word = "STDIO",
    .version = 2,
    .size = sizeof(struct stdio_stored),
    .moments = {STDIO_OPEN_START, STDIO_READ_END + 1 - STDIO_OPEN_START},
    .reduced = true,
    .head = 2,
    .counters = STDIO_COUNTERS,
    .times = STDIO_TIMES,
    .counter_rule = stdio_counters,
    .time_rule = stdio_times,
    .bytes = {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN},
    .spent = {STDIO_READ_TIME, STDIO_WRITE_TIME, STDIO_META_TIME},
    .ranks = STDIO_FASTEST_RANK,
    .fastest_time = STDIO_FASTEST_RANK_TIME,
    .variance_time = STDIO_VARIANCE_RANK_TIME,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static void add_sizes(struct log_content* content, const struct job_times* job, int64_t rank,
                      struct buffer* part) {
    (void)job;
    (void)rank;
    sizes_text(part, &content->records[MODULE_SIZES]);
}

const struct capture_module stdio_module = {
    .name = "stdio",
    .kinds = (const struct record_kind* const[]){&stdio_kind, NULL},
    .part = "stdio_sizes",
    .part_wanted = &sizes_wanted,
    .start = sizes_start,
    .fork = streams_after_fork,
    .finish = streams_count_inlined,
    .log = add_sizes,
};
