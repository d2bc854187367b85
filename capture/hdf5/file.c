/* HDF5 files. */
#include "core/export.h"
#include "core/guard.h"
#include "core/handle_table.h"
#include "core/keep_errno.h"
#include "core/process.h"
#include "hdf5/api.h"
#include "hdf5/select.h"

static struct handle_table files;

static hid note_opened(const struct hdf5_api* api, const char* path, hid list, hid file, int64_t start) {
    const struct span span = clock_span(start);
    if (file < 0 || !path || !api->counted || !process_counts() || !guard_enter()) return file;
    KEEP_ERRNO();
    struct h5f_record* record = h5f_record_of(path);
    if (record) {
        h5f_count_open(record, hdf5_file_uses_mpiio(api, list), span);
        handle_enter(&files, file, record);
    }
    guard_leave();
    return file;
}

hid H5Fcreate(const char* path, unsigned flags, hid creation, hid access);
EXPORT hid H5Fcreate(const char* path, unsigned flags, hid creation, hid access) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Fcreate)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return note_opened(api, path, access, HDF5_ORIGINAL(api, Fcreate)(path, flags, creation, access), start);
}

hid H5Fopen(const char* path, unsigned flags, hid access);
EXPORT hid H5Fopen(const char* path, unsigned flags, hid access) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Fopen)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return note_opened(api, path, access, HDF5_ORIGINAL(api, Fopen)(path, flags, access), start);
}

int H5Fflush(hid file, int scope);
EXPORT int H5Fflush(hid file, int scope) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Fflush)) return HDF5_FAILED;
    struct h5f_record* record = handle_find(&files, file);
    const int64_t start = clock_ns();
    const int result = HDF5_ORIGINAL(api, Fflush)(file, scope);
    if (record && result >= 0 && guard_enter()) {
        h5f_count_flush(record, clock_span(start));
        guard_leave();
    }
    return result;
}

int H5Fclose(hid file);
EXPORT int H5Fclose(hid file) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Fclose)) return HDF5_FAILED;
    struct h5f_record* record = handle_remove(&files, file);
    const int64_t start = clock_ns();
    const int result = HDF5_ORIGINAL(api, Fclose)(file);
    if (record && result >= 0 && guard_enter()) {
        h5f_count_close(record, clock_span(start));
        guard_leave();
    }
    return result;
}
