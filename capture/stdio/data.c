/* Reads and writes of streams. Formatting of text inside a call is part of the call's time. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "stdio/record.h"

/* The headers put them into the program as macros. */
#undef fread_unlocked
#undef fwrite_unlocked

struct call {
    struct stream* stream; /* NULL: not counted */
    int64_t start;
};

static inline struct call begin(FILE* file) {
    struct call call = {stream_at_call(file), 0};
    if (call.stream) call.start = clock_ns();
    return call;
}

/* `size` is -1 for a call that counts nothing. */
static inline void end(struct call call, enum transfer_kind kind, int64_t size) {
    if (!call.stream) return;
    if (size < 0) {
        stream_settle(call.stream);
        return;
    }
    if (!guard_enter()) return;
    KEEP_ERRNO();
    stream_count_transfer(call.stream, kind, size, clock_span(call.start));
    guard_leave();
}

/* Each function has a form that takes no lock of the stream, which counts the same. */
#define ELEMENTS_READ(function)                                                                     \
    EXPORT size_t function(void* restrict memory, size_t size, size_t count, FILE* restrict file) { \
        const struct call call = begin(file);                                                       \
        const size_t done = REAL(function)(memory, size, count, file);                              \
        end(call, STREAM_READ, (done || !count || !size) ? (int64_t)(size * done) : -1);            \
        return done;                                                                                \
    }
#define ELEMENTS_WRITTEN(function)                                                                        \
    EXPORT size_t function(const void* restrict memory, size_t size, size_t count, FILE* restrict file) { \
        const struct call call = begin(file);                                                             \
        const size_t done = REAL(function)(memory, size, count, file);                                    \
        end(call, STREAM_WRITE, (done || !count || !size) ? (int64_t)(size * done) : -1);                 \
        return done;                                                                                      \
    }
#define LINE_READ(function)                                                     \
    EXPORT char* function(char* restrict text, int room, FILE* restrict file) { \
        const struct call call = begin(file);                                   \
        char* got = REAL(function)(text, room, file);                           \
        end(call, STREAM_READ, got ? (int64_t)strlen(got) : -1);                \
        return got;                                                             \
    }
#define TEXT_WRITTEN(function)                                             \
    EXPORT int function(const char* restrict text, FILE* restrict file) {  \
        const struct call call = begin(file);                              \
        const int result = REAL(function)(text, file);                     \
        end(call, STREAM_WRITE, result >= 0 ? (int64_t)strlen(text) : -1); \
        return result;                                                     \
    }
ELEMENTS_READ(fread)
ELEMENTS_READ(fread_unlocked)
ELEMENTS_WRITTEN(fwrite)
ELEMENTS_WRITTEN(fwrite_unlocked)
LINE_READ(fgets)
LINE_READ(fgets_unlocked)
TEXT_WRITTEN(fputs)
TEXT_WRITTEN(fputs_unlocked)

EXPORT int puts(const char* text) {
    const struct call call = begin(stdout);
    const int result = REAL(puts)(text);
    end(call, STREAM_WRITE, result >= 0 ? (int64_t)strlen(text) + 1 : -1);
    return result;
}

#define ONE_READ(function)                           \
    EXPORT int function(FILE* file) {                \
        const struct call call = begin(file);        \
        const int got = REAL(function)(file);        \
        end(call, STREAM_READ, got != EOF ? 1 : -1); \
        return got;                                  \
    }
#define ONE_WRITE(function)                               \
    EXPORT int function(int character, FILE* file) {      \
        const struct call call = begin(file);             \
        const int done = REAL(function)(character, file); \
        end(call, STREAM_WRITE, done != EOF ? 1 : -1);    \
        return done;                                      \
    }
int _IO_getc(FILE* file);
int _IO_putc(int character, FILE* file);
ONE_READ(fgetc)
ONE_READ(getc)
ONE_READ(_IO_getc)
ONE_READ(fgetc_unlocked)
ONE_READ(getc_unlocked)
ONE_WRITE(fputc)
ONE_WRITE(putc)
ONE_WRITE(_IO_putc)
ONE_WRITE(fputc_unlocked)
ONE_WRITE(putc_unlocked)

