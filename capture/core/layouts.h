/* Records of the modules as a log holds them, format 3.41: id, rank, [file id,] counters, times; no padding.
 */
#ifndef WORKALIKE_CAPTURE_LAYOUTS_H
#define WORKALIKE_CAPTURE_LAYOUTS_H

#include <stdint.h>

enum module {
    MODULE_POSIX = 1,
    MODULE_MPIIO = 2,
    MODULE_H5F = 3,
    MODULE_H5D = 4,
    MODULE_PNETCDF_FILE = 5,
    MODULE_PNETCDF_VAR = 6,
    MODULE_LUSTRE = 8,
    MODULE_STDIO = 9,
    MODULE_DXT_POSIX = 10,
    MODULE_DXT_MPIIO = 11,
    MODULE_HEATMAP = 15,
    MODULE_SIZES = 62, /* ours, too */
    MODULE_EXTRA = 63, /* ours: goes into the side file, never into a log */
    MODULES = 64
};

enum { SIZE_BINS = 10 };

/* Bin of an access size; the upper bounds are inclusive: 100, 1 KiB, 10 KiB, 100 KiB, 1 MiB, 4 MiB, ... */
static inline int size_bin(int64_t size) {
    static const int64_t bounds[SIZE_BINS - 1] = {
        100, 1024, 10240, 102400, 1048576, 4 * 1048576LL, 10 * 1048576LL, 100 * 1048576LL, 1073741824};
    int bin = 0;
    while (bin < SIZE_BINS - 1 && size > bounds[bin]) ++bin;
    return bin;
}

/* The times that POSIX, MPI-IO, H5D and PNETCDF_VAR share. */
enum data_time {
    OPEN_START,
    READ_START,
    WRITE_START,
    CLOSE_START,
    OPEN_END,
    READ_END,
    WRITE_END,
    CLOSE_END,
    READ_TIME,
    WRITE_TIME,
    META_TIME,
    MAX_READ_TIME,
    MAX_WRITE_TIME,
    FASTEST_RANK_TIME,
    SLOWEST_RANK_TIME,
    VARIANCE_RANK_TIME,
    VARIANCE_RANK_BYTES,
    DATA_TIMES
};

enum posix_counter {
    POSIX_OPENS,
    POSIX_FILENOS,
    POSIX_DUPS,
    POSIX_READS,
    POSIX_WRITES,
    POSIX_SEEKS,
    POSIX_STATS,
    POSIX_MMAPS,
    POSIX_FSYNCS,
    POSIX_FDSYNCS,
    POSIX_RENAME_SOURCES,
    POSIX_RENAME_TARGETS,
    POSIX_RENAMED_FROM,
    POSIX_MODE,
    POSIX_BYTES_READ,
    POSIX_BYTES_WRITTEN,
    POSIX_MAX_BYTE_READ,
    POSIX_MAX_BYTE_WRITTEN,
    POSIX_CONSEC_READS,
    POSIX_CONSEC_WRITES,
    POSIX_SEQ_READS,
    POSIX_SEQ_WRITES,
    POSIX_RW_SWITCHES,
    POSIX_MEM_NOT_ALIGNED,
    POSIX_MEM_ALIGNMENT,
    POSIX_FILE_NOT_ALIGNED,
    POSIX_FILE_ALIGNMENT,
    POSIX_MAX_READ_TIME_SIZE,
    POSIX_MAX_WRITE_TIME_SIZE,
    POSIX_SIZE_READ = 29,
    POSIX_SIZE_WRITE = 39,
    POSIX_STRIDE = 49,
    POSIX_STRIDE_COUNT = 53,
    POSIX_ACCESS = 57,
    POSIX_ACCESS_COUNT = 61,
    POSIX_FASTEST_RANK = 65,
    POSIX_FASTEST_RANK_BYTES,
    POSIX_SLOWEST_RANK,
    POSIX_SLOWEST_RANK_BYTES,
    POSIX_COUNTERS
};

