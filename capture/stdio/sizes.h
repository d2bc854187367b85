/* Sizes of the calls of STDIO, on request. Darshan's format cannot hold them, so they go into the side
   file. A buffered write is one call of its size, whatever the buffer makes of it. */
#ifndef WORKALIKE_CAPTURE_SIZES_H
#define WORKALIKE_CAPTURE_SIZES_H

#include <stdbool.h>

#include "core/mapping.h"
#include "core/memory.h"
#include "counting/common_values.h"

enum sized { SIZED_READS, SIZED_WRITES, SIZED };

struct sizes_stored {
    struct base_record base;
    struct common_values calls[SIZED];
};

struct sizes_record {
    struct entry head;
    struct sizes_stored log;
};

/* True if WORKALIKE_CAPTURE_STDIO_SIZES is set to 1. */
extern bool sizes_wanted;
void sizes_start(void);

/* The sizes of the calls of a file; NULL if they are not requested or there is no room. */
struct sizes_record* sizes_record_of(const char* name);

/* Adds calls of one size. The caller holds the lock of the file's STDIO record. */
void sizes_count(struct sizes_record* record, enum sized which, int64_t size, int64_t calls);

/* Appends the records as JSON objects with commas between them. */
void sizes_text(struct buffer* text, const struct buffer* records);

#endif
