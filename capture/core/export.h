/* How a function of the capture library replaces one of another library, and how it calls the original. */
#ifndef WORKALIKE_CAPTURE_EXPORT_H
#define WORKALIKE_CAPTURE_EXPORT_H

#include <stdatomic.h>

#define EXPORT __attribute__((visibility("default")))

/* Gives one of our functions a second name: on 64-bit systems open and open64 are the same function. The
   identifier differs from the symbol, so that it does not conflict with the declaration in the headers. */
#define EXPORT_ALIAS(symbol, function)                          \
    extern __typeof__(function) alias_##symbol __asm__(#symbol) \
        __attribute__((alias(#function), visibility("default")))

#ifdef CAPTURE_STATIC
/* In a program linked with --wrap, the linker names the original function __real_<name>, and
   make_static.sh names ours __wrap_<name>. */
#define REAL(name)                                                      \
    __extension__({                                                     \
        extern __typeof__(name) behind_##name __asm__("__real_" #name); \
        &behind_##name;                                                 \
    })
#else
/* Looks up the original function of this name at its first use. */
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
