/* The H5F and H5D counters of one file or dataset. */
#ifndef WORKALIKE_CAPTURE_HDF5_RECORD_H
#define WORKALIKE_CAPTURE_HDF5_RECORD_H

#include "core/clock.h"
#include "core/common_slabs.h"
#include "core/mapping.h"
#include "hdf5/api.h"
#include "hdf5/layout.h"

struct h5f_record {
    struct entry head;
    double meta_end;
    struct h5f_stored log;
};

struct h5d_record {
    struct entry head;
    double read_end, write_end, meta_end;
    int32_t last_kind; /* 0 none yet, 1 a read, 2 a write */
    struct common_slabs accesses;
    struct h5d_stored log;
};

struct h5f_record* h5f_record_of(const char* path);
/* The dataset `name` opened from the object `location`; NULL if its file is not counted. */
struct h5d_record* h5d_record_of(const struct hdf5_api* api, hid location, const char* name);

void h5f_count_open(struct h5f_record* record, bool mpiio, struct span span);
void h5f_count_flush(struct h5f_record* record, struct span span);
void h5f_count_close(struct h5f_record* record, struct span span);

/* The shape of an open dataset. */
struct h5d_shape {
    int64_t dimensions, points, type_size;
    int64_t chunk[SLAB_DIMS]; /* the fastest dimension first; 0 if not chunked */
};

/* One transfer and its selection in the dataset. */
enum selection { SELECTED_ALL, SELECTED_REGULAR, SELECTED_IRREGULAR, SELECTED_POINTS };

struct h5d_access {
    bool write, collective;
    enum selection selection;
    int64_t slab[SLAB_WIDTH]; /* bytes, lengths, strides */
};

void h5d_count_open(struct h5d_record* record, const struct h5d_shape* shape, bool deprecated,
                    struct span span);
void h5d_count_access(struct h5d_record* record, const struct h5d_access* access, struct span span);
void h5d_count_flush(struct h5d_record* record, struct span span);
void h5d_count_close(struct h5d_record* record, struct span span);

#endif
