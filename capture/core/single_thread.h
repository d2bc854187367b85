/* Whether the process has one thread, as the C library says since 2.32. */
#ifndef WORKALIKE_CAPTURE_SINGLE_THREAD_H
#define WORKALIKE_CAPTURE_SINGLE_THREAD_H

#include <features.h>
#include <stdbool.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>
static inline bool has_single_thread(void) {
    return __libc_single_threaded;
}
#else
/* Built for an older C library, it asks a newer one all the same; an older one has no such word. */
extern char __libc_single_threaded __attribute__((weak));
static inline bool has_single_thread(void) {
    return &__libc_single_threaded && __libc_single_threaded;
}
#endif

#endif
