/* What the records of all modules have in common in a log of format 3.41: id, rank, [file id,] counters,
   times, without padding. The specific part of a module is in its layout.h. */
#ifndef WORKALIKE_CAPTURE_LAYOUTS_H
#define WORKALIKE_CAPTURE_LAYOUTS_H

#include <stdint.h>

/* Modules by their numbers in the format, followed by numbers for the side file, which are never in a log. */
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
    MODULE_SIDE = 32, /* the first of the numbers for counters in the side file (side_counters.h) */
    MODULE_MESSAGES = 60,
    MODULE_EVENTS = 61,
    MODULE_SIZES = 62,
    MODULES = 64
};

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

/* A common access of an array has 11 numbers: bytes, length in five dimensions, stride in five dimensions. */
enum { SLAB_DIMS = 5, SLAB_WIDTH = 1 + 2 * SLAB_DIMS };

struct base_record {
    uint64_t id;
    int64_t rank;
};

#endif
