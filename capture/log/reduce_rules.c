#include "log/reduce_rules.h"

#include <stddef.h>

static const uint8_t data_times[DATA_TIMES] = {
    [OPEN_START... CLOSE_START] = RULE_FIRST,
    [OPEN_END... CLOSE_END] = RULE_MAX,
    [MAX_READ_TIME... VARIANCE_RANK_BYTES] = RULE_ELSEWHERE,
};

static const uint8_t posix_counters[POSIX_COUNTERS] = {
    [POSIX_RENAMED_FROM] = RULE_KEEP,
    [POSIX_MODE] = RULE_KEEP,
    [POSIX_MAX_BYTE_READ] = RULE_MAX,
    [POSIX_MAX_BYTE_WRITTEN] = RULE_MAX,
    [POSIX_MEM_ALIGNMENT] = RULE_KEEP,
    [POSIX_FILE_ALIGNMENT] = RULE_KEEP,
    [POSIX_MAX_READ_TIME_SIZE] = RULE_ELSEWHERE,
    [POSIX_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [POSIX_STRIDE... POSIX_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct reduce_rules posix_rules = {
    .head = 2,
    .counters = POSIX_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = posix_counters,
    .time_rule = data_times,
    .common = {{POSIX_STRIDE, POSIX_STRIDE_COUNT, 1}, {POSIX_ACCESS, POSIX_ACCESS_COUNT, 1}},
    .commons = 2,
    .bytes = {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = POSIX_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, POSIX_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, POSIX_MAX_WRITE_TIME_SIZE}},
};

static const uint8_t mpiio_counters[MPIIO_COUNTERS] = {
    [MPIIO_MODE] = RULE_KEEP,
    [MPIIO_MAX_READ_TIME_SIZE] = RULE_ELSEWHERE,
    [MPIIO_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [MPIIO_ACCESS... MPIIO_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct reduce_rules mpiio_rules = {
    .head = 2,
    .counters = MPIIO_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = mpiio_counters,
    .time_rule = data_times,
    .common = {{MPIIO_ACCESS, MPIIO_ACCESS_COUNT, 1}},
    .commons = 1,
    .bytes = {MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = MPIIO_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, MPIIO_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, MPIIO_MAX_WRITE_TIME_SIZE}},
};

static const uint8_t stdio_counters[STDIO_COUNTERS] = {
    [STDIO_MAX_BYTE_READ] = RULE_MAX,
    [STDIO_MAX_BYTE_WRITTEN] = RULE_MAX,
    [STDIO_FASTEST_RANK... STDIO_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const uint8_t stdio_times[STDIO_TIMES] = {
    [STDIO_OPEN_START... STDIO_READ_START] = RULE_FIRST,
    [STDIO_OPEN_END... STDIO_READ_END] = RULE_MAX,
    [STDIO_FASTEST_RANK_TIME... STDIO_VARIANCE_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct reduce_rules stdio_rules = {
    .head = 2,
    .counters = STDIO_COUNTERS,
    .times = STDIO_TIMES,
    .counter_rule = stdio_counters,
    .time_rule = stdio_times,
    .bytes = {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN},
    .spent = {STDIO_READ_TIME, STDIO_WRITE_TIME, STDIO_META_TIME},
    .ranks = STDIO_FASTEST_RANK,
    .fastest_time = STDIO_FASTEST_RANK_TIME,
    .variance_time = STDIO_VARIANCE_RANK_TIME,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static const uint8_t h5f_counters[H5F_COUNTERS] = {[H5F_USE_MPIIO] = RULE_OR};

static const uint8_t h5f_times[H5F_TIMES] = {
    [H5F_OPEN_START... H5F_CLOSE_START] = RULE_FIRST,
    [H5F_OPEN_END... H5F_CLOSE_END] = RULE_MAX,
};

static const struct reduce_rules h5f_rules = {
    .head = 2,
    .counters = H5F_COUNTERS,
    .times = H5F_TIMES,
    .counter_rule = h5f_counters,
    .time_rule = h5f_times,
    .bytes = {NOWHERE, NOWHERE},
    .spent = {H5F_META_TIME, NOWHERE, NOWHERE},
    .ranks = NOWHERE,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static const uint8_t h5d_counters[H5D_COUNTERS] = {
    [H5D_MAX_READ_TIME_SIZE... H5D_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [H5D_ACCESS... H5D_NDIMS - 1] = RULE_ELSEWHERE,
    [H5D_NDIMS] = RULE_KEEP,
    [H5D_NPOINTS] = RULE_MAX,
    [H5D_TYPE_SIZE... H5D_COLLECTIVE - 1] = RULE_KEEP,
    [H5D_COLLECTIVE... H5D_DEPRECATED] = RULE_OR,
    [H5D_FASTEST_RANK... H5D_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct reduce_rules h5d_rules = {
    .head = 3,
    .counters = H5D_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = h5d_counters,
    .time_rule = data_times,
    .common = {{H5D_ACCESS, H5D_ACCESS_COUNT, SLAB_WIDTH}},
    .commons = 1,
    .bytes = {H5D_BYTES_READ, H5D_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = H5D_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, H5D_MAX_READ_TIME_SIZE}, {MAX_WRITE_TIME, H5D_MAX_WRITE_TIME_SIZE}},
};

static const uint8_t pnetcdf_file_counters[PNETCDF_COUNTERS] = {RULE_SUM};

static const uint8_t pnetcdf_file_times[PNETCDF_TIMES] = {
    [PNETCDF_OPEN_START... PNETCDF_WAIT_START] = RULE_FIRST,
    [PNETCDF_OPEN_END... PNETCDF_WAIT_END] = RULE_MAX,
};

static const struct reduce_rules pnetcdf_file_rules = {
    .head = 2,
    .counters = PNETCDF_COUNTERS,
    .times = PNETCDF_TIMES,
    .counter_rule = pnetcdf_file_counters,
    .time_rule = pnetcdf_file_times,
    .bytes = {NOWHERE, NOWHERE},
    .spent = {NOWHERE, NOWHERE, NOWHERE},
    .ranks = NOWHERE,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

static const uint8_t pnetcdf_var_counters[PNETCDF_VAR_COUNTERS] = {
    [PNETCDF_VAR_MAX_READ_TIME_SIZE... PNETCDF_VAR_MAX_WRITE_TIME_SIZE] = RULE_ELSEWHERE,
    [PNETCDF_VAR_ACCESS... PNETCDF_VAR_NDIMS - 1] = RULE_ELSEWHERE,
    [PNETCDF_VAR_NDIMS] = RULE_KEEP,
    [PNETCDF_VAR_NPOINTS] = RULE_MAX,
    [PNETCDF_VAR_TYPE_SIZE] = RULE_KEEP,
    [PNETCDF_VAR_IS_RECORD] = RULE_OR,
    [PNETCDF_VAR_FASTEST_RANK... PNETCDF_VAR_SLOWEST_RANK_BYTES] = RULE_ELSEWHERE,
};

static const struct reduce_rules pnetcdf_var_rules = {
    .head = 3,
    .counters = PNETCDF_VAR_COUNTERS,
    .times = DATA_TIMES,
    .counter_rule = pnetcdf_var_counters,
    .time_rule = data_times,
    .common = {{PNETCDF_VAR_ACCESS, PNETCDF_VAR_ACCESS_COUNT, SLAB_WIDTH}},
    .commons = 1,
    .bytes = {PNETCDF_VAR_BYTES_READ, PNETCDF_VAR_BYTES_WRITTEN},
    .spent = {READ_TIME, WRITE_TIME, META_TIME},
    .ranks = PNETCDF_VAR_FASTEST_RANK,
    .fastest_time = FASTEST_RANK_TIME,
    .variance_time = VARIANCE_RANK_TIME,
    .slowest = {{MAX_READ_TIME, PNETCDF_VAR_MAX_READ_TIME_SIZE},
                {MAX_WRITE_TIME, PNETCDF_VAR_MAX_WRITE_TIME_SIZE}},
};

static const uint8_t extra_counters[EXTRA_COUNTERS] = {RULE_SUM};

static const struct reduce_rules extra_rules = {
    .head = 2,
    .counters = EXTRA_COUNTERS,
    .counter_rule = extra_counters,
    .bytes = {NOWHERE, NOWHERE},
    .spent = {NOWHERE, NOWHERE, NOWHERE},
    .ranks = NOWHERE,
    .slowest = {{NOWHERE, NOWHERE}, {NOWHERE, NOWHERE}},
};

const struct reduce_rules* reduce_rules(enum module module) {
    switch (module) {
        case MODULE_POSIX:
            return &posix_rules;
        case MODULE_MPIIO:
            return &mpiio_rules;
        case MODULE_STDIO:
            return &stdio_rules;
        case MODULE_H5F:
            return &h5f_rules;
        case MODULE_H5D:
            return &h5d_rules;
        case MODULE_PNETCDF_FILE:
            return &pnetcdf_file_rules;
        case MODULE_PNETCDF_VAR:
            return &pnetcdf_var_rules;
        case MODULE_EXTRA:
            return &extra_rules;
        default:
            return NULL;
    }
}
