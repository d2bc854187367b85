/* Whether the program has forbidden itself system calls (seccomp) since it began. A filter may kill the
   process for any call outside its list, and it cannot be inspected without a call. The library therefore
   makes none from then on. Counting continues in the existing memory, and the log is made from the mapping
   after the process has ended. */
#ifndef WORKALIKE_CAPTURE_SANDBOX_H
#define WORKALIKE_CAPTURE_SANDBOX_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic(bool) sandbox_entered;

static inline bool sandboxed(void) {
    return atomic_load_explicit(&sandbox_entered, memory_order_relaxed);
}

#endif
