/* The HDF5 library of a linked program; there is only one. */
#ifdef CAPTURE_STATIC
#include <stdatomic.h>

#include "hdf5/api.h"

#define DECLARE(name, result, parameters) extern result linked_##name parameters __asm__("H5" #name);
#define DECLARE_WEAK(name, result, parameters) \
    extern result linked_##name parameters __asm__("H5" #name) __attribute__((weak));
HDF5_ASKED(DECLARE)
HDF5_ASKED_OF_PARALLEL(DECLARE_WEAK)

const struct hdf5_api* hdf5_api(const void* caller) {
#define MEMBER(name, result, parameters) .name = linked_##name,
    static struct hdf5_api linked = {HDF5_ASKED(MEMBER)};
    static _Atomic(bool) asked;
    (void)caller;
    if (!atomic_load_explicit(&asked, memory_order_acquire)) {
        unsigned version[3] = {0};
        linked.FD_mpio_init = linked_FD_mpio_init;
        linked.Pget_dxpl_mpio = linked_Pget_dxpl_mpio;
        linked.get_libversion(&version[0], &version[1], &version[2]);
        linked.counted = hdf5_is_counted(version);
        atomic_store_explicit(&asked, true, memory_order_release);
    }
    return &linked;
}
#endif