enum mpiio_counter {
    MPIIO_INDEP_OPENS,
    MPIIO_COLL_OPENS,
    MPIIO_INDEP_READS,
    MPIIO_INDEP_WRITES,
    MPIIO_COLL_READS,
    MPIIO_COLL_WRITES,
    MPIIO_SPLIT_READS,
    MPIIO_SPLIT_WRITES,
    MPIIO_NB_READS,
    MPIIO_NB_WRITES,
    MPIIO_SYNCS,
    MPIIO_HINTS,
    MPIIO_VIEWS,
    MPIIO_MODE,
    MPIIO_BYTES_READ,
    MPIIO_BYTES_WRITTEN,
    MPIIO_RW_SWITCHES,
    MPIIO_MAX_READ_TIME_SIZE,
    MPIIO_MAX_WRITE_TIME_SIZE,
    MPIIO_SIZE_READ = 19,
    MPIIO_SIZE_WRITE = 29,
    MPIIO_ACCESS = 39,
    MPIIO_ACCESS_COUNT = 43,
    MPIIO_FASTEST_RANK = 47,
    MPIIO_FASTEST_RANK_BYTES,
    MPIIO_SLOWEST_RANK,
    MPIIO_SLOWEST_RANK_BYTES,
    MPIIO_COUNTERS
};

enum stdio_counter {
    STDIO_OPENS,
    STDIO_FDOPENS,
    STDIO_READS,
    STDIO_WRITES,
    STDIO_SEEKS,
    STDIO_FLUSHES,
    STDIO_BYTES_WRITTEN,
    STDIO_BYTES_READ,
    STDIO_MAX_BYTE_READ,
    STDIO_MAX_BYTE_WRITTEN,
    STDIO_FASTEST_RANK,
    STDIO_FASTEST_RANK_BYTES,
    STDIO_SLOWEST_RANK,
    STDIO_SLOWEST_RANK_BYTES,
    STDIO_COUNTERS
};

/* Another order than the other modules'. */
enum stdio_time {
    STDIO_META_TIME,
    STDIO_WRITE_TIME,
    STDIO_READ_TIME,
    STDIO_OPEN_START,
    STDIO_CLOSE_START,
    STDIO_WRITE_START,
    STDIO_READ_START,
    STDIO_OPEN_END,
    STDIO_CLOSE_END,
    STDIO_WRITE_END,
    STDIO_READ_END,
    STDIO_FASTEST_RANK_TIME,
    STDIO_SLOWEST_RANK_TIME,
    STDIO_VARIANCE_RANK_TIME,
    STDIO_VARIANCE_RANK_BYTES,
    STDIO_TIMES
};

/* A common access of an array is 11 numbers: bytes, length in five dimensions, stride in five dimensions. */
enum { SLAB_DIMS = 5, SLAB_WIDTH = 1 + 2 * SLAB_DIMS };

enum h5f_counter { H5F_OPENS, H5F_FLUSHES, H5F_USE_MPIIO, H5F_COUNTERS };
enum h5f_time { H5F_OPEN_START, H5F_CLOSE_START, H5F_OPEN_END, H5F_CLOSE_END, H5F_META_TIME, H5F_TIMES };

enum h5d_counter {
    H5D_OPENS,
    H5D_READS,
    H5D_WRITES,
    H5D_FLUSHES,
    H5D_BYTES_READ,
    H5D_BYTES_WRITTEN,
    H5D_RW_SWITCHES,
    H5D_REGULAR_HYPERSLABS,
    H5D_IRREGULAR_HYPERSLABS,
    H5D_POINTS,
    H5D_MAX_READ_TIME_SIZE,
    H5D_MAX_WRITE_TIME_SIZE,
    H5D_SIZE_READ = 12,
    H5D_SIZE_WRITE = 22,
    H5D_ACCESS = 32,
    H5D_ACCESS_COUNT = 76,
    H5D_NDIMS = 80,
    H5D_NPOINTS,
    H5D_TYPE_SIZE,
    H5D_CHUNK,
    H5D_COLLECTIVE = 88,
    H5D_DEPRECATED,
    H5D_FASTEST_RANK,
    H5D_FASTEST_RANK_BYTES,
    H5D_SLOWEST_RANK,
    H5D_SLOWEST_RANK_BYTES,
    H5D_COUNTERS
};

enum pnetcdf_file_counter {
    PNETCDF_CREATES,
    PNETCDF_OPENS,
    PNETCDF_REDEFS,
    PNETCDF_INDEP_WAITS,
    PNETCDF_COLL_WAITS,
    PNETCDF_SYNCS,
    PNETCDF_BYTES_READ,
    PNETCDF_BYTES_WRITTEN,
    PNETCDF_WAIT_FAILURES,
    PNETCDF_COUNTERS
};

enum pnetcdf_file_time {
    PNETCDF_OPEN_START,
    PNETCDF_CLOSE_START,
    PNETCDF_WAIT_START,
    PNETCDF_OPEN_END,
    PNETCDF_CLOSE_END,
    PNETCDF_WAIT_END,
    PNETCDF_META_TIME,
    PNETCDF_WAIT_TIME,
    PNETCDF_TIMES
};

