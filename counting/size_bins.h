/* The ten sizes of operations that a log tells apart. */
#ifndef WORKALIKE_COUNTING_SIZE_BINS_H
#define WORKALIKE_COUNTING_SIZE_BINS_H

#include <stdint.h>

enum { SIZE_BINS = 10 };

/* Bin of an access size; the upper bounds are inclusive: 100, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, ... */
static inline int size_bin(int64_t size) {
    static const int64_t bounds[SIZE_BINS - 1] = {
        100, 1024, 10240, 102400, 1048576, 4 * 1048576LL, 10 * 1048576LL, 100 * 1048576LL, 1073741824};
    int bin = 0;
    while (bin < SIZE_BINS - 1 && size > bounds[bin]) ++bin;
    return bin;
}

#endif
