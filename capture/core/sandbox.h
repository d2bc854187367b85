/* Whether the program has forbidden itself system calls (seccomp) since it began. A filter may kill for any
   call that it does not list, and nobody can ask it without a call: from then on we make none. Counting goes
   on in the memory that is there; the log is made of the mapping by whoever collects it. */
#ifndef WORKALIKE_CAPTURE_SANDBOX_H
#define WORKALIKE_CAPTURE_SANDBOX_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic(bool) sandbox_entered;

static inline bool sandboxed(void) {
    return atomic_load_explicit(&sandbox_entered, memory_order_relaxed);
}

#endif
