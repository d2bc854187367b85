/* HDF5 without its headers, for version 1.10 and newer; calls of older ones are not counted.

   A process may have several HDF5 libraries, since Python packages bring their own. A call is forwarded to
   the one that its caller was linked with, and questions about an object are put to the same library. */
#ifndef WORKALIKE_CAPTURE_HDF5_API_H
#define WORKALIKE_CAPTURE_HDF5_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int64_t hid;
typedef uint64_t hsize;

enum { HDF5_DEFAULT = 0, HDF5_ALL = 0, HDF5_FAILED = -1 };
enum { HDF5_POINTS = 1, HDF5_HYPERSLABS = 2 }; /* H5S_sel_type */
enum { HDF5_CHUNKED = 2, HDF5_COLLECTIVE = 1, HDF5_IS_DATASET = 5, HDF5_MAX_RANK = 32 };

/* The functions that ours replace. */
#define HDF5_WRAPPED(X)                                                               \
    X(Fcreate, hid, (const char*, unsigned, hid, hid))                                \
    X(Fopen, hid, (const char*, unsigned, hid))                                       \
    X(Fflush, int, (hid, int))                                                        \
    X(Fclose, int, (hid))                                                             \
    X(Dcreate1, hid, (hid, const char*, hid, hid, hid))                               \
    X(Dcreate2, hid, (hid, const char*, hid, hid, hid, hid, hid))                     \
    X(Dopen1, hid, (hid, const char*))                                                \
    X(Dopen2, hid, (hid, const char*, hid))                                           \
    X(Dread, int, (hid, hid, hid, hid, hid, void*))                                   \
    X(Dwrite, int, (hid, hid, hid, hid, hid, const void*))                            \
    X(Dread_multi, int, (size_t, hid*, hid*, hid*, hid*, hid, void**))                \
    X(Dwrite_multi, int, (size_t, hid*, hid*, hid*, hid*, hid, const void**))         \
    X(Dflush, int, (hid))                                                             \
    X(Dclose, int, (hid))                                                             \
    X(Oopen, hid, (hid, const char*, hid))                                            \
    X(Oclose, int, (hid))                                                             \
    X(Acreate1, hid, (hid, const char*, hid, hid, hid))                               \
    X(Acreate2, hid, (hid, const char*, hid, hid, hid, hid))                          \
    X(Acreate_by_name, hid, (hid, const char*, const char*, hid, hid, hid, hid, hid)) \
    X(Aopen, hid, (hid, const char*, hid))                                            \
    X(Aopen_name, hid, (hid, const char*))                                            \
    X(Aopen_idx, hid, (hid, unsigned))                                                \
    X(Aopen_by_name, hid, (hid, const char*, const char*, hid, hid))                  \
    X(Awrite, int, (hid, hid, const void*))                                           \
    X(Aread, int, (hid, hid, void*))                                                  \
    X(Aclose, int, (hid))                                                             \
    X(Gcreate1, hid, (hid, const char*, size_t))                                      \
    X(Gcreate2, hid, (hid, const char*, hid, hid, hid))

/* The functions that we call. */
#define HDF5_ASKED(X)                                                     \
    X(get_libversion, int, (unsigned*, unsigned*, unsigned*))             \
    X(Fget_name, ssize_t, (hid, char*, size_t))                           \
    X(Iget_name, ssize_t, (hid, char*, size_t))                           \
    X(Iget_type, int, (hid))                                              \
    X(Dget_space, hid, (hid))                                             \
    X(Dget_type, hid, (hid))                                              \
    X(Dget_create_plist, hid, (hid))                                      \
    X(Sget_simple_extent_ndims, int, (hid))                               \
    X(Sget_simple_extent_npoints, int64_t, (hid))                         \
    X(Sget_select_npoints, int64_t, (hid))                                \
    X(Sget_select_type, int, (hid))                                       \
    X(Sis_regular_hyperslab, int, (hid))                                  \
    X(Sget_regular_hyperslab, int, (hid, hsize*, hsize*, hsize*, hsize*)) \
    X(Sclose, int, (hid))                                                 \
    X(Tget_size, size_t, (hid))                                           \
    X(Tclose, int, (hid))                                                 \
    X(Pget_layout, int, (hid))                                            \
    X(Pget_chunk, int, (hid, int, hsize*))                                \
    X(Pget_driver, hid, (hid))                                            \
    X(Pclose, int, (hid))

/* The same, but a library without MPI does not have them. */
#define HDF5_ASKED_OF_PARALLEL(X)       \
    X(Pget_dxpl_mpio, int, (hid, int*)) \
    X(FD_mpio_init, hid, (void))

#define HDF5_FUNCTIONS(X) HDF5_WRAPPED(X) HDF5_ASKED(X) HDF5_ASKED_OF_PARALLEL(X)

struct hdf5_api {
    void* base;   /* where the library is loaded */
    bool counted; /* its version is supported */
#define HDF5_MEMBER(name, result, parameters) result(*name) parameters;
    HDF5_FUNCTIONS(HDF5_MEMBER)
#undef HDF5_MEMBER
};

/* Whether calls of a version are counted: 1.10 and newer. */
static inline bool hdf5_is_counted(const unsigned version[2]) {
    return version[0] > 1 || (version[0] == 1 && version[1] >= 10);
}

/* The library that a caller's call is meant for. Functions that the library does not have are NULL. */
const struct hdf5_api* hdf5_api(const void* caller);

#define HDF5_OF_CALLER() hdf5_api(__builtin_return_address(0))

/* The library's function that ours replaces; NULL if it does not exist. A linked program needs it by name,
   so that the linker takes it out of an archive. */
#ifdef CAPTURE_STATIC
#define HDF5_ORIGINAL(api, name)                                                  \
    __extension__({                                                               \
        extern __typeof__(*(api)->name) behind_##name __asm__("__real_H5" #name); \
        &behind_##name;                                                           \
    })
#else
#define HDF5_ORIGINAL(api, name) ((api)->name)
#endif

#endif
