/* How much CPU time the process had used at moments of its run. The moments are those of data calls, at most
   one in each bin of the heatmap, so that a call costs a comparison. */
#ifndef WORKALIKE_CAPTURE_CPU_TIME_H
#define WORKALIKE_CAPTURE_CPU_TIME_H

#include <stdatomic.h>

/* The next moment that is wanted, in seconds since clock_origin. */
extern _Atomic(double) cpu_time_next;

/* Called at the start and in the child of a fork: CPU time counts from here. */
void cpu_time_begin(void);

void cpu_time_look(double now);

/* Called with each data call. */
static inline void cpu_time_pass(double now) {
    if (__builtin_expect(now >= atomic_load_explicit(&cpu_time_next, memory_order_relaxed), 0)) {
        cpu_time_look(now);
    }
}

struct cpu_time_point {
    double at, used; /* seconds since clock_origin; seconds of CPU time */
};

/* Seconds of CPU time of all threads from the start until now; a system call. */
double cpu_time_used(void);

/* Seconds for which the first thread was ready to run and waited for a core, from the start until now. 0
   where the kernel does not count them. */
double cpu_time_waited(void);

/* CPU time at a moment of the process, by linear interpolation between the known ones; `end` is the last. */
double cpu_time_at(double at, struct cpu_time_point end);

#endif
