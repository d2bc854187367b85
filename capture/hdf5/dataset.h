/* Transfers of open datasets. */
#ifndef WORKALIKE_CAPTURE_HDF5_DATASET_H
#define WORKALIKE_CAPTURE_HDF5_DATASET_H

#include <stdbool.h>

#include "core/clock.h"
#include "hdf5/api.h"

/* Counts a transfer of a dataset. `space` is the selection in the file, `list` the property list of the
   transfer. */
void hdf5_note_access(const struct hdf5_api* api, hid dataset, bool write, hid space, hid list,
                      struct span span);

#endif
