/* Calls about files: all forms of stat, sync, rename, unlink, mmap. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/paths.h"
#include "core/process.h"
#include "posix/record.h"

static int note_stat_path(int folder, const char* path, int result, int64_t start) {
    if (result != 0 || !process_counts() || !process_is_ours() || !guard_enter()) return result;
    KEEP_ERRNO();
    struct posix_record* record = posix_record_at(folder, path);
    if (record) posix_count_meta(record, POSIX_STATS, clock_span(start));
    guard_leave();
    return result;
}

static int note_file(int fd, enum posix_counter counter, int result, int64_t start) {
    struct open_file* file = fd_file(fd);
    if (!file || result != 0 || !guard_enter()) return result;
    KEEP_ERRNO();
    struct posix_record* record = posix_record_of_file(file);
    if (record && counter != POSIX_FSYNCS && counter != POSIX_FDSYNCS) {
        posix_count_meta(record, counter, clock_span(start));
    } else if (record) {
        posix_count_sync(record, counter, clock_span(start));
    }
    guard_leave();
    return result;
}

/* With an empty path, the file is that of the descriptor. */
static int note_stat_at(int folder, const char* path, int flags, int result, int64_t start) {
    const bool itself = flags & AT_EMPTY_PATH && (!path || !*path);
    return itself ? note_file(folder, POSIX_STATS, result, start)
                  : note_stat_path(folder, path, result, start);
}

EXPORT int stat(const char* restrict path, struct stat* restrict status) {
    const int64_t start = clock_ns();
    return note_stat_path(AT_FDCWD, path, REAL(stat)(path, status), start);
}
EXPORT int lstat(const char* restrict path, struct stat* restrict status) {
    const int64_t start = clock_ns();
    return note_stat_path(AT_FDCWD, path, REAL(lstat)(path, status), start);
}
EXPORT int fstat(int fd, struct stat* status) {
    const int64_t start = clock_ns();
    return note_file(fd, POSIX_STATS, REAL(fstat)(fd, status), start);
}
EXPORT int fstatat(int folder, const char* restrict path, struct stat* restrict status, int flags) {
    const int64_t start = clock_ns();
    return note_stat_at(folder, path, flags, REAL(fstatat)(folder, path, status, flags), start);
}
EXPORT int statx(int folder, const char* restrict path, int flags, unsigned mask,
                 struct statx* restrict status) {
    const int64_t start = clock_ns();
    return note_stat_at(folder, path, flags, REAL(statx)(folder, path, flags, mask, status), start);
}
EXPORT_ALIAS(stat64, stat);
EXPORT_ALIAS(lstat64, lstat);
EXPORT_ALIAS(fstat64, fstat);
EXPORT_ALIAS(fstatat64, fstatat);

#ifndef CAPTURE_STATIC
/* Called by programs built before glibc 2.33. */
int __xstat(int version, const char* path, struct stat* status);
int __lxstat(int version, const char* path, struct stat* status);
int __fxstat(int version, int fd, struct stat* status);
int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags);

EXPORT int __xstat(int version, const char* path, struct stat* status) {
    const int64_t start = clock_ns();
    return note_stat_path(AT_FDCWD, path, REAL(__xstat)(version, path, status), start);
}
EXPORT int __lxstat(int version, const char* path, struct stat* status) {
    const int64_t start = clock_ns();
    return note_stat_path(AT_FDCWD, path, REAL(__lxstat)(version, path, status), start);
}
EXPORT int __fxstat(int version, int fd, struct stat* status) {
    const int64_t start = clock_ns();
    return note_file(fd, POSIX_STATS, REAL(__fxstat)(version, fd, status), start);
}
EXPORT int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags) {
    const int64_t start = clock_ns();
    return note_stat_at(folder, path, flags, REAL(__fxstatat)(version, folder, path, status, flags), start);
}
EXPORT_ALIAS(__xstat64, __xstat);
EXPORT_ALIAS(__lxstat64, __lxstat);
EXPORT_ALIAS(__fxstat64, __fxstat);
EXPORT_ALIAS(__fxstatat64, __fxstatat);
#endif

EXPORT int fsync(int fd) {
    const int64_t start = clock_ns();
    return note_file(fd, POSIX_FSYNCS, REAL(fsync)(fd), start);
}
EXPORT int fdatasync(int fd) {
    const int64_t start = clock_ns();
    return note_file(fd, POSIX_FDSYNCS, REAL(fdatasync)(fd), start);
}

EXPORT void* mmap(void* place, size_t length, int protection, int flags, int fd, off_t offset) {
    const int64_t start = clock_ns();
    void* pages = REAL(mmap)(place, length, protection, flags, fd, offset);
    if (!(flags & MAP_ANONYMOUS)) note_file(fd, POSIX_MMAPS, pages == MAP_FAILED ? -1 : 0, start);
    return pages;
}
EXPORT_ALIAS(mmap64, mmap);

static int note_rename(int from_folder, const char* from, int to_folder, const char* to, int result,
                       int64_t start) {
    char source[NAME_ROOM], target[NAME_ROOM];
    if (result != 0 || !process_counts() || !process_is_ours() || !guard_enter()) return result;
    KEEP_ERRNO();
    if (path_absolute_at(from_folder, from, source) && path_absolute_at(to_folder, to, target)) {
        posix_count_rename(source, target, clock_span(start));
    }
    guard_leave();
    return result;
}

EXPORT int rename(const char* from, const char* to) {
    const int64_t start = clock_ns();
    return note_rename(AT_FDCWD, from, AT_FDCWD, to, REAL(rename)(from, to), start);
}
EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    const int64_t start = clock_ns();
    return note_rename(from_folder, from, to_folder, to, REAL(renameat)(from_folder, from, to_folder, to),
                       start);
}
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    const int64_t start = clock_ns();
    return note_rename(from_folder, from, to_folder, to,
                       REAL(renameat2)(from_folder, from, to_folder, to, flags), start);
}

/* A folder is no file of the log: rmdir and unlinkat of one are not counted. `remove` does not say which it
 * was. */
static int note_removal(int folder, const char* path, int result) {
    char name[NAME_ROOM];
    if (result != 0 || !process_counts() || !process_is_ours() || !guard_enter()) return result;
    KEEP_ERRNO();
    if (path_absolute_at(folder, path, name)) posix_count_removal(name);
    guard_leave();
    return result;
}

EXPORT int unlink(const char* path) {
    return note_removal(AT_FDCWD, path, REAL(unlink)(path));
}
EXPORT int unlinkat(int folder, const char* path, int flags) {
    const int result = REAL(unlinkat)(folder, path, flags);
    return flags & AT_REMOVEDIR ? result : note_removal(folder, path, result);
}
EXPORT int remove(const char* path) {
    return note_removal(AT_FDCWD, path, REAL(remove)(path));
}
