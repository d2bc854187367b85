/* PnetCDF without its headers: the functions that ours replace, looked up when a program first calls them. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_API_H
#define WORKALIKE_CAPTURE_PNETCDF_API_H

#include <stdatomic.h>

#include "core/guard.h"
#include "mpi/abi.h"

enum { PNETCDF_DONE = 0, PNETCDF_NAME = 256 };

/* PNETCDF(sync, (int))(file) is the library's ncmpi_sync, which ours replaces. PNETCDF_ASK is for
   functions that we do not replace. A linked program names both, so that the linker finds them. */
#ifdef CAPTURE_STATIC
#define PNETCDF_NAMED(symbol, name, parameters)              \
    __extension__({                                          \
        extern int behind_##name parameters __asm__(symbol); \
        &behind_##name;                                      \
    })
#define PNETCDF(name, parameters) PNETCDF_NAMED("__real_ncmpi_" #name, name, parameters)
#define PNETCDF_ASK(name, parameters) PNETCDF_NAMED("ncmpi_" #name, name, parameters)
#else
/* The library's function of this name; a function that fails if there is none. */
void* pnetcdf_lookup(const char* name, _Atomic(void*)* slot);

#define PNETCDF(name, parameters)                                                       \
    __extension__({                                                                     \
        static _Atomic(void*) slot;                                                     \
        void* found = atomic_load_explicit(&slot, memory_order_relaxed);                \
        if (__builtin_expect(!found, 0)) found = pnetcdf_lookup("ncmpi_" #name, &slot); \
        (int(*) parameters) found;                                                      \
    })
#define PNETCDF_ASK(name, parameters) PNETCDF(name, parameters)
#endif

/* How many public functions of the library are running. The library calls its own public functions, but
   only calls of the application are counted. */
extern _Thread_local int pnetcdf_depth;
extern _Thread_local uintptr_t pnetcdf_place; /* the stack position where the outermost was called */

/* Adds one to the depth and returns the depth before. */
static inline int pnetcdf_enter(void) {
    if (!pnetcdf_depth) pnetcdf_place = stack_place();
    return pnetcdf_depth++;
}

#endif
