/* How the STDIO counters of a file follow from a process's calls: as counting/posix.h for POSIX. */
#ifndef WORKALIKE_COUNTING_STDIO_H
#define WORKALIKE_COUNTING_STDIO_H

#include <stdbool.h>
#include <stdint.h>

/* The counters in the order of a log of format 3.41. */
enum stdio_counter {
    STDIO_OPENS,
    STDIO_FDOPENS,
    STDIO_READS,
    STDIO_WRITES,
    STDIO_SEEKS,
    STDIO_FLUSHES,
    STDIO_BYTES_WRITTEN,
    STDIO_BYTES_READ,
    STDIO_MAX_BYTE_READ,
    STDIO_MAX_BYTE_WRITTEN,
    STDIO_FASTEST_RANK,
    STDIO_FASTEST_RANK_BYTES,
    STDIO_SLOWEST_RANK,
    STDIO_SLOWEST_RANK_BYTES,
    STDIO_COUNTERS
};

/* Reads or writes (`calls` of them) that moved `size` bytes and left the stream at the offset `end`. */
static inline void stdio_transferred_by(int64_t calls, int64_t* counter, bool writes, int64_t end,
                                        int64_t size) {
    counter[writes ? STDIO_WRITES : STDIO_READS] += calls;
    counter[writes ? STDIO_BYTES_WRITTEN : STDIO_BYTES_READ] += size;
    int64_t* most = &counter[writes ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ];
    if (size && end - 1 > *most) *most = end - 1;
}

/* A read or write that moved `size` bytes and left the stream at the offset `end`. */
static inline void stdio_transferred(int64_t* counter, bool writes, int64_t end, int64_t size) {
    stdio_transferred_by(1, counter, writes, end, size);
}

#endif
