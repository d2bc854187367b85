#include "core/pause.h"

#include "core/export.h"

_Atomic(int) pause_depth;

EXPORT void workalike_capture_pause(void) {
    atomic_fetch_add(&pause_depth, 1);
}

EXPORT void workalike_capture_resume(void) {
    int depth = atomic_load(&pause_depth);
    while (depth > 0 && !atomic_compare_exchange_weak(&pause_depth, &depth, depth - 1)) continue;
}
