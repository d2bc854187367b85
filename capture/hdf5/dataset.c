/* HDF5 datasets. */
#include "hdf5/dataset.h"

#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/keep_errno.h"
#include "core/process.h"
#include "hdf5/api.h"
#include "hdf5/counters.h"
#include "hdf5/select.h"

static struct handle_table datasets;

static hid note_opened(const struct hdf5_api* api, hid location, const char* name, bool deprecated,
                       hid dataset, int64_t start) {
    const struct span span = clock_span(start);
    if (dataset < 0 || !name || !api->counted || !process_counts() || !guard_enter()) return dataset;
    KEEP_ERRNO();
    struct h5d_record* record = h5d_record_of(api, location, name);
    if (record) {
        const struct h5d_shape shape = hdf5_shape(api, dataset);
        h5d_count_open(record, &shape, deprecated, span);
        handle_enter(&datasets, dataset, record);
    }
    guard_leave();
    return dataset;
}

static hid note_created(const struct hdf5_api* api, hid location, const char* name, bool deprecated,
                        hid dataset, int64_t start) {
    note_opened(api, location, name, deprecated, dataset, start);
    if (dataset < 0 || !api->counted || !process_counts() || !guard_enter()) return dataset;
    KEEP_ERRNO();
    struct side_record* record = hdf5_side_record(api, location);
    if (record) side_count(record, HDF5_DATASETS_CREATED);
    guard_leave();
    return dataset;
}

#define OPENING(note, name, deprecated, parameters, arguments)                                   \
    hid H5##name parameters;                                                                     \
    EXPORT hid H5##name parameters {                                                             \
        const struct hdf5_api* api = HDF5_OF_CALLER();                                           \
        if (!HDF5_ORIGINAL(api, name)) return HDF5_FAILED;                                       \
        const int64_t start = clock_ns();                                                        \
        return note(api, location, path, deprecated, HDF5_ORIGINAL(api, name) arguments, start); \
    }
OPENING(note_created, Dcreate1, true, (hid location, const char* path, hid type, hid space, hid creation),
        (location, path, type, space, creation))
OPENING(note_created, Dcreate2, false,
        (hid location, const char* path, hid type, hid space, hid link, hid creation, hid access),
        (location, path, type, space, link, creation, access))
OPENING(note_opened, Dopen1, true, (hid location, const char* path), (location, path))
OPENING(note_opened, Dopen2, false, (hid location, const char* path, hid access), (location, path, access))

/* The object may be of any kind; only datasets are counted. */
hid H5Oopen(hid location, const char* path, hid access);
EXPORT hid H5Oopen(hid location, const char* path, hid access) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Oopen)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    const hid object = HDF5_ORIGINAL(api, Oopen)(location, path, access);
    if (object < 0 || api->Iget_type(object) != HDF5_IS_DATASET) return object;
    return note_opened(api, location, path, false, object, start);
}

void hdf5_note_access(const struct hdf5_api* api, hid dataset, bool write, hid space, hid list,
                      struct span span) {
    struct h5d_record* record = handle_find(&datasets, dataset);
    if (!record) return;
    const struct h5d_access access = hdf5_access(api, record, dataset, write, space, list);
    h5d_count_access(record, &access, span);
}

static int end(const struct hdf5_api* api, hid dataset, bool write, hid space, hid list, int64_t start,
               int result) {
    if (result < 0 || !guard_enter()) return result;
    KEEP_ERRNO();
    hdf5_note_access(api, dataset, write, space, list, clock_span(start));
    guard_leave();
    return result;
}

int H5Dread(hid dataset, hid type, hid memory_space, hid space, hid list, void* memory);
EXPORT int H5Dread(hid dataset, hid type, hid memory_space, hid space, hid list, void* memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dread)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return end(api, dataset, false, space, list, start,
               HDF5_ORIGINAL(api, Dread)(dataset, type, memory_space, space, list, memory));
}

int H5Dwrite(hid dataset, hid type, hid memory_space, hid space, hid list, const void* memory);
EXPORT int H5Dwrite(hid dataset, hid type, hid memory_space, hid space, hid list, const void* memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dwrite)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return end(api, dataset, true, space, list, start,
               HDF5_ORIGINAL(api, Dwrite)(dataset, type, memory_space, space, list, memory));
}

int H5Dflush(hid dataset);
EXPORT int H5Dflush(hid dataset) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dflush)) return HDF5_FAILED;
    struct h5d_record* record = handle_find(&datasets, dataset);
    const int64_t start = clock_ns();
    const int result = HDF5_ORIGINAL(api, Dflush)(dataset);
    if (record && result >= 0 && guard_enter()) {
        h5d_count_flush(record, clock_span(start));
        guard_leave();
    }
    return result;
}

static int note_closed(struct h5d_record* record, int64_t start, int result) {
    if (record && result >= 0 && guard_enter()) {
        h5d_count_close(record, clock_span(start));
        guard_leave();
    }
    return result;
}

int H5Dclose(hid dataset);
EXPORT int H5Dclose(hid dataset) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dclose)) return HDF5_FAILED;
    struct h5d_record* record = handle_remove(&datasets, dataset);
    const int64_t start = clock_ns();
    return note_closed(record, start, HDF5_ORIGINAL(api, Dclose)(dataset));
}

int H5Oclose(hid object);
EXPORT int H5Oclose(hid object) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Oclose)) return HDF5_FAILED;
    struct h5d_record* record = handle_remove(&datasets, object);
    const int64_t start = clock_ns();
    return note_closed(record, start, HDF5_ORIGINAL(api, Oclose)(object));
}
