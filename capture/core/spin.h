/* A lock of one word, for sections of a few instructions. It is in the counters' mapping, which outlives
   its process, so a pthread mutex is no choice. The word identifies the thread that holds the lock. If the
   thread leaves a section by a long jump, its locks can be released. */
#ifndef WORKALIKE_CAPTURE_SPIN_H
#define WORKALIKE_CAPTURE_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/guard.h"
#include "core/single_thread.h"

typedef _Atomic(uint32_t) spin_lock;

/* A number that differs between the threads of a process and is never 0: their memory is more than 1 KiB
   apart. */
static inline uint32_t spin_owner(void) {
    return (uint32_t)((uintptr_t)&guard_inside >> 10) | UINT32_C(1) << 31;
}

/* The locks that this thread holds, or is about to take, in order. */
enum { SPIN_NESTED = 8 };
struct spin_held {
    unsigned count;
    spin_lock* lock[SPIN_NESTED];
};
extern _Thread_local struct spin_held spin_held;

/* A process with one thread needs no atomic instruction, which is the largest part of a lock that is free. */
static inline bool spin_taken_alone(spin_lock* lock, uint32_t self) {
    if (!has_single_thread() || atomic_load_explicit(lock, memory_order_relaxed)) return false;
    atomic_store_explicit(lock, self, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

/* Takes a lock that another thread holds. Each exchange takes the lock's cache line away from its holder, so
   a waiting thread only looks, less and less often, and exchanges when the lock is free. */
void spin_wait(spin_lock* lock, uint32_t self);

static inline void spin_acquire(spin_lock* lock) {
    const uint32_t self = spin_owner();
    uint32_t holder = 0;
    if (spin_held.count < SPIN_NESTED) spin_held.lock[spin_held.count] = lock;
    ++spin_held.count;
    atomic_signal_fence(memory_order_seq_cst);
    if (spin_taken_alone(lock, self)) return;
    if (!atomic_compare_exchange_strong_explicit(lock, &holder, self, memory_order_acquire,
                                                 memory_order_relaxed) &&
        holder != self)
        spin_wait(lock, self);
}

static inline void spin_release(spin_lock* lock) {
    atomic_store_explicit(lock, 0, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (spin_held.count) --spin_held.count;
}

/* Releases all locks of this thread after it has left its sections. */
void spin_release_all(void);

#endif
