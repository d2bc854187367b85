/* Streams: open, close, position, flush. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/module.h"
#include "core/paths.h"
#include "core/process.h"
#include "core/records.h"
#include "core/sandbox.h"
#include "posix/record.h"
#include "stdio/record.h"

/* Where a stream begins to write: in append mode at the end, which the C library has just looked up. */
static int64_t first_offset(FILE* file, const char* mode) {
    const off_t end = *mode == 'a' && !sandboxed() ? ftello(file) : 0;
    return end > 0 ? end : 0;
}

static FILE* note_opened(FILE* file, const char* path, const char* mode, int64_t start) {
    const struct span span = clock_span(start);
    char name[NAME_ROOM];
    if (!file || !process_counts() || !process_is_ours() || !guard_enter()) return file;
    KEEP_ERRNO();
    if (path_absolute(path, name)) {
        if (*mode == 'w' && stream_was_written(name)) posix_count_truncation(name);
        stream_opened(file, name, STDIO_OPENS, first_offset(file, mode), span);
    }
    guard_leave();
    return file;
}

EXPORT FILE* fopen(const char* restrict path, const char* restrict mode) {
    const int64_t start = clock_ns();
    return note_opened(REAL(fopen)(path, mode), path, mode, start);
}
EXPORT_ALIAS(fopen64, fopen);

EXPORT FILE* fdopen(int fd, const char* mode) {
    const int64_t start = clock_ns();
    FILE* file = REAL(fdopen)(fd, mode);
    const struct span span = clock_span(start);
    const struct open_file* known = fd_file(fd);
    if (!file || !known || !process_counts() || !process_is_ours() || !guard_enter()) return file;
    KEEP_ERRNO();
    stream_opened(file, known->name, STDIO_FDOPENS, first_offset(file, mode), span);
    guard_leave();
    return file;
}

static void forget(FILE* file, int64_t start) {
    if (!process_is_ours() || !guard_enter()) return;
    struct stream* stream = stream_of(file);
    if (stream) stream_count_inlined(stream);
    struct stdio_record* record = stream ? stream_forget(stream) : NULL;
    if (record) stdio_count_close(record, clock_span(start));
    guard_leave();
}

EXPORT FILE* freopen(const char* restrict path, const char* restrict mode, FILE* restrict file) {
    const int64_t start = clock_ns();
    forget(file, start);
    FILE* opened = REAL(freopen)(path, mode, file);
    return path ? note_opened(opened, path, mode, start) : opened;
}
EXPORT_ALIAS(freopen64, freopen);

EXPORT int fclose(FILE* file) {
    if (!process_is_ours() || !guard_enter()) return REAL(fclose)(file);
    struct stream* stream = stream_of(file);
    if (stream) stream_count_inlined(stream);
    const int fd = file->_fileno;
    struct stdio_record* record = stream ? stream_forget(stream) : NULL;
    struct posix_record* below = fd_file(fd) ? posix_record_in_use(fd_file(fd)) : NULL;
    if (record && fd >= 0) modules_closing(fd, records_name(record->log.base.id));
    fd_closed(fd);
    const int64_t start = clock_ns();
    const int result = REAL(fclose)(file);
    KEEP_ERRNO();
    if (record) stdio_count_close(record, clock_span(start));
    if (below) posix_count_close(below, clock_span(start));
    guard_leave();
    return result;
}

/* The descriptor of a stream. The POSIX module counts what is done with it from now on. */
static void note_descriptor(struct stream* stream, int fd, struct span span) {
    struct open_file* file = fd_file(fd);
    struct posix_record* record = file ? posix_record_of_file(file) : posix_record_of(stream->name);
    if (!record) return;
    if (!file) {
        file = fd_opened(fd, record, stream->name, false);
        const off_t at = sandboxed() ? 0 : REAL(lseek)(fd, 0, SEEK_CUR);
        if (file && at > 0) file->offset = at;
    }
    posix_count_copy(record, POSIX_FILENOS, span);
}

EXPORT int fileno(FILE* file) {
    const int64_t start = clock_ns();
    const int fd = REAL(fileno)(file);
    if (fd <= STDERR_FILENO || !process_is_ours() || !guard_enter()) return fd;
    KEEP_ERRNO();
    struct stream* stream = stream_of(file);
    const bool is_file =
        stream && stream->name && (*stream->name == '/' || records_is_others_name(stream->name));
    if (is_file) note_descriptor(stream, fd, clock_span(start));
    guard_leave();
    return fd;
}

static void note_seek(FILE* file, int whence, int64_t offset, int64_t start) {
    struct stream* stream = stream_of(file);
    if (!stream || !guard_enter()) return;
    KEEP_ERRNO();
    const struct span span = clock_span(start);
    if (whence != SEEK_SET) offset = ftello(file);
    stream_count_seek(stream, offset, span);
    guard_leave();
}

EXPORT int fseek(FILE* file, long offset, int whence) {
    (void)stream_at_call(file);
    const int64_t start = clock_ns();
    const int result = REAL(fseek)(file, offset, whence);
    if (result == 0) note_seek(file, whence, offset, start);
    return result;
}

EXPORT int fseeko(FILE* file, off_t offset, int whence) {
    (void)stream_at_call(file);
    const int64_t start = clock_ns();
    const int result = REAL(fseeko)(file, offset, whence);
    if (result == 0) note_seek(file, whence, offset, start);
    return result;
}
EXPORT_ALIAS(fseeko64, fseeko);

EXPORT void rewind(FILE* file) {
    (void)stream_at_call(file);
    const int64_t start = clock_ns();
    REAL(rewind)(file);
    note_seek(file, SEEK_SET, 0, start);
}

EXPORT int fsetpos(FILE* file, const fpos_t* position) {
    (void)stream_at_call(file);
    const int64_t start = clock_ns();
    const int result = REAL(fsetpos)(file, position);
    if (result == 0) note_seek(file, SEEK_CUR, 0, start);
    return result;
}
EXPORT_ALIAS(fsetpos64, fsetpos);

#define FLUSH(function)                                             \
    EXPORT int function(FILE* file) {                               \
        struct stream* stream = file ? stream_at_call(file) : NULL; \
        const int64_t start = clock_ns();                           \
        const int result = REAL(function)(file);                    \
        if (stream && result == 0 && guard_enter()) {               \
            KEEP_ERRNO();                                           \
            stream_count_flush(stream, clock_span(start));          \
            guard_leave();                                          \
        }                                                           \
        return result;                                              \
    }
FLUSH(fflush)
FLUSH(fflush_unlocked)
