#ifdef CAPTURE_STATIC
#include "mpi/fortran_handles.h"

#include "core/clock.h"
#include "mpi/transfer.h"

_Thread_local int mpi_fortran_depth;
_Thread_local uintptr_t mpi_fortran_place;

/* Open MPI has functions for this. In MPICH and its derivatives handles are the same numbers, except those
   of files. */
#define CONVERTING(function, name)                                                                     \
    mpi_handle function(int number) {                                                                  \
        extern mpi_handle convert_##name(int) __asm__("PMPI_" #name) __attribute__((weak));            \
        const struct mpi_abi* abi = mpi_abi();                                                         \
        return abi && !abi->no_status && convert_##name ? convert_##name(number) : (mpi_handle)number; \
    }
CONVERTING(comm_of, Comm_f2c)
CONVERTING(info_of, Info_f2c)
CONVERTING(type_of, Type_f2c)

void* file_of(int number) {
    extern void* convert_file(int) __asm__("PMPI_File_f2c");
    return convert_file(number);
}
#endif
