/* HDF5's transfers of several datasets in one call (1.14). Each dataset counts one access over the whole
   time of the call. */
#include "core/export.h"
#include "core/guard.h"
#include "core/keep_errno.h"
#include "hdf5/api.h"
#include "hdf5/dataset.h"

static int end(const struct hdf5_api* api, size_t count, const hid* dataset, bool write, const hid* space,
               hid list, int64_t start, int result) {
    if (result < 0 || !guard_enter()) return result;
    KEEP_ERRNO();
    const struct span span = clock_span(start);
    for (size_t i = 0; i < count; ++i) hdf5_note_access(api, dataset[i], write, space[i], list, span);
    guard_leave();
    return result;
}

int H5Dread_multi(size_t count, hid* dataset, hid* type, hid* memory_space, hid* space, hid list,
                  void** memory);
EXPORT int H5Dread_multi(size_t count, hid* dataset, hid* type, hid* memory_space, hid* space, hid list,
                         void** memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dread_multi)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return end(api, count, dataset, false, space, list, start,
               HDF5_ORIGINAL(api, Dread_multi)(count, dataset, type, memory_space, space, list, memory));
}

int H5Dwrite_multi(size_t count, hid* dataset, hid* type, hid* memory_space, hid* space, hid list,
                   const void** memory);
EXPORT int H5Dwrite_multi(size_t count, hid* dataset, hid* type, hid* memory_space, hid* space, hid list,
                          const void** memory) {
    const struct hdf5_api* api = HDF5_OF_CALLER();
    if (!HDF5_ORIGINAL(api, Dwrite_multi)) return HDF5_FAILED;
    const int64_t start = clock_ns();
    return end(api, count, dataset, true, space, list, start,
               HDF5_ORIGINAL(api, Dwrite_multi)(count, dataset, type, memory_space, space, list, memory));
}
