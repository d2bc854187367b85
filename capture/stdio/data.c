/* Reads and writes of streams. Formatting of text inside a call is part of the call's time. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "stdio/record.h"

struct call {
    struct stream* stream; /* NULL: not counted */
    int64_t start;
};

static inline struct call begin(FILE* file) {
    struct call call = {stream_of(file), 0};
    if (call.stream) call.start = clock_ns();
    return call;
}

static inline void end(struct call call, enum transfer_kind kind, int64_t size) {
    if (!call.stream || size < 0 || !guard_enter()) return;
    KEEP_ERRNO();
    stream_count_transfer(call.stream, kind, size, clock_span(call.start));
    guard_leave();
}

EXPORT size_t fread(void* restrict memory, size_t size, size_t count, FILE* restrict file) {
    const struct call call = begin(file);
    const size_t done = REAL(fread)(memory, size, count, file);
    if (done || !count || !size) end(call, STREAM_READ, (int64_t)(size * done));
    return done;
}

EXPORT size_t fwrite(const void* restrict memory, size_t size, size_t count, FILE* restrict file) {
    const struct call call = begin(file);
    const size_t done = REAL(fwrite)(memory, size, count, file);
    if (done || !count || !size) end(call, STREAM_WRITE, (int64_t)(size * done));
    return done;
}

EXPORT char* fgets(char* restrict text, int room, FILE* restrict file) {
    const struct call call = begin(file);
    char* got = REAL(fgets)(text, room, file);
    if (got) end(call, STREAM_READ, (int64_t)strlen(got));
    return got;
}

EXPORT int fputs(const char* restrict text, FILE* restrict file) {
    const struct call call = begin(file);
    const int result = REAL(fputs)(text, file);
    if (result >= 0) end(call, STREAM_WRITE, (int64_t)strlen(text));
    return result;
}

EXPORT int puts(const char* text) {
    const struct call call = begin(stdout);
    const int result = REAL(puts)(text);
    if (result >= 0) end(call, STREAM_WRITE, (int64_t)strlen(text) + 1);
    return result;
}

#define ONE_READ(function)                         \
    EXPORT int function(FILE* file) {              \
        const struct call call = begin(file);      \
        const int got = REAL(function)(file);      \
        if (got != EOF) end(call, STREAM_READ, 1); \
        return got;                                \
    }
#define ONE_WRITE(function)                               \
    EXPORT int function(int character, FILE* file) {      \
        const struct call call = begin(file);             \
        const int done = REAL(function)(character, file); \
        if (done != EOF) end(call, STREAM_WRITE, 1);      \
        return done;                                      \
    }
int _IO_getc(FILE* file);
int _IO_putc(int character, FILE* file);
ONE_READ(fgetc)
ONE_READ(getc)
ONE_READ(_IO_getc)
ONE_WRITE(fputc)
ONE_WRITE(putc)
ONE_WRITE(_IO_putc)

EXPORT int getchar(void) {
    return getc(stdin);
}

EXPORT int putchar(int character) {
    return putc(character, stdout);
}

EXPORT int getw(FILE* file) {
    const struct call call = begin(file);
    const int got = REAL(getw)(file);
    if (got != EOF || !ferror(file)) end(call, STREAM_READ, sizeof got);
    return got;
}

EXPORT int putw(int word, FILE* file) {
    const struct call call = begin(file);
    const int failed = REAL(putw)(word, file);
    if (!failed) end(call, STREAM_WRITE, sizeof word);
    return failed;
}

EXPORT ssize_t getdelim(char** restrict line, size_t* restrict room, int delimiter, FILE* restrict file) {
    const struct call call = begin(file);
    const ssize_t got = REAL(getdelim)(line, room, delimiter, file);
    if (got > 0) end(call, STREAM_READ, got);
    return got;
}
EXPORT_ALIAS(__getdelim, getdelim);

EXPORT ssize_t getline(char** restrict line, size_t* restrict room, FILE* restrict file) {
    return getdelim(line, room, '\n', file);
}

/* Fortified calls have sizes that the C library checks; after the check they are like the plain ones. */
size_t __fread_chk(void* memory, size_t room, size_t size, size_t count, FILE* file);
char* __fgets_chk(char* text, size_t room, int size, FILE* file);

EXPORT size_t __fread_chk(void* memory, size_t room, size_t size, size_t count, FILE* file) {
    const struct call call = begin(file);
    const size_t done = REAL(__fread_chk)(memory, room, size, count, file);
    if (done || !count || !size) end(call, STREAM_READ, (int64_t)(size * done));
    return done;
}

EXPORT char* __fgets_chk(char* text, size_t room, int size, FILE* file) {
    const struct call call = begin(file);
    char* got = REAL(__fgets_chk)(text, room, size, file);
    if (got) end(call, STREAM_READ, (int64_t)strlen(got));
    return got;
}
