/* The PNETCDF_FILE and PNETCDF_VAR counters of one file or variable. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_RECORD_H
#define WORKALIKE_CAPTURE_PNETCDF_RECORD_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/common_slabs.h"
#include "core/mapping.h"
#include "pnetcdf/layout.h"

struct pnetcdf_file_record {
    struct entry head;
    double meta_end, wait_end;
    struct pnetcdf_file_stored log;
};

/* The shape of a variable. */
struct pnetcdf_shape {
    int64_t dimensions, type_size;
    bool records;              /* the first dimension grows */
    int64_t points;            /* of one record, or of the whole variable */
    int64_t length[SLAB_DIMS]; /* of the last five dimensions, the slowest first; the one that grows has 1 */
};

struct pnetcdf_var_record {
    struct entry head;
    double read_end, write_end, meta_end;
    int32_t last_kind; /* 0 none yet, 1 a read, 2 a write */
    struct pnetcdf_shape shape;
    struct common_slabs accesses;
    struct pnetcdf_var_stored log;
};

/* One transfer. */
struct pnetcdf_access {
    enum pnetcdf_var_counter
        how; /* PNETCDF_VAR_INDEP_READS ... PNETCDF_VAR_NB_WRITES: reads odd, writes even */
    enum pnetcdf_var_counter call; /* the counter of the kind of call */
    int64_t slab[SLAB_WIDTH];      /* bytes, lengths, strides */
    int64_t records;               /* number of the record after the last one accessed */
};

struct pnetcdf_file_record* pnetcdf_file_record_of(const char* path);
struct pnetcdf_var_record* pnetcdf_var_record_of(const struct pnetcdf_file_record* file, const char* name);

/* `counter`: creates or opens. */
void pnetcdf_count_open(struct pnetcdf_file_record* record, enum pnetcdf_file_counter counter,
                        struct span span);
void pnetcdf_count_close(struct pnetcdf_file_record* record, int64_t read, int64_t written, struct span span);
/* Counts beginnings and ends of definitions, and syncs; ends have no counter. */
enum { PNETCDF_NO_COUNTER = -1 };
void pnetcdf_count_meta(struct pnetcdf_file_record* record, int counter, struct span span);
void pnetcdf_count_wait(struct pnetcdf_file_record* record, bool collective, bool failed, struct span span);

void pnetcdf_var_set_shape(struct pnetcdf_var_record* record, const struct pnetcdf_shape* shape);
void pnetcdf_var_count_open(struct pnetcdf_var_record* record, struct span span);
void pnetcdf_var_count_access(struct pnetcdf_var_record* record, const struct pnetcdf_access* access,
                              struct span span);
void pnetcdf_var_count_close(struct pnetcdf_var_record* record, struct span span);

#endif
