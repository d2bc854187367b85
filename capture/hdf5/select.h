/* Questions to HDF5 about an open dataset and a selection in it. */
#ifndef WORKALIKE_CAPTURE_HDF5_SELECT_H
#define WORKALIKE_CAPTURE_HDF5_SELECT_H

#include "hdf5/record.h"

struct h5d_shape hdf5_shape(const struct hdf5_api* api, hid dataset);

/* `space` is the selection in the file, `list` the property list of the transfer. */
struct h5d_access hdf5_access(const struct hdf5_api* api, const struct h5d_record* record, hid dataset,
                              bool write, hid space, hid list);

bool hdf5_file_uses_mpiio(const struct hdf5_api* api, hid list);

#endif
