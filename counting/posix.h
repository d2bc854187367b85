/* How the POSIX counters of a file follow from what a process does with it, with Darshan's meaning. The
   capture library counts calls with it as they happen, the engine's core counts those that a plan will make:
   the two cannot differ. docs/reference/darshan-meaning.md says what each counter means. */
#ifndef WORKALIKE_COUNTING_POSIX_H
#define WORKALIKE_COUNTING_POSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "counting/access_order.h"
#include "counting/common_values.h"
#include "counting/size_bins.h"

/* The counters in the order of a log of format 3.41. */
enum posix_counter {
    POSIX_OPENS,
    POSIX_FILENOS,
    POSIX_DUPS,
    POSIX_READS,
    POSIX_WRITES,
    POSIX_SEEKS,
    POSIX_STATS,
    POSIX_MMAPS,
    POSIX_FSYNCS,
    POSIX_FDSYNCS,
    POSIX_RENAME_SOURCES,
    POSIX_RENAME_TARGETS,
    POSIX_RENAMED_FROM,
    POSIX_MODE,
    POSIX_BYTES_READ,
    POSIX_BYTES_WRITTEN,
    POSIX_MAX_BYTE_READ,
    POSIX_MAX_BYTE_WRITTEN,
    POSIX_CONSEC_READS,
    POSIX_CONSEC_WRITES,
    POSIX_SEQ_READS,
    POSIX_SEQ_WRITES,
    POSIX_RW_SWITCHES,
    POSIX_MEM_NOT_ALIGNED,
    POSIX_MEM_ALIGNMENT,
    POSIX_FILE_NOT_ALIGNED,
    POSIX_FILE_ALIGNMENT,
    POSIX_MAX_READ_TIME_SIZE,
    POSIX_MAX_WRITE_TIME_SIZE,
    POSIX_SIZE_READ = 29,
    POSIX_SIZE_WRITE = 39,
    POSIX_STRIDE = 49,
    POSIX_STRIDE_COUNT = 53,
    POSIX_ACCESS = 57,
    POSIX_ACCESS_COUNT = 61,
    POSIX_FASTEST_RANK = 65,
    POSIX_FASTEST_RANK_BYTES,
    POSIX_SLOWEST_RANK,
    POSIX_SLOWEST_RANK_BYTES,
    POSIX_COUNTERS
};

enum transfer { TRANSFER_READ, TRANSFER_WRITE };

/* What is remembered of a file between calls. All zero: nothing was done yet. */
struct posix_history {
    int64_t last[2]; /* last byte of the latest access, by enum transfer; forgotten when the file is opened */
    int32_t last_kind; /* what the latest access was: 0 none yet, 1 a read, 2 a write */
    struct common_values sizes, strides;
};

static inline void posix_forget_places(struct posix_history* history) {
    history->last[TRANSFER_READ] = history->last[TRANSFER_WRITE] = 0;
}

static inline void posix_opened(struct posix_history* history, int64_t* counter) {
    ++counter[POSIX_OPENS];
    posix_forget_places(history);
}

/* How an access lies to the one before it of its kind: before it, right after it, or further on. */
static inline void posix_place_counted(struct posix_history* history, int64_t* counter, enum transfer kind,
                                       int64_t offset) {
    const int64_t last = history->last[kind];
    const enum access_order order = access_order(last, offset);
    if (order == ACCESS_BACK) return;
    ++counter[kind == TRANSFER_READ ? POSIX_SEQ_READS : POSIX_SEQ_WRITES];
    if (order == ACCESS_CONSECUTIVE) {
        ++counter[kind == TRANSFER_READ ? POSIX_CONSEC_READS : POSIX_CONSEC_WRITES];
    } else if (last != 0) {
        common_values_count(&history->strides, offset - last - 1);
    }
}

static inline bool posix_is_aligned(int64_t offset, int64_t block) {
    if (block <= 1) return true;
    return (block & (block - 1)) == 0 ? (offset & (block - 1)) == 0 : offset % block == 0;
}

/* A read or write that moved `size` bytes at `offset`. The record's FILE_ALIGNMENT must be set. */
static inline void posix_transferred(struct posix_history* history, int64_t* counter, enum transfer kind,
                                     int64_t offset, int64_t size) {
    const bool reads = kind == TRANSFER_READ;
    ++counter[reads ? POSIX_READS : POSIX_WRITES];
    counter[reads ? POSIX_BYTES_READ : POSIX_BYTES_WRITTEN] += size;
    ++counter[(reads ? (int)POSIX_SIZE_READ : (int)POSIX_SIZE_WRITE) + size_bin(size)];
    posix_place_counted(history, counter, kind, offset);
    if (!posix_is_aligned(offset, counter[POSIX_FILE_ALIGNMENT])) ++counter[POSIX_FILE_NOT_ALIGNED];
    if (history->last_kind && history->last_kind != (int)kind + 1) ++counter[POSIX_RW_SWITCHES];
    history->last_kind = (int)kind + 1;
    if (size == 0) return; /* the end of the file was reached: no byte was touched */
    history->last[kind] = last_byte_after(history->last[kind], offset, size);
    int64_t* most = &counter[reads ? POSIX_MAX_BYTE_READ : POSIX_MAX_BYTE_WRITTEN];
    if (history->last[kind] > *most) *most = history->last[kind];
    common_values_count(&history->sizes, size);
}

#endif
