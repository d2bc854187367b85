#include <dlfcn.h>
#include <stddef.h>

#include "core/export.h"

void* real_lookup(const char* name, _Atomic(void*)* slot) {
    void* found = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(slot, found, memory_order_relaxed);
    return found;
}
