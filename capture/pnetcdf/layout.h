/* The records of PnetCDF's files and variables, as a log of format 3.41 holds them. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_LAYOUT_H
#define WORKALIKE_CAPTURE_PNETCDF_LAYOUT_H

#include "core/layouts.h"

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

#endif
