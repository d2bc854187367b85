/* HDF5 attributes and groups, which are counted for the side file only. */
#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/keep_errno.h"
#include "core/process.h"
#include "hdf5/api.h"
#include "hdf5/counters.h"

static struct handle_table attributes;

/* Notes that an object was made or opened at a location in a file. */
static hid note(const struct hdf5_api* api, hid location, enum hdf5_counter counter, bool attribute,
                hid object) {
    if (object < 0 || !api->counted || !process_counts() || !guard_enter()) return object;
    KEEP_ERRNO();
    struct side_record* record = hdf5_side_record(api, location);
    if (record) side_count(record, counter);
    if (record && attribute) handle_enter(&attributes, object, record);
    guard_leave();
    return object;
}

#define MAKING(name, counter, attribute, parameters, arguments)                             \
    hid H5##name parameters;                                                                \
    EXPORT hid H5##name parameters {                                                        \
        const struct hdf5_api* api = HDF5_OF_CALLER();                                      \
        if (!HDF5_ORIGINAL(api, name)) return HDF5_FAILED;                                  \
        return note(api, location, counter, attribute, HDF5_ORIGINAL(api, name) arguments); \
    }
MAKING(Acreate1, HDF5_ATTRIBUTES_CREATED, true,
       (hid location, const char* name, hid type, hid space, hid list), (location, name, type, space, list))
MAKING(Acreate2, HDF5_ATTRIBUTES_CREATED, true,
       (hid location, const char* name, hid type, hid space, hid creation, hid access),
       (location, name, type, space, creation, access))
MAKING(Acreate_by_name, HDF5_ATTRIBUTES_CREATED, true,
       (hid location, const char* object, const char* name, hid type, hid space, hid creation, hid access,
        hid link),
       (location, object, name, type, space, creation, access, link))
MAKING(Aopen, HDF5_ATTRIBUTES_OPENED, true, (hid location, const char* name, hid access),
       (location, name, access))
MAKING(Aopen_name, HDF5_ATTRIBUTES_OPENED, true, (hid location, const char* name), (location, name))
MAKING(Aopen_idx, HDF5_ATTRIBUTES_OPENED, true, (hid location, unsigned number), (location, number))
MAKING(Aopen_by_name, HDF5_ATTRIBUTES_OPENED, true,
       (hid location, const char* object, const char* name, hid access, hid link),
       (location, object, name, access, link))
MAKING(Gcreate1, HDF5_GROUPS_CREATED, false, (hid location, const char* name, size_t hint),
       (location, name, hint))
MAKING(Gcreate2, HDF5_GROUPS_CREATED, false,
       (hid location, const char* name, hid link, hid creation, hid access),
       (location, name, link, creation, access))

static int note_use(struct side_record* record, enum hdf5_counter counter, int result) {
    if (record && result >= 0 && guard_enter()) {
        side_count(record, counter);
        guard_leave();
    }
    return result;
}

int H5Awrite(hid attribute, hid type, const void* memory);
EXPORT int H5Awrite(hid attribute, hid type, const void* memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Awrite)) return HDF5_FAILED;
    return note_use(handle_find(&attributes, attribute), HDF5_ATTRIBUTES_WRITTEN,
                    HDF5_ORIGINAL(api, Awrite)(attribute, type, memory));
}

int H5Aread(hid attribute, hid type, void* memory);
EXPORT int H5Aread(hid attribute, hid type, void* memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Aread)) return HDF5_FAILED;
    return note_use(handle_find(&attributes, attribute), HDF5_ATTRIBUTES_READ,
                    HDF5_ORIGINAL(api, Aread)(attribute, type, memory));
}

int H5Aclose(hid attribute);
EXPORT int H5Aclose(hid attribute) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Aclose)) return HDF5_FAILED;
    return note_use(handle_remove(&attributes, attribute), HDF5_ATTRIBUTES_CLOSED,
                    HDF5_ORIGINAL(api, Aclose)(attribute));
}
