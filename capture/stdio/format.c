/* The many forms of printf and scanf. */
#include <stdarg.h>
#include <stdio.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "core/sandbox.h"
#include "stdio/record.h"

static int end_print(struct stream* stream, int64_t start, int written) {
    if (!stream) return written;
    if (written < 0) stream_settle(stream);
    if (written < 0 || !guard_enter()) return written;
    KEEP_ERRNO();
    stream_count_transfer(stream, STREAM_WRITE, written, clock_span(start));
    guard_leave();
    return written;
}

EXPORT int vfprintf(FILE* restrict file, const char* restrict format, va_list arguments) {
    struct stream* stream = stream_at_call(file);
    const int64_t start = clock_ns();
    return end_print(stream, start, REAL(vfprintf)(file, format, arguments));
}

int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments);
EXPORT int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments) {
    struct stream* stream = stream_at_call(file);
    const int64_t start = clock_ns();
    return end_print(stream, start, REAL(__vfprintf_chk)(file, flag, format, arguments));
}

EXPORT int vprintf(const char* restrict format, va_list arguments) {
    return vfprintf(stdout, format, arguments);
}

int __vprintf_chk(int flag, const char* format, va_list arguments);
EXPORT int __vprintf_chk(int flag, const char* format, va_list arguments) {
    return __vfprintf_chk(stdout, flag, format, arguments);
}

/* Passes the arguments after `last` to a call with a va_list. */
#define FORWARD(last, call)    \
    va_list arguments;         \
    va_start(arguments, last); \
    const int result = call;   \
    va_end(arguments);         \
    return result

EXPORT int fprintf(FILE* restrict file, const char* restrict format, ...) {
    FORWARD(format, vfprintf(file, format, arguments));
}
EXPORT int printf(const char* restrict format, ...) {
    FORWARD(format, vfprintf(stdout, format, arguments));
}
int __fprintf_chk(FILE* file, int flag, const char* format, ...);
EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
    FORWARD(format, __vfprintf_chk(file, flag, format, arguments));
}
int __printf_chk(int flag, const char* format, ...);
EXPORT int __printf_chk(int flag, const char* format, ...) {
    FORWARD(format, __vfprintf_chk(stdout, flag, format, arguments));
}

/* Only the position of the stream before and after a scan shows how much it consumed. */
static int64_t position(struct stream* stream, FILE* file) {
    if (stream->no_position || sandboxed()) return 0;
    const off_t at = ftello(file);
    stream->no_position = at < 0;
    return at < 0 ? 0 : at;
}

struct scan {
    struct stream* stream;
    int64_t start, before;
};

static struct scan begin_scan(FILE* file) {
    KEEP_ERRNO();
    struct scan scan = {stream_at_call(file), 0, 0};
    if (scan.stream) scan.before = position(scan.stream, file);
    scan.start = clock_ns();
    return scan;
}

static int end_scan(struct scan scan, FILE* file, int result) {
    if (!scan.stream) return result;
    if (result == EOF) stream_settle(scan.stream);
    if (result == EOF || !guard_enter()) return result;
    KEEP_ERRNO();
    const struct span span = clock_span(scan.start);
    stream_count_transfer(scan.stream, STREAM_READ, position(scan.stream, file) - scan.before, span);
    guard_leave();
    return result;
}

/* The C library's sets of scanf functions: ISO C23 and C99, of which headers choose one, and an older GNU
   set. */
#define SCANS(vscan, scan_file, scan_stdin, vscan_stdin)                                    \
    int vscan(FILE* restrict file, const char* restrict format, va_list arguments);         \
    int scan_file(FILE* restrict file, const char* restrict format, ...);                   \
    int scan_stdin(const char* restrict format, ...);                                       \
    int vscan_stdin(const char* restrict format, va_list arguments);                        \
    EXPORT int vscan(FILE* restrict file, const char* restrict format, va_list arguments) { \
        const struct scan scan = begin_scan(file);                                          \
        return end_scan(scan, file, REAL(vscan)(file, format, arguments));                  \
    }                                                                                       \
    EXPORT int scan_file(FILE* restrict file, const char* restrict format, ...) {           \
        FORWARD(format, vscan(file, format, arguments));                                    \
    }                                                                                       \
    EXPORT int scan_stdin(const char* restrict format, ...) {                               \
        FORWARD(format, vscan(stdin, format, arguments));                                   \
    }                                                                                       \
    EXPORT int vscan_stdin(const char* restrict format, va_list arguments) {                \
        return vscan(stdin, format, arguments);                                             \
    }
SCANS(__isoc99_vfscanf, __isoc99_fscanf, __isoc99_scanf, __isoc99_vscanf)
#if !defined CAPTURE_STATIC || __GLIBC_PREREQ(2, 38)
SCANS(__isoc23_vfscanf, __isoc23_fscanf, __isoc23_scanf, __isoc23_vscanf)
#endif

#ifndef CAPTURE_STATIC
/* The headers map the plain names to newer functions; these symbols are the older ones. */
int gnu_vfscanf(FILE* restrict file, const char* restrict format, va_list arguments) __asm__("vfscanf");
int gnu_fscanf(FILE* restrict file, const char* restrict format, ...) __asm__("fscanf");
EXPORT int gnu_vfscanf(FILE* restrict file, const char* restrict format, va_list arguments) {
    static _Atomic(void*) slot;
    if (!slot) real_lookup("vfscanf", &slot);
    const struct scan scan = begin_scan(file);
    return end_scan(scan, file, ((__typeof__(&gnu_vfscanf))slot)(file, format, arguments));
}
EXPORT int gnu_fscanf(FILE* restrict file, const char* restrict format, ...) {
    FORWARD(format, gnu_vfscanf(file, format, arguments));
}
#endif
