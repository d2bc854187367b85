/* The STDIO counters of one file, and the open streams. */
#ifndef WORKALIKE_CAPTURE_STDIO_RECORD_H
#define WORKALIKE_CAPTURE_STDIO_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/clock.h"
#include "core/mapping.h"
#include "stdio/layout.h"
#include "stdio/sizes.h"

struct stdio_record {
    struct entry head;
    double read_end, write_end, meta_end;
    struct sizes_record* sizes; /* NULL unless requested */
    struct stdio_stored log;
};

/* An open stream. It is stored by its descriptor, which a FILE contains, so it is found without a search
   or a lock. */
struct stream {
    FILE* file;
    _Atomic(struct stdio_record*) record; /* NULL after a fork, until the child uses the stream */
    const char* name;                     /* NULL: a standard stream that is not counted */
    int64_t offset;
    bool no_position;                 /* a pipe or terminal */
    bool has_inlined;                 /* the program takes single characters from the buffer itself */
    const char *read_to, *written_to; /* the places in the FILE's buffer that are counted */
};

enum transfer_kind { STREAM_READ, STREAM_WRITE };

/* The stream of a FILE; NULL if it is not counted. Standard streams count from their first use. */
struct stream* stream_of(FILE* file);

/* Whether this process has written to the file through a stream. */
bool stream_was_written(const char* name);
/* Notes a stream that was opened on a file of this absolute name. `counter` is STDIO_OPENS or
   STDIO_FDOPENS. */
void stream_opened(FILE* file, const char* name, enum stdio_counter counter, int64_t offset,
                   struct span span);
/* Removes the stream; must precede the release of the FILE. */
struct stdio_record* stream_forget(struct stream* stream);

void stream_count_transfer(struct stream* stream, enum transfer_kind kind, int64_t size, struct span span);
/* Counts the single characters that the program has read from or written into the buffer of the stream
   without a call since the last one that was counted. Must precede a call that moves the stream. */
void stream_count_inlined(struct stream* stream);
/* After a call that counts nothing: what it took from the buffer counts nothing either. */
void stream_settle(struct stream* stream);
/* stream_of, with those characters counted. */
struct stream* stream_at_call(FILE* file);
/* The same for all open streams, before the log is made. */
void streams_count_inlined(void);
void stream_count_seek(struct stream* stream, int64_t offset, struct span span);
void stream_count_flush(struct stream* stream, struct span span);
void stdio_count_close(struct stdio_record* record, struct span span);

/* In the child of a fork: keeps the streams, but without records. */
void streams_after_fork(void);

#endif
