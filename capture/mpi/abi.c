#include "mpi/abi.h"

#include <stddef.h>
#include <string.h>

#include "core/loaded.h"

static struct mpi_abi abi;
static _Atomic(int) abi_state; /* 0 not checked, 1 present, 2 absent */

#ifdef CAPTURE_STATIC
int mpi_unavailable(void) {
    return MPI_FAILED;
}

#define ADDRESS(symbol)                                                     \
    __extension__({                                                         \
        extern char linked_##symbol __asm__(#symbol) __attribute__((weak)); \
        (mpi_handle) & linked_##symbol;                                     \
    })
#define PRESENT(symbol) (ADDRESS(symbol) != 0)
#else
static int unavailable(void) {
    return MPI_FAILED;
}

void* mpi_lookup(const char* name, _Atomic(void*)* slot) {
    void* found = loaded_symbol("libmpi", name);
    if (!found) found = (void*)(size_t)&unavailable;
    atomic_store_explicit(slot, found, memory_order_relaxed);
    return found;
}

#define ADDRESS(symbol) ((mpi_handle)loaded_variable("libmpi", #symbol))
#define PRESENT(symbol) (loaded_symbol("libmpi", #symbol) != NULL)
#endif

static bool fill_open_mpi(void) {
    abi = (struct mpi_abi){
        .world = ADDRESS(ompi_mpi_comm_world),
        .byte = ADDRESS(ompi_mpi_byte),
        .integer = ADDRESS(ompi_mpi_long_long_int),
        .no_info = ADDRESS(ompi_mpi_info_null),
        .max = ADDRESS(ompi_mpi_op_max),
        .sum = ADDRESS(ompi_mpi_op_sum),
        .bit_or = ADDRESS(ompi_mpi_op_bor),
        .bit_and = ADDRESS(ompi_mpi_op_band),
        .no_status = NULL,
        .in_place = (void*)1,
    };
    return abi.world && abi.byte && abi.integer && abi.max && abi.sum && abi.bit_or && abi.bit_and;
}

static bool fill_mpich(void) {
    abi = (struct mpi_abi){
        .world = 0x44000000,
        .byte = 0x4c00010d,
        .integer = 0x4c000809,
        .no_info = 0x1c000000,
        .max = 0x58000001,
        .sum = 0x58000003,
        .bit_or = 0x58000008,
        .bit_and = 0x58000006,
        .no_status = (void*)1,
        .in_place = (void*)-1,
    };
    /* Only MPICH and libraries of its ABI have these symbols; the last one is always linked in from an
       archive. */
    return PRESENT(MPIR_Dup_fn) || PRESENT(MPIX_Comm_revoke) || PRESENT(MPIR_Process);
}

const struct mpi_abi* mpi_abi(void) {
    if (!atomic_load(&abi_state)) {
        const bool known = ADDRESS(ompi_mpi_comm_world) ? fill_open_mpi() : fill_mpich();
        atomic_store(&abi_state, known ? 1 : 2);
    }
    return atomic_load(&abi_state) == 1 ? &abi : NULL;
}

bool mpi_is_no_info(mpi_handle info) {
    const struct mpi_abi* known = mpi_abi();
    return !known || (known->no_status ? (int)info == (int)known->no_info : info == known->no_info);
}
