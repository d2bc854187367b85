#include "log/cpu_time.h"

#include <stdio.h>
#include <time.h>

#include "core/keep_errno.h"
#include "core/own_io.h"
#include "core/sandbox.h"

enum { MOMENTS = 400 };

/* Seconds between two moments in the beginning: a bin of the heatmap. */
static const double first_distance = 0.1;

/* When the table is full, every second moment is dropped, and later ones are twice as far apart. */
static double moment[MOMENTS], used[MOMENTS];
static int count;
static double distance;
/* What a program used, and waited for a core, before it became this one. */
static double at_start, waited_at_start;
static _Atomic(bool) looking;

_Atomic(double) cpu_time_next;

static double read_clock(void) {
    struct timespec now;
    if (sandboxed()) return 0;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0) return 0;
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double cpu_time_used(void) {
    return read_clock() - at_start;
}

/* The kernel's count for the first thread, in nanoseconds after those that it ran. */
static double read_waited(void) {
    KEEP_ERRNO();
    char text[128];
    unsigned long long ran = 0, waited = 0;
    if (sandboxed() || own_slurp("/proc/self/schedstat", text, sizeof text) == 0) return 0;
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? (double)waited * 1e-9 : 0;
}

double cpu_time_waited(void) {
    const double waited = read_waited() - waited_at_start;
    return waited > 0 ? waited : 0;
}

void cpu_time_begin(void) {
    count = 0;
    at_start = read_clock();
    waited_at_start = read_waited();
    distance = first_distance;
    atomic_store(&cpu_time_next, first_distance);
    atomic_store(&looking, false);
}

static void thin_out(void) {
    for (int i = 0; i < MOMENTS / 2; ++i) {
        moment[i] = moment[2 * i + 1];
        used[i] = used[2 * i + 1];
    }
    count = MOMENTS / 2;
    distance *= 2;
}

/* A thread that finds another one here, or itself after a long jump, leaves the moment out. */
void cpu_time_look(double now) {
    if (sandboxed() || atomic_exchange(&looking, true)) return;
    if (count == MOMENTS) thin_out();
    if (count == 0 || now > moment[count - 1]) {
        moment[count] = now;
        used[count++] = cpu_time_used();
    }
    atomic_store(&cpu_time_next, now + distance);
    atomic_store(&looking, false);
}

double cpu_time_at(double at, struct cpu_time_point end) {
    int next = 0;
    while (next < count && moment[next] <= at) ++next;
    const struct cpu_time_point start =
        next ? (struct cpu_time_point){moment[next - 1], used[next - 1]} : (struct cpu_time_point){0, 0};
    if (next < count) end = (struct cpu_time_point){moment[next], used[next]};
    if (at >= end.at || end.at <= start.at) return end.used;
    return at <= start.at ? start.used
                          : start.used + (end.used - start.used) * (at - start.at) / (end.at - start.at);
}
