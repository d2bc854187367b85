/* MPI without its headers: one library serves every MPI, chosen when the program starts.

   Handles are pointers in Open MPI and ints in MPICH and its kin; both travel in a register or an 8-byte
   slot, so the wrappers pass them on as `mpi_handle`. Constants come from the library's symbols (Open MPI) or
   are those of the MPICH ABI. */
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

/* NULL when the program has no MPI of a kind that we know. */
const struct mpi_abi* mpi_abi(void);

bool mpi_is_no_info(mpi_handle info);

#ifdef CAPTURE_STATIC
/* The library is linked into the program, or is not there. What is linked in for the sake of MPI only
   (CAPTURE_NEEDS_MPI) asks for its functions, so that the linker takes them out of an archive. */
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
/* The library's function of this name, wherever the library was loaded; one that fails if there is none. */
void* mpi_lookup(const char* name, _Atomic(void*)* slot);

/* A function of the library by its short name and parameter types: MPI(Comm_rank, mpi_handle, int*)(comm,
   &rank). Our wrappers have the names MPI_ and PMPI_ both, so it is always the one that they replace. */
#define MPI(name, ...)                                                             \
    __extension__({                                                                \
        static _Atomic(void*) slot;                                                \
        void* found = atomic_load_explicit(&slot, memory_order_relaxed);           \
        if (__builtin_expect(!found, 0)) found = mpi_lookup("PMPI_" #name, &slot); \
        (int (*)(__VA_ARGS__)) found;                                              \
    })
#endif

#endif
