/* The time since the capture of this process began. The monotonic clock is read without a system call. */
#ifndef WORKALIKE_CAPTURE_CLOCK_H
#define WORKALIKE_CAPTURE_CLOCK_H

#include <stdint.h>
#include <time.h>

struct span {
    double start, end; /* seconds since clock_origin */
};

/* Nanoseconds of the monotonic clock at the start of this process. */
extern int64_t clock_origin;

/* The moment at which the clock stopped, otherwise 0. Seccomp's strict mode also forbids the processor's
   time counter, which is needed to read the time without a system call. */
extern int64_t clock_stopped_ns;

static inline int64_t clock_ns(void) {
    if (__builtin_expect(clock_stopped_ns != 0, 0)) return clock_stopped_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double clock_seconds(int64_t ns) {
    return (double)(ns - clock_origin) * 1e-9;
}

static inline struct span clock_span(int64_t start_ns) {
    return (struct span){clock_seconds(start_ns), clock_seconds(clock_ns())};
}

#endif
