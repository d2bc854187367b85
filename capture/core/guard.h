/* Whether this thread is inside our own code. A signal handler that interrupts our counting, and our own
   calls of wrapped functions, then pass through uncounted: no recursion, no deadlock on a lock that we hold.

   The guard knows where on the stack it was entered: a long jump to a frame above that place has left our
   code, and the guard with it (jump.c). */
#ifndef WORKALIKE_CAPTURE_GUARD_H
#define WORKALIKE_CAPTURE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The place of the stack where our code was entered; 0 outside it. */
extern _Thread_local volatile uintptr_t guard_inside;

static inline uintptr_t stack_place(void) {
#ifdef __x86_64__
    uintptr_t place;
    __asm__ volatile("mov %%rsp, %0" : "=r"(place));
    return place;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

static inline bool guard_enter(void) {
    if (guard_inside) return false;
    guard_inside = stack_place();
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void guard_leave(void) {
    atomic_signal_fence(memory_order_seq_cst);
    guard_inside = 0;
}

#endif
