/* The records of HDF5's files and datasets, as a log of format 3.41 holds them. */
#ifndef WORKALIKE_CAPTURE_HDF5_LAYOUT_H
#define WORKALIKE_CAPTURE_HDF5_LAYOUT_H

#include "core/layouts.h"

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

_Static_assert(sizeof(struct h5f_stored) == 80, "format 3.41, H5F 3");
_Static_assert(sizeof(struct h5d_stored) == 912, "format 3.41, H5D 2");

#endif
