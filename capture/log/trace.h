/* Every read and write of a file (DXT), on request: segments in chunks of the mapping, in two chains per
   record. */
#ifndef WORKALIKE_CAPTURE_TRACE_H
#define WORKALIKE_CAPTURE_TRACE_H

#include "core/clock.h"
#include "core/mapping.h"
#include "core/memory.h"

/* The chunks of writes and of reads as places in the mapping, 0 for none. Part of a record's entry. */
struct trace_chains {
    uint64_t first[2], last[2];
};

/* Adds a segment; the caller holds the lock of the record. `module` is MODULE_DXT_POSIX or
   MODULE_DXT_MPIIO. */
void trace_add(struct trace_chains* chains, enum module module, uint64_t id, bool write, int64_t offset,
               int64_t length, struct span span);

/* Appends the record of a file, if it has any segment. */
void trace_collect(struct buffer* records, const struct trace_chains* chains, uint64_t id, int64_t rank,
                   double late);

#endif
