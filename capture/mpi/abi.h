/* MPI without its headers: one library serves every MPI, which is found when the program starts.

   Handles are pointers in Open MPI and ints in MPICH and its derivatives. Both fit into a register or a
   slot of 8 bytes, so the wrappers pass them on as `mpi_handle`. Constants are symbols of the library
   (Open MPI) or those of the MPICH ABI. */
#ifndef WORKALIKE_CAPTURE_MPI_ABI_H
#define WORKALIKE_CAPTURE_MPI_ABI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef intptr_t mpi_handle;
typedef int64_t mpi_count; /* MPI_Count, MPI_Offset, MPI_Aint */

enum { MPI_DONE = 0, MPI_FAILED = 16 };
enum { MPI_MODE_CREATING = 1 | 4 | 64 /* create, write only, exclusive */ };

struct mpi_abi {
    mpi_handle world, byte, integer /* 64 bits */, no_info;
    mpi_handle max, sum, bit_or, bit_and;
    void *no_status, *in_place;
};

/* NULL if the program has no MPI of a known kind. */
const struct mpi_abi* mpi_abi(void);

bool mpi_is_no_info(mpi_handle info);

#ifdef CAPTURE_STATIC
/* In a linked program the library is linked in, or is absent. Code that is linked in only for MPI
   (CAPTURE_NEEDS_MPI) names its functions, so that the linker takes them out of an archive. */
int mpi_unavailable(void);
#ifdef CAPTURE_NEEDS_MPI
#define MPI(name, ...)                                         \
    __extension__({                                            \
        extern int behind_##name(void) __asm__("PMPI_" #name); \
        (int (*)(__VA_ARGS__))(size_t) & behind_##name;        \
    })
#else
#define MPI(name, ...)                                                                     \
    __extension__({                                                                        \
        extern int behind_##name(void) __asm__("PMPI_" #name) __attribute__((weak));       \
        (int (*)(__VA_ARGS__))(size_t)(behind_##name ? &behind_##name : &mpi_unavailable); \
    })
#endif
#else
/* The library's function of this name, wherever the library was loaded; a function that fails if there is
   none. */
void* mpi_lookup(const char* name, _Atomic(void*)* slot);

/* A function of the library by its short name and parameter types, as in MPI(Comm_rank, mpi_handle,
   int*)(comm, &rank). Our wrappers have both names, MPI_ and PMPI_, so it is always the function that they
   replace. */
#define MPI(name, ...)                                                             \
    __extension__({                                                                \
        static _Atomic(void*) slot;                                                \
        void* found = atomic_load_explicit(&slot, memory_order_relaxed);           \
        if (__builtin_expect(!found, 0)) found = mpi_lookup("PMPI_" #name, &slot); \
        (int (*)(__VA_ARGS__)) found;                                              \
    })
#endif

#endif
