#include "core/own_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/fd_table.h"
#include "core/sandbox.h"

int own_open(const char* path, int flags, int mode) {
    return (int)REAL(syscall)(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

void own_close(int fd) {
    REAL(syscall)(SYS_close, fd);
}

ssize_t own_read(int fd, void* data, size_t bytes) {
    return REAL(syscall)(SYS_read, fd, data, bytes);
}

bool own_write_all(int fd, const void* data, size_t bytes) {
    const char* next = data;
    while (bytes) {
        const ssize_t done = REAL(syscall)(SYS_write, fd, next, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        next += done;
        bytes -= (size_t)done;
    }
    return true;
}

bool own_reserve(int fd, int64_t bytes) {
    if (REAL(syscall)(SYS_fallocate, fd, 0, (off_t)0, (off_t)bytes) == 0) return true;
    return errno != ENOSPC && errno != EDQUOT && errno != EFBIG && errno != EROFS;
}

int64_t own_size(const char* path) {
    const int fd = own_open(path, O_RDONLY, 0);
    const int64_t bytes = fd >= 0 ? REAL(syscall)(SYS_lseek, fd, (off_t)0, SEEK_END) : -1;
    if (fd >= 0) own_close(fd);
    return bytes;
}

bool own_rename(const char* from, const char* to) {
    return REAL(syscall)(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) == 0;
}

void own_unlink(const char* path) {
    REAL(syscall)(SYS_unlinkat, AT_FDCWD, path, 0);
}

size_t own_slurp(const char* path, char* text, size_t room) {
    size_t used = 0;
    const int fd = own_open(path, O_RDONLY, 0);
    while (fd >= 0 && used + 1 < room) {
        const ssize_t got = own_read(fd, text + used, room - 1 - used);
        if (got <= 0) break;
        used += (size_t)got;
    }
    if (fd >= 0) own_close(fd);
    text[used] = '\0';
    return used;
}

void own_warn(const char* format, ...) {
    const struct open_file* file = fd_file(STDERR_FILENO);
    if (sandboxed() || (file && !file->shared))
        return; /* the application uses that descriptor for a file of its own */
    char line[2048];
    int used = snprintf(line, sizeof line, "workalike-capture: ");
    va_list arguments;
    va_start(arguments, format);
    used += vsnprintf(line + used, sizeof line - (size_t)used, format, arguments);
    va_end(arguments);
    if (used > (int)sizeof line - 2) used = (int)sizeof line - 2;
    line[used++] = '\n';
    own_write_all(STDERR_FILENO, line, (size_t)used);
}