EXPORT int getchar(void) {
    return getc(stdin);
}

EXPORT int putchar(int character) {
    return putc(character, stdout);
}

EXPORT int getchar_unlocked(void) {
    return getc_unlocked(stdin);
}

EXPORT int putchar_unlocked(int character) {
    return putc_unlocked(character, stdout);
}

#ifndef CAPTURE_STATIC /* in a program linked with the C library, its own functions would arrive here, too \
                        */
/* A compiler can put getc_unlocked and putc_unlocked into the program, which then calls only where the buffer
   is empty or full. The characters in between are counted at that moment, each as a call. */
static struct call begin_inlined(FILE* file) {
    struct stream* stream = stream_of(file);
    if (stream) stream->has_inlined = true;
    return begin(file);
}

EXPORT int __uflow(FILE* file) {
    const struct call call = begin_inlined(file);
    const int got = REAL(__uflow)(file);
    end(call, STREAM_READ, got != EOF ? 1 : -1);
    return got;
}

EXPORT int __overflow(FILE* file, int character) {
    const struct call call = begin_inlined(file);
    const int done = REAL(__overflow)(file, character);
    end(call, STREAM_WRITE, done != EOF ? 1 : -1);
    return done;
}
#endif

EXPORT int getw(FILE* file) {
    const struct call call = begin(file);
    const int got = REAL(getw)(file);
    end(call, STREAM_READ, (got != EOF || !ferror(file)) ? (int64_t)sizeof got : -1);
    return got;
}

EXPORT int putw(int word, FILE* file) {
    const struct call call = begin(file);
    const int failed = REAL(putw)(word, file);
    end(call, STREAM_WRITE, !failed ? (int64_t)sizeof word : -1);
    return failed;
}

EXPORT ssize_t getdelim(char** restrict line, size_t* restrict room, int delimiter, FILE* restrict file) {
    const struct call call = begin(file);
    const ssize_t got = REAL(getdelim)(line, room, delimiter, file);
    end(call, STREAM_READ, got > 0 ? got : -1);
    return got;
}
EXPORT_ALIAS(__getdelim, getdelim);

EXPORT ssize_t getline(char** restrict line, size_t* restrict room, FILE* restrict file) {
    return getdelim(line, room, '\n', file);
}

/* Fortified calls have sizes that the C library checks; after the check they are like the plain ones. */
size_t __fread_chk(void* memory, size_t room, size_t size, size_t count, FILE* file);
size_t __fread_unlocked_chk(void* memory, size_t room, size_t size, size_t count, FILE* file);
char* __fgets_chk(char* text, size_t room, int size, FILE* file);
char* __fgets_unlocked_chk(char* text, size_t room, int size, FILE* file);

#define CHECKED_ELEMENTS_READ(function)                                                        \
    EXPORT size_t function(void* memory, size_t room, size_t size, size_t count, FILE* file) { \
        const struct call call = begin(file);                                                  \
        const size_t done = REAL(function)(memory, room, size, count, file);                   \
        end(call, STREAM_READ, (done || !count || !size) ? (int64_t)(size * done) : -1);       \
        return done;                                                                           \
    }
#define CHECKED_LINE_READ(function)                                        \
    EXPORT char* function(char* text, size_t room, int size, FILE* file) { \
        const struct call call = begin(file);                              \
        char* got = REAL(function)(text, room, size, file);                \
        end(call, STREAM_READ, got ? (int64_t)strlen(got) : -1);           \
        return got;                                                        \
    }
CHECKED_ELEMENTS_READ(__fread_chk)
CHECKED_ELEMENTS_READ(__fread_unlocked_chk)
CHECKED_LINE_READ(__fgets_chk)
CHECKED_LINE_READ(__fgets_unlocked_chk)
