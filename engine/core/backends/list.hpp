// The registry of backends, one line each. A backend has its traits in this folder and its code in
// engine/backends. Where a family names no library, the first backend in this list that counts at the
// family's level is used.
#define WORKALIKE_BACKENDS(BACKEND) \
    BACKEND(null)                   \
    BACKEND(record)                 \
    BACKEND(posix)                  \
    BACKEND(stdio)                  \
    BACKEND(mpiio)                  \
    BACKEND(hdf5)                   \
    BACKEND(typhonio)               \
    BACKEND(pnetcdf)                \
    BACKEND(adios2)
