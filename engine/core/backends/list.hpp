// The registry: one line per backend. Each has its traits in this folder, and its code in engine/backends.
// Of those that count at one level the first performs it where a family names no library.
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
