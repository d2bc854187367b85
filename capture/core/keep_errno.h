/* Counting must not change errno, so this macro restores it at the end of the enclosing block. */
#ifndef WORKALIKE_CAPTURE_KEEP_ERRNO_H
#define WORKALIKE_CAPTURE_KEEP_ERRNO_H

#include <errno.h>

static inline void errno_restore(const int* kept) {
    errno = *kept;
}

#define KEEP_ERRNO() __attribute__((cleanup(errno_restore), unused)) const int errno_kept = errno

#endif
