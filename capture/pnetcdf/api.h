/* PnetCDF without its headers: the functions behind ours, looked up when a program first calls them. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_API_H
#define WORKALIKE_CAPTURE_PNETCDF_API_H

#include <stdatomic.h>

#include "core/guard.h"
#include "mpi/abi.h"

enum { PNETCDF_DONE = 0, PNETCDF_NAME = 256 };

/* The library's function of this name; one that fails if there is none. */
void* pnetcdf_lookup(const char* name, _Atomic(void*)* slot);

/* PNETCDF(sync, (int))(file): the library's ncmpi_sync. */
#define PNETCDF(name, parameters)                                                       \
    __extension__({                                                                     \
        static _Atomic(void*) slot;                                                     \
        void* found = atomic_load_explicit(&slot, memory_order_relaxed);                \
        if (__builtin_expect(!found, 0)) found = pnetcdf_lookup("ncmpi_" #name, &slot); \
        (int(*) parameters) found;                                                      \
    })

/* The library calls its own public functions as well: only what the application calls is counted. This many
   of its functions are running. */
extern _Thread_local int pnetcdf_depth;
extern _Thread_local uintptr_t pnetcdf_place; /* of the stack, where the outermost was called */

/* One more; how many there were. */
static inline int pnetcdf_enter(void) {
    if (!pnetcdf_depth) pnetcdf_place = stack_place();
    return pnetcdf_depth++;
}

#endif
