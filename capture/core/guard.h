/* Whether this thread is inside our own code. A signal handler that interrupts our counting, and our own
   calls of wrapped functions, then pass through uncounted: no recursion, no deadlock on a lock that we hold.
 */
#ifndef WORKALIKE_CAPTURE_GUARD_H
#define WORKALIKE_CAPTURE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Thread_local volatile int guard_inside;

static inline bool guard_enter(void) {
    if (guard_inside) return false;
    guard_inside = 1;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void guard_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    guard_inside = 0;
}

#endif
