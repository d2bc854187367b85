#include "core/spin.h"

#include <sched.h>

#include "core/sandbox.h"

_Thread_local struct spin_held spin_held __attribute__((tls_model("initial-exec")));

enum {
    FIRST_PAUSES = 16,
    MOST_PAUSES = 256,   /* between two looks: some microseconds, as long as ten sections or more. The thread
                            that has the record in its cache then counts several calls in a row */
    LOOKS_PER_YIELD = 2, /* a holder may have lost its core to the thread that waits */
};

static inline void pause_core(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void spin_wait(spin_lock* lock, uint32_t self) {
    unsigned pauses = FIRST_PAUSES;
    for (unsigned looks = 1;; ++looks) {
        for (unsigned i = 0; i < pauses; ++i) pause_core();
        if (pauses < MOST_PAUSES) pauses *= 2;
        uint32_t holder = atomic_load_explicit(lock, memory_order_relaxed);
        if (holder == self) return;
        if (!holder && atomic_compare_exchange_weak_explicit(lock, &holder, self, memory_order_acquire,
                                                             memory_order_relaxed))
            return;
        if (looks % LOOKS_PER_YIELD == 0 && !sandboxed()) sched_yield();
    }
}

void spin_release_all(void) {
    const uint32_t self = spin_owner();
    unsigned count = spin_held.count < SPIN_NESTED ? spin_held.count : SPIN_NESTED;
    while (count-- > 0) {
        uint32_t holder = self;
        atomic_compare_exchange_strong(spin_held.lock[count], &holder, 0);
    }
    spin_held.count = 0;
}
