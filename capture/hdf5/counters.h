/* HDF5 calls that Darshan's format cannot hold: about attributes, groups, and created datasets. */
#ifndef WORKALIKE_CAPTURE_HDF5_COUNTERS_H
#define WORKALIKE_CAPTURE_HDF5_COUNTERS_H

#include "core/side_counters.h"
#include "hdf5/api.h"

enum hdf5_counter {
    HDF5_ATTRIBUTES_CREATED,
    HDF5_ATTRIBUTES_OPENED,
    HDF5_ATTRIBUTES_READ,
    HDF5_ATTRIBUTES_WRITTEN,
    HDF5_ATTRIBUTES_CLOSED,
    HDF5_GROUPS_CREATED,
    HDF5_DATASETS_CREATED,
    HDF5_COUNTERS
};

extern const struct side_counters hdf5_counters;

/* The record of the file that contains an object; NULL if the file is not counted. */
struct side_record* hdf5_side_record(const struct hdf5_api* api, hid object);

#endif
