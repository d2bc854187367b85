/* On request: how large the calls of STDIO are, for which Darshan's format has no place. They go into the
   side file; what writes through a buffer is one call of its size, whatever the buffer makes of it.
 */
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

/* WORKALIKE_CAPTURE_STDIO_SIZES is set to 1. */
extern bool sizes_wanted;
void sizes_start(void);

/* The sizes of a file's calls; NULL if they are not asked for, or without room. */
struct sizes_record* sizes_record_of(const char* name);

/* One more call. The caller holds the lock of the file's STDIO record. */
void sizes_count(struct sizes_record* record, enum sized which, int64_t size);

/* Appends the records as JSON objects with commas between. */
void sizes_text(struct buffer* text, const struct buffer* records);

#endif
