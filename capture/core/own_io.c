#include "core/own_io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/export.h"
#include "core/fd_table.h"
#include "core/sandbox.h"

enum { KERNEL_SIGSET = 8 }; /* bytes of a signal set in the kernel; the C library's is longer */

/* A write beyond the limit on file sizes (RLIMIT_FSIZE) raises SIGXFSZ, which would end the application. */
static sigset_t hold_size_signal(void) {
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGXFSZ);
    REAL(syscall)(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, KERNEL_SIGSET);
    return before;
}

/* Takes back the signal that our write has raised, unless the application blocks it and waits for it. */
static void release_size_signal(sigset_t before, bool too_large) {
    const int kept = errno;
    if (too_large && !sigismember(&before, SIGXFSZ)) {
        const struct timespec now = {0, 0};
        sigset_t held;
        sigemptyset(&held);
        sigaddset(&held, SIGXFSZ);
        while (REAL(syscall)(SYS_rt_sigtimedwait, &held, NULL, &now, KERNEL_SIGSET) < 0 && errno == EINTR) {
        }
    }
    REAL(syscall)(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, KERNEL_SIGSET);
    errno = kept;
}

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
    const sigset_t before = hold_size_signal();
    ssize_t done = 0;
    while (bytes) {
        done = REAL(syscall)(SYS_write, fd, next, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) break;
        next += done;
        bytes -= (size_t)done;
    }
    release_size_signal(before, done < 0 && errno == EFBIG);
    return bytes == 0;
}

bool own_allocate(int fd, int64_t bytes) {
    const sigset_t before = hold_size_signal();
    const bool done = REAL(syscall)(SYS_fallocate, fd, 0, (off_t)0, (off_t)bytes) == 0;
    release_size_signal(before, !done && errno == EFBIG);
    return done;
}

bool own_reserve(int fd, int64_t bytes) {
    return own_allocate(fd, bytes) ||
           (errno != ENOSPC && errno != EDQUOT && errno != EFBIG && errno != EROFS);
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
