/* Descriptors: open, close and copies. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/process.h"
#include "posix/record.h"

enum { NO_MODE = 0 };

static void note_opened(int folder, const char* path, int flags, int mode, int fd, int64_t start) {
    const struct span span = clock_span(start);
    if (!process_counts() || !process_is_ours() || !guard_enter()) return;
    KEEP_ERRNO();
    struct posix_record* record = NULL;
    fd_closed(fd); /* it was closed without our knowledge and is used again */
    if ((flags & O_TMPFILE) != O_TMPFILE) record = posix_record_at(folder, path);
    if (record) {
        if (flags & O_TRUNC && record->log.counter[POSIX_BYTES_WRITTEN])
            posix_count_truncation(posix_record_name(record));
        posix_count_open(record, mode, span);
        fd_opened(fd, record, posix_record_name(record), flags & O_APPEND);
    }
    guard_leave();
}

static bool creates(int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE_ARGUMENT(mode, flags)     \
    int mode = NO_MODE;                \
    if (creates(flags)) {              \
        va_list arguments;             \
        va_start(arguments, flags);    \
        mode = va_arg(arguments, int); \
        va_end(arguments);             \
    }

EXPORT int open(const char* path, int flags, ...) {
    MODE_ARGUMENT(mode, flags)
    const int64_t start = clock_ns();
    const int fd = REAL(open)(path, flags, mode);
    if (fd >= 0) note_opened(AT_FDCWD, path, flags, mode, fd, start);
    return fd;
}
EXPORT_ALIAS(open64, open);

EXPORT int openat(int folder, const char* path, int flags, ...) {
    MODE_ARGUMENT(mode, flags)
    const int64_t start = clock_ns();
    const int fd = REAL(openat)(folder, path, flags, mode);
    if (fd >= 0) note_opened(folder, path, flags, mode, fd, start);
    return fd;
}
EXPORT_ALIAS(openat64, openat);

/* Called by fortified programs. */
int __open_2(const char* path, int flags);
EXPORT int __open_2(const char* path, int flags) {
    return open(path, flags);
}
EXPORT_ALIAS(__open64_2, __open_2);

int __openat_2(int folder, const char* path, int flags);
EXPORT int __openat_2(int folder, const char* path, int flags) {
    return openat(folder, path, flags);
}
EXPORT_ALIAS(__openat64_2, __openat_2);

EXPORT int creat(const char* path, mode_t mode) {
    const int64_t start = clock_ns();
    const int fd = REAL(creat)(path, mode);
    if (fd >= 0) note_opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, (int)mode, fd, start);
    return fd;
}
EXPORT_ALIAS(creat64, creat);

/* mkstemp and similar functions write the name that they chose into their argument. */
#define TEMPORARY(function, parameters, arguments, flags)                    \
    EXPORT int function parameters {                                         \
        const int64_t start = clock_ns();                                    \
        const int fd = REAL(function) arguments;                             \
        if (fd >= 0) note_opened(AT_FDCWD, path, flags, NO_MODE, fd, start); \
        return fd;                                                           \
    }
TEMPORARY(mkstemp, (char* path), (path), 0)
TEMPORARY(mkostemp, (char* path, int flags), (path, flags), flags)
TEMPORARY(mkstemps, (char* path, int length), (path, length), 0)
TEMPORARY(mkostemps, (char* path, int length, int flags), (path, length, flags), flags)
EXPORT_ALIAS(mkstemp64, mkstemp);
EXPORT_ALIAS(mkostemp64, mkostemp);
EXPORT_ALIAS(mkstemps64, mkstemps);
EXPORT_ALIAS(mkostemps64, mkostemps);

EXPORT int close(int fd) {
    struct open_file* file = fd_file(fd);
    if (!file || !process_is_ours() || !guard_enter()) return REAL(close)(fd);
    /* The file is removed from the table before it is closed, because its number may be used again at
       once. */
    struct posix_record* record = posix_record_in_use(file);
    if (record) posix_show_closing(fd, record);
    fd_closed(fd);
    const int64_t start = clock_ns();
    const int result = REAL(close)(fd);
    if (record && result == 0) {
        KEEP_ERRNO();
        posix_count_close(record, clock_span(start));
    }
    guard_leave();
    return result;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
    const int result = REAL(close_range)(first, last, flags);
    if (result == 0 && !(flags & CLOSE_RANGE_CLOEXEC) && process_is_ours() && guard_enter()) {
        for (unsigned fd = first; fd <= last && fd < FD_CHUNK * FD_CHUNKS; ++fd) fd_closed((int)fd);
        guard_leave();
    }
    return result;
}

EXPORT void closefrom(int first) {
    REAL(closefrom)(first);
    if (!process_is_ours() || !guard_enter()) return;
    for (int fd = first; fd < FD_CHUNK * FD_CHUNKS; ++fd) fd_closed(fd);
    guard_leave();
}

static int note_copied(int fd, int copy, int64_t start) {
    if (copy < 0 || (!fd_file(fd) && !fd_file(copy)) || !process_is_ours() || !guard_enter()) return copy;
    KEEP_ERRNO();
    struct open_file* file = fd_copied(fd, copy);
    struct posix_record* record = file ? posix_record_of_file(file) : NULL;
    if (record) posix_count_copy(record, POSIX_DUPS, clock_span(start));
    guard_leave();
    return copy;
}

EXPORT int dup(int fd) {
    const int64_t start = clock_ns();
    return note_copied(fd, REAL(dup)(fd), start);
}

EXPORT int dup2(int fd, int copy) {
    const int64_t start = clock_ns();
    return note_copied(fd, REAL(dup2)(fd, copy), start);
}

EXPORT int dup3(int fd, int copy, int flags) {
    const int64_t start = clock_ns();
    return note_copied(fd, REAL(dup3)(fd, copy, flags), start);
}

EXPORT int fcntl(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void* argument = va_arg(arguments, void*); /* an int comes in the same register */
    va_end(arguments);
    const int64_t start = clock_ns();
    const int result = REAL(fcntl)(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? note_copied(fd, result, start) : result;
}
EXPORT_ALIAS(fcntl64, fcntl);
