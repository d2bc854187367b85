/* How a function of ours takes the place of the library's, and how it reaches the one it replaced. */
#ifndef WORKALIKE_CAPTURE_EXPORT_H
#define WORKALIKE_CAPTURE_EXPORT_H

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

/* A second name for one of our functions. On 64-bit systems open and open64 are the same function.
   The identifier differs from the symbol, so the headers' own declaration of the symbol does not matter. */
#define EXPORT_ALIAS(symbol, function)                          \
    extern __typeof__(function) alias_##symbol __asm__(#symbol) \
        __attribute__((alias(#function), visibility("default")))

#ifdef CAPTURE_STATIC
/* Linked into the program with --wrap: the linker calls the function that ours replaces __real_<name>, and
   make_static.sh gives ours the name __wrap_<name>. */
#define REAL(name)                                                      \
    __extension__({                                                     \
        extern __typeof__(name) behind_##name __asm__("__real_" #name); \
        &behind_##name;                                                 \
    })
#else
/* The function of this name that ours replaces, looked up at its first use. */
void* real_lookup(const char* name, _Atomic(void*)* slot);

#define REAL(name)                                                          \
    __extension__({                                                         \
        static _Atomic(void*) slot;                                         \
        void* found = atomic_load_explicit(&slot, memory_order_relaxed);    \
        if (__builtin_expect(!found, 0)) found = real_lookup(#name, &slot); \
        (__typeof__(&name))found;                                           \
    })
#endif

#endif
