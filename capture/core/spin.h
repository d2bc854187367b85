/* A lock of one word, for sections of a few instructions. It lives in the counters' mapping, where a pthread
   mutex has no place: a mapping outlives its process. */
#ifndef WORKALIKE_CAPTURE_SPIN_H
#define WORKALIKE_CAPTURE_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint32_t) spin_lock;

static inline void spin_acquire(spin_lock* lock) {
    int tries = 0;
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire)) {
        if (++tries % 64 == 0) sched_yield();
    }
}

static inline void spin_release(spin_lock* lock) {
    atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
