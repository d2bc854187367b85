#include "hdf5/select.h"

#include "core/records.h"

static void get_chunk(const struct hdf5_api* api, hid dataset, struct h5d_shape* shape) {
    hsize chunk[HDF5_MAX_RANK];
    const hid list = api->Dget_create_plist(dataset);
    if (list < 0) return;
    if (api->Pget_layout(list) == HDF5_CHUNKED) {
        const int rank = api->Pget_chunk(list, HDF5_MAX_RANK, chunk);
        for (int i = 0; i < rank && i < SLAB_DIMS; ++i) shape->chunk[i] = (int64_t)chunk[rank - 1 - i];
    }
    api->Pclose(list);
}

struct h5d_shape hdf5_shape(const struct hdf5_api* api, hid dataset) {
    struct h5d_shape shape = {0};
    const hid space = api->Dget_space(dataset), type = api->Dget_type(dataset);
    if (space >= 0) {
        shape.dimensions = api->Sget_simple_extent_ndims(space);
        shape.points = api->Sget_simple_extent_npoints(space);
        api->Sclose(space);
    }
    if (type >= 0) {
        shape.type_size = (int64_t)api->Tget_size(type);
        api->Tclose(type);
    }
    get_chunk(api, dataset, &shape);
    return shape;
}

/* The length and stride of a regular hyperslab. Dimension i (0 is the slowest) is stored i places before
   the last one. */
static void get_slab(const struct hdf5_api* api, hid space, int64_t slab[SLAB_WIDTH]) {
    hsize start[HDF5_MAX_RANK], stride[HDF5_MAX_RANK], count[HDF5_MAX_RANK], block[HDF5_MAX_RANK];
    const int rank = api->Sget_simple_extent_ndims(space);
    if (rank <= 0 || rank > HDF5_MAX_RANK) return;
    if (api->Sget_regular_hyperslab(space, start, stride, count, block) < 0) return;
    for (int i = 0; i < rank && i < SLAB_DIMS; ++i) {
        slab[SLAB_DIMS - i] = (int64_t)(count[i] * block[i]);
        slab[2 * SLAB_DIMS - i] = (int64_t)stride[i];
    }
}

static enum selection selection_of(const struct hdf5_api* api, hid space) {
    const int type = api->Sget_select_type(space);
    if (type == HDF5_POINTS) return SELECTED_POINTS;
    if (type != HDF5_HYPERSLABS) return SELECTED_ALL;
    return api->Sis_regular_hyperslab(space) > 0 ? SELECTED_REGULAR : SELECTED_IRREGULAR;
}

static bool is_collective(const struct hdf5_api* api, hid list) {
    int mode = 0;
    if (list == HDF5_DEFAULT || !api->Pget_dxpl_mpio) return false;
    return api->Pget_dxpl_mpio(list, &mode) >= 0 && mode == HDF5_COLLECTIVE;
}

struct h5d_access hdf5_access(const struct hdf5_api* api, const struct h5d_record* record, hid dataset,
                              bool write, hid space, hid list) {
    struct h5d_access access = {.write = write, .collective = is_collective(api, list)};
    int64_t points = record->log.counter[H5D_NPOINTS], size = record->log.counter[H5D_TYPE_SIZE];
    if (records_is_others(&record->head)) { /* which has no shape */
        const struct h5d_shape shape = hdf5_shape(api, dataset);
        points = shape.points;
        size = shape.type_size;
    }
    if (space != HDF5_ALL) {
        points = api->Sget_select_npoints(space);
        access.selection = selection_of(api, space);
        if (access.selection == SELECTED_REGULAR) get_slab(api, space, access.slab);
    }
    access.slab[0] = (points > 0 ? points : 0) * size;
    return access;
}

bool hdf5_file_uses_mpiio(const struct hdf5_api* api, hid list) {
    return list != HDF5_DEFAULT && api->FD_mpio_init && api->Pget_driver(list) == api->FD_mpio_init();
}
