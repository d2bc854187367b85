/* The time since the capture of this process began. The monotonic clock is read without a system call.

   Most of what the capture of a small call costs is to read the clock twice. Where the kernel itself makes
   the clock from the processor's time counter, each thread reads the clock once in a while and adds what the
   counter says has passed since, which takes half the time. */
#ifndef WORKALIKE_CAPTURE_CLOCK_H
#define WORKALIKE_CAPTURE_CLOCK_H

#include <stdint.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

struct span {
    double start, end; /* seconds since clock_origin */
};

/* Nanoseconds of the monotonic clock at the start of this process. */
extern int64_t clock_origin;

/* The moment at which the clock stopped, otherwise 0. Seccomp's strict mode also forbids the processor's
   time counter, which is needed to read the time without a system call. */
extern int64_t clock_stopped_ns;

/* When this thread read the clock, and the counter then. For `window` ticks more, the time follows from them.
 */
struct clock_base {
    uint64_t ticks, window;
    int64_t ns;
    uint64_t rate; /* nanoseconds per tick, times 2^32 */
};
extern _Thread_local struct clock_base clock_base;

/* Called at the start of the process and in the child of a fork. */
void clock_begin(void);

/* Reads the clock itself. */
int64_t clock_look(void);

static inline int64_t clock_ns(void) {
    if (__builtin_expect(clock_stopped_ns != 0, 0)) return clock_stopped_ns;
#ifdef __x86_64__
    if (__builtin_expect(clock_base.window != 0, 1)) {
        const uint64_t since = __rdtsc() - clock_base.ticks;
        if (__builtin_expect(since < clock_base.window, 1))
            return clock_base.ns + (int64_t)(since * clock_base.rate >> 32);
    }
#endif
    return clock_look();
}

static inline double clock_seconds(int64_t ns) {
    return (double)(ns - clock_origin) * 1e-9;
}

static inline struct span clock_span(int64_t start_ns) {
    const int64_t end_ns = clock_ns();
    return (struct span){clock_seconds(start_ns), clock_seconds(end_ns > start_ns ? end_ns : start_ns)};
}

#endif