enum pnetcdf_var_counter {
    PNETCDF_VAR_OPENS,
    PNETCDF_VAR_INDEP_READS,
    PNETCDF_VAR_INDEP_WRITES,
    PNETCDF_VAR_COLL_READS,
    PNETCDF_VAR_COLL_WRITES,
    PNETCDF_VAR_NB_READS,
    PNETCDF_VAR_NB_WRITES,
    PNETCDF_VAR_BYTES_READ,
    PNETCDF_VAR_BYTES_WRITTEN,
    PNETCDF_VAR_RW_SWITCHES,
    PNETCDF_VAR_PUT = 10, /* each: var, var1, vara, vars, varm, varn; the first two vard as well */
    PNETCDF_VAR_GET = 17,
    PNETCDF_VAR_IPUT = 24,
    PNETCDF_VAR_IGET = 30,
    PNETCDF_VAR_BPUT = 36,
    PNETCDF_VAR_MAX_READ_TIME_SIZE = 42,
    PNETCDF_VAR_MAX_WRITE_TIME_SIZE,
    PNETCDF_VAR_SIZE_READ = 44,
    PNETCDF_VAR_SIZE_WRITE = 54,
    PNETCDF_VAR_ACCESS = 64,
    PNETCDF_VAR_ACCESS_COUNT = 108,
    PNETCDF_VAR_NDIMS = 112,
    PNETCDF_VAR_NPOINTS,
    PNETCDF_VAR_TYPE_SIZE,
    PNETCDF_VAR_IS_RECORD,
    PNETCDF_VAR_FASTEST_RANK,
    PNETCDF_VAR_FASTEST_RANK_BYTES,
    PNETCDF_VAR_SLOWEST_RANK,
    PNETCDF_VAR_SLOWEST_RANK_BYTES,
    PNETCDF_VAR_COUNTERS
};

enum extra_counter {
    EXTRA_ATTRIBUTES_CREATED,
    EXTRA_ATTRIBUTES_OPENED,
    EXTRA_ATTRIBUTES_READ,
    EXTRA_ATTRIBUTES_WRITTEN,
    EXTRA_ATTRIBUTES_CLOSED,
    EXTRA_GROUPS_CREATED,
    EXTRA_DATASETS_CREATED,
    EXTRA_COUNTERS
};

struct base_record {
    uint64_t id;
    int64_t rank;
};

struct posix_stored {
    struct base_record base;
    int64_t counter[POSIX_COUNTERS];
    double time[DATA_TIMES];
};

struct mpiio_stored {
    struct base_record base;
    int64_t counter[MPIIO_COUNTERS];
    double time[DATA_TIMES];
};

struct stdio_stored {
    struct base_record base;
    int64_t counter[STDIO_COUNTERS];
    double time[STDIO_TIMES];
};

struct extra_stored {
    struct base_record base;
    int64_t counter[EXTRA_COUNTERS];
};

struct h5f_stored {
    struct base_record base;
    int64_t counter[H5F_COUNTERS];
    double time[H5F_TIMES];
};

struct h5d_stored {
    struct base_record base;
    uint64_t file_id;
    int64_t counter[H5D_COUNTERS];
    double time[DATA_TIMES];
};

struct pnetcdf_file_stored {
    struct base_record base;
    int64_t counter[PNETCDF_COUNTERS];
    double time[PNETCDF_TIMES];
};

struct pnetcdf_var_stored {
    struct base_record base;
    uint64_t file_id;
    int64_t counter[PNETCDF_VAR_COUNTERS];
    double time[DATA_TIMES];
};

_Static_assert(sizeof(struct pnetcdf_file_stored) == 152, "format 3.41, PNETCDF_FILE 3");
_Static_assert(sizeof(struct pnetcdf_var_stored) == 1120, "format 3.41, PNETCDF_VAR 1");
_Static_assert(sizeof(struct h5f_stored) == 80, "format 3.41, H5F 3");
_Static_assert(sizeof(struct h5d_stored) == 912, "format 3.41, H5D 2");
_Static_assert(sizeof(struct posix_stored) == 704, "format 3.41, POSIX 4");
_Static_assert(sizeof(struct mpiio_stored) == 560, "format 3.41, MPI-IO 3");
_Static_assert(sizeof(struct stdio_stored) == 248, "format 3.41, STDIO 2");

#endif
