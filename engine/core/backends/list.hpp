// The registry: one line per backend. Each has its traits in this folder, and its code in engine/backends.
#define WORKALIKE_BACKENDS(BACKEND) \
    BACKEND(null)                   \
    BACKEND(record)                 \
    BACKEND(posix)                  \
    BACKEND(stdio)                  \
    BACKEND(mpiio)                  \
    BACKEND(hdf5)                   \
    BACKEND(typhonio)               \
    BACKEND(adios2)                 \
    BACKEND(pnetcdf)
