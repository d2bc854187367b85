/* Whether this thread is inside the capture library. Calls made there, and calls of a signal handler that
   interrupts it, are not counted. This prevents recursion, and deadlocks on a lock that the thread holds.

   The guard remembers the stack position at which it was entered. A long jump to a frame above that
   position leaves the library, and with it the guard (jump.c). */
#ifndef WORKALIKE_CAPTURE_GUARD_H
#define WORKALIKE_CAPTURE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The stack position at which the capture library was entered; 0 outside it. */
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
