#include "hdf5/counters.h"

#include "core/records.h"

static const char* const names[HDF5_COUNTERS] = {
    "attributes_created", "attributes_opened", "attributes_read",  "attributes_written",
    "attributes_closed",  "groups_created",    "datasets_created",
};

const struct side_counters hdf5_counters = {.part = "hdf5", .names = names, .count = HDF5_COUNTERS};

struct side_record* hdf5_side_record(const struct hdf5_api* api, hid object) {
    char path[PATH_MAX], name[NAME_ROOM];
    if (api->Fget_name(object, path, sizeof path) <= 0 || !records_path(path, name)) return NULL;
    return side_record_of(&hdf5_counters, name);
}
