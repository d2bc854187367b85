#include "core/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "core/own_io.h"

int64_t clock_origin;
int64_t clock_stopped_ns;

_Thread_local struct clock_base clock_base __attribute__((tls_model("initial-exec")));

static int64_t read_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef __x86_64__
enum {
    WINDOW = 1 << 20, /* ticks, less than a millisecond: what a thread may be wrong by stays in nanoseconds */
    LONGEST_LOOK = 1000, /* ticks; a thread that waited in between does not know which tick the time is of */
    SHORTEST_BASELINE = 10000000 /* nanoseconds, over which the rate is known well enough */
};

/* The counter and the time at the start; 0 ticks where the counter is not used. */
static uint64_t first_ticks;
static int64_t first_ns;

/* The kernel names the counter as its clock only if it is the same on all processors, and steady. */
static bool kernel_uses_counter(void) {
    char name[16];
    own_slurp("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name);
    return strcmp(name, "tsc\n") == 0;
}

/* The time, and the tick that it is of; 0 if that is not known. */
static int64_t look(uint64_t* tick) {
    const uint64_t before = __rdtsc();
    const int64_t ns = read_clock();
    const uint64_t took = __rdtsc() - before;
    *tick = took < LONGEST_LOOK ? before + took / 2 : 0;
    return ns;
}

void clock_begin(void) {
    static int used = -1;
    if (used < 0) used = kernel_uses_counter();
    clock_base.window = 0;
    clock_origin = first_ns = look(&first_ticks);
    if (!used) first_ticks = 0;
}

int64_t clock_look(void) {
    static _Thread_local volatile bool looking __attribute__((tls_model("initial-exec")));
    uint64_t tick;
    if (!first_ticks || looking) return read_clock(); /* a signal may have interrupted what follows */
    const int64_t ns = look(&tick);
    if (!tick || ns - first_ns < SHORTEST_BASELINE) return ns;
    looking = true;
    atomic_signal_fence(memory_order_seq_cst);
    clock_base.window = 0;
    atomic_signal_fence(memory_order_seq_cst);
    clock_base.ticks = tick;
    clock_base.ns = ns;
    clock_base.rate = (uint64_t)((double)(ns - first_ns) / (double)(tick - first_ticks) * 0x1p32);
    atomic_signal_fence(memory_order_seq_cst);
    clock_base.window = WINDOW;
    atomic_signal_fence(memory_order_seq_cst);
    looking = false;
    return ns;
}
#else
void clock_begin(void) {
    clock_origin = read_clock();
}

int64_t clock_look(void) {
    return read_clock();
}
#endif
